// The barrier of the threads of one block: the hardware's own, with and without a name, and barriers in
// shared memory.
#include "barriers/backend.hpp"
#include "barriers/block/gpu_block.hpp"

namespace mgsync {

namespace {

constexpr std::string_view variants[] = {"syncthreads", "named", "mbarrier", "cuda-barrier",
                                         "cooperative-groups"};
constexpr user_call calls[] = {
    {"syncthreads", "NVIDIA", "__syncthreads()"},
    {"named", "NVIDIA", "barrier.sync with a name, in PTX"},
    {"mbarrier", "NVIDIA", "mbarrier.arrive and mbarrier.test_wait, in PTX"},
    {"cuda-barrier", "NVIDIA", "cuda::barrier<cuda::thread_scope_block>::arrive_and_wait()",
     "#include <cuda/barrier>"},
    {"cooperative-groups", "NVIDIA", "cooperative_groups::this_thread_block().sync()",
     "#include <cooperative_groups.h>"}};

support can_run(const topology::machine& machine, const topology::group& group, const configuration& asked) {
  if (group.device != topology::device::gpu) return support::never("for GPU members");
  if (group.members.size() != 1)
    return support::never("a block is a part of one GPU; multigrid spans several");
  const unsigned threads = asked.threads_per_block.value_or(32);
  if (asked.blocks.value_or(0) != 1) return support::never("one block: --shape b1x256");
  if (threads % 32 != 0 || threads == 0 || threads > 1024)
    return support::never("a block of whole warps: 32 to 1024 threads");
  if (asked.variant == "mbarrier" || asked.variant == "cuda-barrier")
    for (const auto& gpu : machine.gpus)
      if (gpu.compute_major && *gpu.compute_major < 8)
        return support::no("barriers in shared memory need compute capability 8.0");
  return support::yes();
}

creation create(const topology::group& group, const configuration& wanted, session& where) {
  if constexpr (MGSYNC_WITH_CUDA) return create_gpu_block(group, wanted, where);
  else return creation::none(without_cuda);
}

}  // namespace

extern const backend block_backend;
const backend block_backend{
    "block",  "the threads of one block: __syncthreads, named barriers, barriers in shared memory",
    variants, level::block,
    false,    can_run,
    create,   false,
    calls};

}  // namespace mgsync
