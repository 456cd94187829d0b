#include "barriers/parts/symmetric_memory/mpi_window.hpp"

#include <algorithm>
#include <cstdint>
#include <exception>

#include "src/base/mpi_native.hpp"

namespace mgsync {

namespace {

class mpi_window final : public symmetric_memory {
 public:
  mpi_window(const topology::group& group, std::size_t bytes, const session& where)
      : symmetric_memory(bytes, group.members.size()), host_ranks_(where.ranks().split_by_host()) {
    int mine = 0;
    for (const auto& m : group.members) mine += m.rank == where.rank() ? 1 : 0;
    void* base = nullptr;
    check_mpi(MPI_Win_allocate_shared(static_cast<MPI_Aint>(mapped_bytes(bytes)) * mine + alignment, 1,
                                      MPI_INFO_NULL, host_ranks_.native_handle()->comm, &base, &window_),
              "allocating a shared window");
    map(group, where);
  }

  ~mpi_window() override {
    // Collective: when one rank unwinds from an error the others are elsewhere, and the job is about to end.
    if (std::uncaught_exceptions() > 0) return;
    const watched_call bounded(*host_ranks_.native_handle(), "freeing a shared window (MPI_Win_free)");
    MPI_Win_free(&window_);
  }

  std::string_view provider() const override { return "mpi-window"; }

 private:
  static constexpr std::size_t alignment = 128;  // a line of its own for every flag

  void map(const topology::group& group, const session& where) {
    // Ranks have not all taken part in the same allocations: the group's first rank counts for all.
    const auto allocation = where.ranks().broadcast_value(next_allocation(), 0, "agreeing on an allocation");
    const auto own = std::ranges::find(group.members, where.rank(),
                                       &topology::member::rank);  // MPI may see one host in two
    const auto job_ranks = host_ranks_.all_gather_values(where.rank(), "gathering the ranks of this host");
    for (int r = 0; r < host_ranks_.size(); ++r) {
      MPI_Aint size = 0;
      int unit = 0;
      void* base = nullptr;
      check_mpi(MPI_Win_shared_query(window_, r, &size, &unit, &base),
                "asking for a part of the shared window");
      // Mappings are page aligned in every process, so all of them round up to the same place.
      const auto misplaced = reinterpret_cast<std::uintptr_t>(base) % alignment;
      auto* next = static_cast<std::byte*>(base) + (misplaced == 0 ? 0 : alignment - misplaced);
      const int job_rank = job_ranks[static_cast<std::size_t>(r)];
      for (std::size_t m = 0; m < group.members.size(); ++m) {
        if (group.members[m].rank != job_rank) continue;
        if (own != group.members.end() && group.members[m].host == own->host)
          parts_[m] = next + shift_of_part(allocation, m);
        next += mapped_bytes(bytes_);
      }
    }
  }

  communicator host_ranks_;
  MPI_Win window_ = MPI_WIN_NULL;
};

}  // namespace

allocation allocate_mpi_window(const topology::group& group, std::size_t bytes, const session& where) {
  return {std::make_unique<mpi_window>(group, bytes, where), {}};
}

}  // namespace mgsync
