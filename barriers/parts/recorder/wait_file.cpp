#include "barriers/parts/recorder/wait_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

#include "src/base/errors.hpp"
#include "src/base/filled.hpp"

namespace mgsync {

namespace {

constexpr std::string_view beginning = "mgsync-who-";

std::size_t bytes_of_gpu(const wait_file_head& head) {
  return sizeof(wait_gpu) + head.gpus * sizeof(late_member) + head.blocks * sizeof(wait_note);
}

// A user's files whose owners are gone make room for new ones.
void remove_left_behind(const std::string& folder) {
  for (const auto& name : wait_files(folder)) {
    const unique_descriptor file(open(name.c_str(), O_RDONLY | O_CLOEXEC));
    struct stat about {};
    if (file.get() < 0 || fstat(file.get(), &about) != 0 || about.st_uid != geteuid()) continue;
    if (flock(file.get(), LOCK_EX | LOCK_NB) == 0) unlink(name.c_str());
  }
}

}  // namespace

std::string wait_folder() {
  const char* const wanted = std::getenv("MGSYNC_WHO");
  return wanted != nullptr && *wanted != '\0' ? wanted : "/dev/shm";
}

std::vector<std::string> wait_files(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code failed;
  for (std::filesystem::directory_iterator at(folder, failed), end; !failed && at != end;
       at.increment(failed))
    if (at->path().filename().string().rfind(beginning, 0) == 0) names.push_back(at->path().string());
  std::sort(names.begin(), names.end());
  return names;
}

wait_file::wait_file(wait_file_head head, const std::vector<wait_gpu>& own) {
  static std::atomic<unsigned> made{0};
  const std::string folder = wait_folder();
  remove_left_behind(folder);
  name_ = filled("{}/{}{}-{}-{}", folder, beginning, static_cast<unsigned>(geteuid()),
                 static_cast<int>(getpid()), made++);
  std::memcpy(head.form, wait_file_head::this_form, sizeof head.form);
  gethostname(head.node, sizeof head.node - 1);
  head.pid = static_cast<std::int32_t>(getpid());
  head.own = static_cast<std::uint32_t>(own.size());
  bytes_ = sizeof head + head.own * bytes_of_gpu(head);
  // Under another name until it is whole and locked: who looks meanwhile must not take it for left behind.
  const std::string hidden = filled("{}/.{}", folder, std::string_view(name_).substr(folder.size() + 1));
  file_ = unique_descriptor(
      check_errno(open(hidden.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644), "making " + hidden));
  check_errno(flock(file_.get(), LOCK_SH), "locking " + hidden);
  check_errno(ftruncate(file_.get(), static_cast<off_t>(bytes_)), "making room in " + hidden);
  map(true);
  std::memcpy(begin_, &head, sizeof head);
  for (unsigned l = 0; l < head.own; ++l)
    std::memcpy(begin_ + sizeof head + l * bytes_of_gpu(head), &own[l], sizeof own[l]);
  check_errno(rename(hidden.c_str(), name_.c_str()), "naming " + name_);
}

wait_file::wait_file(const std::string& name) : file_(open(name.c_str(), O_RDONLY | O_CLOEXEC)) {
  if (!file_) throw usage_error(filled("{}: there is no such file of waits, or it cannot be read", name));
  struct stat about {};
  check_errno(fstat(file_.get(), &about), "asking about " + name);
  bytes_ = static_cast<std::size_t>(about.st_size);
  if (!S_ISREG(about.st_mode))
    throw usage_error(
        filled("{} is no file; accepted: files of waits ({}*), or without any those in {}, the folder that "
               "MGSYNC_WHO names",
               name, beginning, wait_folder()));
  const auto refuse = [&] {
    throw usage_error(filled("{} is no file of waits of this version of mgsync", name));
  };
  if (bytes_ < sizeof(wait_file_head)) refuse();
  map(false);
  const auto& h = head();
  if (std::memcmp(h.form, wait_file_head::this_form, sizeof h.form) != 0 || h.gpus > 4096 ||
      h.blocks > (1u << 20) || h.own > h.gpus || bytes_ != sizeof h + h.own * bytes_of_gpu(h))
    refuse();
  owner_ = flock(file_.get(), LOCK_EX | LOCK_NB) != 0;
  if (!owner_) flock(file_.get(), LOCK_UN);
}

void wait_file::map(bool to_write) {
  void* const at =
      mmap(nullptr, bytes_, to_write ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED, file_.get(), 0);
  if (at == MAP_FAILED) throw api_error("system", std::strerror(errno), "mapping a file of waits");
  begin_ = static_cast<std::byte*>(at);
}

wait_file::wait_file(wait_file&& other) noexcept
    : file_(std::move(other.file_)),
      name_(std::exchange(other.name_, {})),
      begin_(std::exchange(other.begin_, nullptr)),
      bytes_(other.bytes_),
      keeps_(other.keeps_),
      owner_(other.owner_) {}

wait_file::~wait_file() {
  if (begin_ == nullptr) return;
  if (!name_.empty() && !keeps_ && head().pid == getpid()) unlink(name_.c_str());
  if (munmap(begin_, bytes_) != 0) std::perror("mgsync: letting go of a file of waits");
}

const wait_gpu& wait_file::gpu(unsigned own) const {
  return *reinterpret_cast<const wait_gpu*>(begin_ + sizeof(wait_file_head) + own * bytes_of_gpu(head()));
}
late_member* wait_file::late(unsigned own) const {
  return reinterpret_cast<late_member*>(begin_ + sizeof(wait_file_head) + own * bytes_of_gpu(head()) +
                                        sizeof(wait_gpu));
}
wait_note* wait_file::notes(unsigned own) const {
  return reinterpret_cast<wait_note*>(late(own) + head().gpus);
}

}  // namespace mgsync
