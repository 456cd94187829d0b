// Sums by ranks that share memory (paper 000, section VII, between processes): each adds up its part, a
// barrier follows, and rank 0 adds up the parts. Every sum is compared with the one that must come out.
#pragma once

#include <string_view>
#include <utility>

#include "src/base/session.hpp"
#include "src/studies/reduction/host_sums.hpp"
#include "topology/group.hpp"

namespace mgsync::reduction {

enum class rank_way {
  read,         // every rank reads its part, and nobody puts the parts together: the bound
  serial,       // rank 0 alone
  mpi_barrier,  // MPI_Barrier, then rank 0 adds up the parts in shared memory
  ours,         // the same with the barrier of this project
  last,         // no barrier: who comes last, by a counter in shared memory, adds up
  mpi_reduce,   // MPI_Reduce of the parts
};
inline constexpr std::pair<rank_way, std::string_view> rank_ways[] = {
    {rank_way::read, "read"}, {rank_way::serial, "serial"},  {rank_way::mpi_barrier, "mpi-barrier"},
    {rank_way::ours, "ours"}, {rank_way::last, "last-done"}, {rank_way::mpi_reduce, "mpi-reduce"}};

// `sum.threads` and `sum.cpus` are the group's. Yields "duration_us", the longest of the ranks' own, "bytes"
// and the check that make_sum_checker() takes. Collective over the session's ranks. At most sums_in_a_run()
// sums a run.
subject_creation make_rank_sum(const host_sum& sum, rank_way, const topology::group&, const session&);
constexpr std::size_t sums_in_a_run = 256;

}  // namespace mgsync::reduction
