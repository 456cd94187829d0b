#include "barriers/user/guarded_part.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "src/base/errors.hpp"

namespace mgsync::user {

namespace {

constexpr unsigned char untouched = 0xa5;

std::size_t up_to(std::size_t multiple, std::size_t bytes) {
  return (bytes + multiple - 1) / multiple * multiple;
}
std::size_t page_bytes() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

}  // namespace

guarded_part::guarded_part(std::size_t bytes) : bytes_(bytes) {
  const auto page = page_bytes(), open = up_to(page, std::max<std::size_t>(bytes, 1));
  all_ = open + 2 * page;
  void* const mapped = mmap(nullptr, all_, PROT_NONE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) throw api_error("mmap", std::strerror(errno), "making the memory of a member");
  mapped_ = static_cast<unsigned char*>(mapped);
  check_errno(mprotect(mapped_ + page, open, PROT_READ | PROT_WRITE), "opening the memory of a member");
  std::memset(mapped_ + page, untouched, open);
  part_ = mapped_ + page + open - up_to(128, std::max<std::size_t>(bytes, 1));
}

guarded_part::guarded_part(guarded_part&& other) noexcept
    : mapped_(std::exchange(other.mapped_, nullptr)),
      all_(other.all_),
      part_(other.part_),
      bytes_(other.bytes_) {}

guarded_part::~guarded_part() {
  if (mapped_ != nullptr) munmap(mapped_, all_);
}

bool guarded_part::guards(const void* address) const {
  const auto* at = static_cast<const unsigned char*>(address);
  return at >= mapped_ && at < mapped_ + all_ && (at < part_ || at >= part_ + bytes_);
}

bool guarded_part::was_overrun() const {
  const auto page = page_bytes();
  const auto whole = [](unsigned char byte) { return byte == untouched; };
  return !std::all_of(mapped_ + page, part_, whole) ||
         !std::all_of(part_ + bytes_, mapped_ + all_ - page, whole);
}

}  // namespace mgsync::user
