// NCCL's reduction of one value per GPU of a group.
#pragma once

#include <cuda_runtime_api.h>

#include "src/base/session.hpp"
#include "src/studies/reduction/numbers.hpp"
#include "topology/group.hpp"

namespace mgsync::reduction {

bool has_nccl();
// Creates the communicators, which live as long as the process. To be called before nccl_reduce(), from one
// thread. Collective over the ranks of the session.
void start_nccl(const topology::group&, const session&);
// Enqueues the sum of the value at `from` on every GPU into `to` on the group's first GPU. Each GPU's own
// thread calls it; `local` is the GPU's number within this process.
void nccl_reduce(unsigned local, value_type, const void* from, void* to, cudaStream_t);

}  // namespace mgsync::reduction
