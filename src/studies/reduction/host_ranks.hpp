// Sums by ranks that share memory (paper 000, section VII, between processes): each adds up its share, a
// barrier follows, and rank 0 adds up the partial sums. Every sum is compared with the exact one.
#pragma once

#include <string_view>
#include <utility>

#include "src/base/session.hpp"
#include "src/studies/reduction/host_sums.hpp"
#include "topology/group.hpp"

namespace mgsync::reduction {

enum class rank_way {
  read,         // every rank reads its share, nothing is combined: the lower bound
  serial,       // rank 0 alone
  mpi_barrier,  // MPI_Barrier, then rank 0 adds up the parts in shared memory
  ours,         // the same with the barrier of this project
  last,         // no barrier: the last rank to arrive at a shared counter adds up
  mpi_reduce,   // MPI_Reduce of the partial sums
};
inline constexpr std::pair<rank_way, std::string_view> rank_ways[] = {
    {rank_way::read, "read"}, {rank_way::serial, "serial"},  {rank_way::mpi_barrier, "mpi-barrier"},
    {rank_way::ours, "ours"}, {rank_way::last, "last-done"}, {rank_way::mpi_reduce, "mpi-reduce"}};

// `sum.threads` and `sum.cpus` are those of the group. A run, of at most sums_in_a_run sums, yields
// "duration_us", the longest of any rank, "bytes" and the counts that make_sum_checker() takes. Collective
// over the ranks of the session.
subject_creation make_rank_sum(const host_sum& sum, rank_way, const topology::group&, const session&);
constexpr std::size_t sums_in_a_run = 256;

}  // namespace mgsync::reduction
