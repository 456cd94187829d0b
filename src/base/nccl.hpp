// NCCL's communicators over the GPUs of one or several processes, and the check of its calls.
#pragma once

#include <nccl.h>

#include <compare>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/source_location.hpp"

namespace mgsync::nccl {

// Throws api_error naming NCCL's own error string unless `status` is ncclSuccess.
void check(ncclResult_t status, std::string_view action, source_location where = source_location::current());

// The version that runs, as 22809 for 2.28.9.
int version();

// "2.28.9"
std::string version_text(int version);

// A member's GPU, as its CUDA ordinal in its process.
struct process_gpu {
  int process = 0;
  int ordinal = 0;
  auto operator<=>(const process_gpu&) const = default;
};

// The communicators of the calling process's members, in their order; a member's rank is its index. They are
// kept until the process ends and reused for the same members, because creating them takes longer than
// measuring with them. Collective over the members' processes; `share` gives everybody the first member's
// process's bytes. Called from one thread.
const std::vector<ncclComm_t>& communicators_of(const std::vector<process_gpu>& members, int process,
                                                const std::function<std::string(std::string)>& share);

}  // namespace mgsync::nccl
