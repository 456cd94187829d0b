#include "src/results/files/store_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <fstream>
#include <string>
#include <system_error>

#include <fmt/format.h>

#include "src/base/errors.hpp"
#include "src/base/hosts.hpp"
#include "src/base/unique_descriptor.hpp"

namespace mgsync {

namespace {

struct owner {
  std::string host, boot;
  int process = 0;
  bool operator==(const owner&) const = default;
};

owner this_process() {
  char host[256] = {};
  gethostname(host, sizeof host - 1);
  const auto boot = boot_id();
  return {host, boot.empty() ? "unknown" : boot, static_cast<int>(getpid())};
}

owner owner_in(const std::filesystem::path& file) {
  owner found;
  std::ifstream(file) >> found.host >> found.boot >> found.process;
  return found;
}

bool gone(const owner& one) {
  const auto here = this_process();
  return one.process > 0 && one.host == here.host && one.boot == here.boot && kill(one.process, 0) != 0 &&
         errno == ESRCH;
}

// False: there is a lock file already.
bool create(const std::filesystem::path& file) {
  const unique_descriptor made(::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (!made && errno == EEXIST) return false;
  const auto mine = this_process();
  const auto text = fmt::format("{} {} {}\n", mine.host, mine.boot, mine.process);
  if (!made || ::write(made.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()))
    throw usage_error(
        fmt::format("--store: cannot make the lock file '{}': {}; name a file in another folder",
                    file.string(), std::generic_category().message(errno)));
  return true;
}

// Renames a stale lock file before removing it, so that of two processes that find it only one does. A new
// lock file that was created in between is put back.
void remove_if_left_by(const owner& left, const std::filesystem::path& file) {
  const auto aside = fmt::format("{}.{}", file.string(), getpid());
  if (::rename(file.c_str(), aside.c_str()) != 0) return;
  if (owner_in(aside) == left || ::link(aside.c_str(), file.c_str()) == 0) ::unlink(aside.c_str());
}

}  // namespace

store_lock::store_lock(int descriptor, const std::filesystem::path& store) {
  if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0) return;
  if (errno == EWOULDBLOCK)
    throw usage_error(fmt::format(
        "--store: another process is writing to '{}': wait for it, or name another file", store.string()));
  if (errno != ENOSYS && errno != EOPNOTSUPP && errno != ENOLCK && errno != EINVAL)
    throw usage_error(fmt::format("--store: cannot lock '{}': {}; name a file on another file system",
                                  store.string(), std::generic_category().message(errno)));
  const std::filesystem::path file = store.string() + ".lock";
  if (!create(file)) {
    const auto holder = owner_in(file);
    if (gone(holder)) remove_if_left_by(holder, file);
    if (!gone(holder) || !create(file))
      throw usage_error(fmt::format(
          "--store: process {} on {} is writing to '{}': wait for it, or name another file; if it is "
          "gone, remove '{}'",
          holder.process, holder.host, store.string(), file.string()));
  }
  file_ = file;
}

store_lock::~store_lock() {
  if (!file_.empty()) ::unlink(file_.c_str());
}

}  // namespace mgsync
