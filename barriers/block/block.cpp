// The barrier of the threads of one block: the hardware's own, with and without a name, and barriers in
// shared memory.
#include "barriers/backend.hpp"
#include "barriers/block/gpu_block.hpp"

namespace mgsync {

namespace {

constexpr facts of_the_hardware{.origin = fact::origin::vendor,
                                .driver = fact::driver::device,
                                .scope = fact::scope::block,
                                .extent = fact::extent::everything,
                                .order = fact::order::both};

support can_run_in_shared_memory(const topology::machine& machine, const topology::group&,
                                 const configuration&) {
  for (const auto& gpu : machine.gpus)
    if (gpu.compute_major && *gpu.compute_major < 8)
      return support::no("barriers in shared memory need compute capability 8.0");
  return support::yes();
}

constexpr barrier_variant variants[] = {
    {.name = "syncthreads",
     .summary = "the hardware's barrier without a name",
     .facts = of_the_hardware,
     .make = makers::of_gpus(built<MGSYNC_WITH_CUDA, gpu_block::syncthreads>),
     .call = {.maker = "NVIDIA", .call = "__syncthreads()"}},
    {.name = "named",
     .summary = "one of the sixteen that have a name, for as many threads as are said at run time",
     .facts = of_the_hardware,
     .make = makers::of_gpus(built<MGSYNC_WITH_CUDA, gpu_block::named>),
     .call = {.maker = "NVIDIA", .call = "barrier.sync with a name, in PTX"}},
    {.name = "mbarrier",
     .summary = "a barrier in shared memory: every thread arrives, then asks until the phase is over",
     .facts = of_the_hardware,
     .make = makers::of_gpus(built<MGSYNC_WITH_CUDA, gpu_block::mbarrier>),
     .call = {.maker = "NVIDIA", .call = "mbarrier.arrive and mbarrier.test_wait, in PTX"},
     .can_run = can_run_in_shared_memory},
    {.name = "cuda-barrier",
     .summary = "libcu++'s barrier in shared memory",
     .facts = of_the_hardware,
     .make = makers::of_gpus(built<MGSYNC_WITH_CUDA, gpu_block::cuda_barrier>),
     .call = {.maker = "NVIDIA",
              .call = "cuda::barrier<cuda::thread_scope_block>::arrive_and_wait()",
              .needs = "#include <cuda/barrier>"},
     .can_run = can_run_in_shared_memory},
    {.name = "cooperative-groups",
     .summary = "the block's group of cooperative groups",
     .facts = of_the_hardware,
     .make = makers::of_gpus(built<MGSYNC_WITH_CUDA, gpu_block::cooperative_groups>),
     .call = {.maker = "NVIDIA",
              .call = "cooperative_groups::this_thread_block().sync()",
              .needs = "#include <cooperative_groups.h>"}}};

support can_run(const topology::machine&, const topology::group& group, const configuration& asked) {
  if (group.members.size() != 1)
    return support::never("a block is a part of one GPU; multigrid spans several");
  const unsigned threads = asked.threads_per_block.value_or(32);
  if (asked.blocks.value_or(0) != 1) return support::never("one block: --shape b1x256");
  if (threads % 32 != 0 || threads == 0 || threads > 1024)
    return support::never("a block of whole warps: 32 to 1024 threads");
  return support::yes();
}

}  // namespace

extern const backend block_backend;
const backend block_backend{
    .name = "block",
    .summary = "the threads of one block: __syncthreads, named barriers, barriers in shared memory",
    .variants = variants,
    .can_run = can_run};

}  // namespace mgsync
