// NCCL's reduction of one value of every GPU of a group.
#pragma once

#include <cuda_runtime_api.h>

#include "src/base/session.hpp"
#include "src/studies/reduction/numbers.hpp"
#include "topology/group.hpp"

namespace mgsync::reduction {

bool has_nccl();
// Before nccl_reduce(), from one thread. The communicators live as long as the process. Collective over the
// session's ranks.
void start_nccl(const topology::group&, const session&);
// By each GPU's own thread, of this process's GPU number `local`: the sum of all GPUs' values at `from` lies
// at the first one's `to`.
void nccl_reduce(unsigned local, value_type, const void* from, void* to, cudaStream_t);

}  // namespace mgsync::reduction
