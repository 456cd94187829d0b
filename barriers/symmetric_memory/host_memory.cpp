#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <set>
#include <system_error>

#include <fmt/format.h>

#include "barriers/symmetric_memory/mpi_window.hpp"
#include "barriers/symmetric_memory/symmetric_memory.hpp"
#include "src/base/errors.hpp"

namespace mgsync {

namespace {

// All members in this process. Mapped anew each time, not taken from malloc's pool.
class thread_memory final : public symmetric_memory {
 public:
  thread_memory(std::size_t bytes, std::size_t members) : symmetric_memory(bytes, members), all_(bytes * members) {
    void* base = mmap(nullptr, all_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED)
      throw api_error("system", std::generic_category().message(errno), fmt::format("mapping {} bytes", all_));
    for (std::size_t m = 0; m < members; ++m) parts_[m] = static_cast<std::byte*>(base) + m * bytes;
  }
  ~thread_memory() override {
    if (munmap(parts_[0], all_) != 0) fmt::print(stderr, "mgsync: unmapping {} bytes failed\n", all_);
  }
  std::string_view provider() const override { return "threads"; }

 private:
  std::size_t all_;
};

}  // namespace

std::size_t whole_pages(std::size_t bytes) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return (bytes + page - 1) / page * page;
}

allocation allocate_host_memory(const topology::group& group, std::size_t bytes, reach which, const session& where) {
  std::set<std::string> hosts;
  for (const auto& m : group.members) hosts.insert(m.host);
  if (which == reach::group && hosts.size() > 1)
    return {nullptr, fmt::format("needs memory shared by all members, and they are on {} hosts", hosts.size())};
  if (where.ranks().size() > 1) return allocate_mpi_window(group, whole_pages(bytes), where);
  return {std::make_unique<thread_memory>(whole_pages(bytes), group.members.size()), {}};
}

}  // namespace mgsync
