// What the ranks of a job saw of a run of sums, put together.
#pragma once

#include "src/base/communicator.hpp"
#include "src/harness/subject.hpp"

namespace mgsync::reduction {

// The longest durations and calls of all ranks, what rank 0 says of the sums, and the worst ending with its
// reason. The same on every rank. Collective over them; alone: what was seen.
seen put_sums_together(const communicator& ranks, seen mine);

// MPI_Barrier. Collective; of builds with MPI.
void meet_by_mpi(const communicator& ranks);

}  // namespace mgsync::reduction
