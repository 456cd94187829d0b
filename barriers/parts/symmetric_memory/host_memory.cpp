#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <system_error>

#include <fmt/format.h>

#include "barriers/parts/symmetric_memory/mpi_window.hpp"
#include "barriers/parts/symmetric_memory/symmetric_memory.hpp"
#include "src/base/errors.hpp"

namespace mgsync {

namespace {

// All members in this process.
class thread_memory final : public symmetric_memory {
 public:
  thread_memory(std::size_t bytes, std::size_t members, std::size_t allocation)
      : symmetric_memory(bytes, members), all_(mapped_bytes(bytes) * members) {
    base_ = mmap(nullptr, all_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base_ == MAP_FAILED)
      throw api_error("system", std::generic_category().message(errno),
                      fmt::format("mapping {} bytes", all_));
    for (std::size_t m = 0; m < members; ++m)
      parts_[m] = static_cast<std::byte*>(base_) + m * mapped_bytes(bytes) + shift_of_part(allocation, m);
  }
  ~thread_memory() override {
    if (munmap(base_, all_) != 0) fmt::print(stderr, "mgsync: unmapping {} bytes failed\n", all_);
  }
  std::string_view provider() const override { return "threads"; }

 private:
  std::size_t all_;
  void* base_ = nullptr;
};

constexpr std::size_t page_bytes = 4096;  // of the shift; real pages may be larger

}  // namespace

std::size_t mapped_bytes(std::size_t bytes) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return (bytes + page_bytes + page - 1) / page * page;
}

std::size_t shift_of_part(std::size_t allocation, std::size_t member) {
  constexpr std::size_t line = 128;
  // Weyl's sequence: the shifts of successive allocations and of neighbouring members are spread evenly.
  const std::uint64_t mixed = (allocation * 97 + member + 1) * 0x9e3779b97f4a7c15u;
  return static_cast<std::size_t>((mixed >> 32) % (page_bytes / line)) * line;
}

std::size_t next_allocation() {
  static std::atomic<std::size_t> count = 0;
  return count++;
}

allocation allocate_host_memory(const topology::group& group, std::size_t bytes, reach which,
                                const session& where) {
  if (const auto hosts = topology::hosts_of(group).size(); which == reach::group && hosts > 1)
    return {nullptr, fmt::format("needs memory shared by all members, and they are on {} hosts", hosts)};
  if (where.ranks().size() > 1) {
    if constexpr (MGSYNC_WITH_MPI) return allocate_mpi_window(group, bytes, where);
    else return {nullptr, "members in several ranks need a build with MPI"};
  }
  return {std::make_unique<thread_memory>(bytes, group.members.size(), next_allocation()), {}};
}

}  // namespace mgsync
