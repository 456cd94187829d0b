// Combines what the ranks of a job saw of a run of sums.
#pragma once

#include "src/base/communicator.hpp"
#include "src/harness/subject.hpp"

namespace mgsync::reduction {

// Combines the runs of all ranks: the longest durations and calls, what rank 0 says of the sums, and the
// worst ending with its reason. Returns the same on every rank. Collective over the ranks; with a single rank
// returns `mine`.
seen put_sums_together(const communicator& ranks, seen mine);

// MPI_Barrier over the ranks. Builds with MPI only.
void meet_by_mpi(const communicator& ranks);

}  // namespace mgsync::reduction
