// Communicators of NCCL over the GPUs of this process, and the check of its calls.
#pragma once

#include <nccl.h>

#include <string>
#include <string_view>
#include <vector>

#include "src/base/source_location.hpp"

namespace mgsync::nccl {

// Throws api_error naming NCCL's own error string unless `status` is ncclSuccess.
void check(ncclResult_t status, std::string_view action, source_location where = source_location::current());

// The version that runs, as 22809 for 2.28.9.
int version();

// One communicator per GPU, in the order of `ordinals`. They live as long as the process and are the same for the same
// GPUs: starting them takes longer than measuring with them. Called from one thread.
const std::vector<ncclComm_t>& communicators_of(const std::vector<int>& ordinals);

}  // namespace mgsync::nccl
