// The end of a kernel as a barrier: the next kernel in a stream starts when the one before has finished;
// between GPUs events, memory operations, graph edges or one driver call for all carry that over.
#include "barriers/backend.hpp"
#include "barriers/kernel_boundary/gpu_kernel_boundary.hpp"

namespace mgsync {

namespace {

constexpr facts of_the_driver{.origin = fact::origin::vendor,
                              .driver = fact::driver::kernel_boundary,
                              .scope = fact::scope::node,
                              .extent = fact::extent::everything,
                              .order = fact::order::both};
constexpr std::string_view events = "between GPUs cudaStreamWaitEvent() for an event of every other";

support can_run_on_several(const topology::machine&, const topology::group& group, const configuration&) {
  return group.members.size() > 1
             ? support::yes()
             : support::never("one GPU has no other to wait for: the order of its stream is enough");
}

constexpr barrier_variant variants[] = {
    {.name = "traditional",
     .summary = "launches and events, by one host thread",
     .facts = of_the_driver,
     .make = makers::of_gpus(built<MGSYNC_WITH_CUDA, gpu_kernel_boundary::traditional>),
     .call = {.maker = "NVIDIA", .call = "the next launch in the stream", .needs = events}},
    {.name = "traditional-threads",
     .summary = "launches and events, by a host thread for each GPU",
     .facts = of_the_driver,
     .make = makers::of_gpus(built<MGSYNC_WITH_CUDA, gpu_kernel_boundary::traditional_threads>),
     .call = {.maker = "NVIDIA",
              .call = "the next launch in the stream, by a host thread for each GPU",
              .needs = events},
     .can_run = can_run_on_several},
    {.name = "cooperative",
     .summary = "cooperative launches and events, by one host thread",
     .facts = of_the_driver,
     .make = makers::of_gpus(built<MGSYNC_WITH_CUDA, gpu_kernel_boundary::cooperative>),
     .call = {.maker = "NVIDIA", .call = "cudaLaunchCooperativeKernel()", .needs = events}},
    {.name = "multi-device",
     .summary = "one driver call for all GPUs",
     .facts = of_the_driver,
     .make = makers::of_gpus(built<MGSYNC_WITH_CUDA, gpu_kernel_boundary::multi_device>),
     .call = {.maker = "NVIDIA",
              .call = "cuLaunchCooperativeKernelMultiDevice()",
              .needs = "a driver that still has it: NVIDIA calls it deprecated"}},
    {.name = "graph",
     .summary = "a graph whose kernels depend on all those of the round before",
     .facts = of_the_driver,
     .make = makers::of_gpus(built<MGSYNC_WITH_CUDA, gpu_kernel_boundary::graph>),
     .call = {.maker = "NVIDIA",
              .call = "cudaGraphLaunch() of a graph whose kernels depend on all those of the step before"}},
    {.name = "graph-join",
     .summary = "a graph whose rounds join in a null kernel",
     .facts = of_the_driver,
     .make = makers::of_gpus(built<MGSYNC_WITH_CUDA, gpu_kernel_boundary::graph_join>),
     .call = {.maker = "NVIDIA", .call = "cudaGraphLaunch() of a graph whose steps join in an empty kernel"},
     .can_run = can_run_on_several},
    {.name = "stream-memops",
     .summary = "operations of the streams on flags in GPU memory, behind every kernel",
     .facts = of_the_driver,
     .make = makers::of_gpus(built<MGSYNC_WITH_CUDA, gpu_kernel_boundary::stream_memops>),
     .call = {.maker = "NVIDIA",
              .call = "cuStreamBatchMemOp() behind every kernel",
              .needs = "it writes to every other GPU and waits for them, a host thread for each GPU"},
     .can_run = can_run_on_several}};

support can_run(const topology::machine&, const topology::group& group, const configuration& wanted) {
  if (!wanted.load.idle()) return support::never("load is made beside in-kernel barriers only");
  for (const auto& m : group.members)
    if (m.rank != group.members.front().rank)
      return support::never("streams of one process, and these GPUs belong to several ranks");
  return support::yes();
}

}  // namespace

extern const backend kernel_boundary_backend;
const backend kernel_boundary_backend{.name = "kernel-boundary",
                                      .summary = "the end of one kernel and the start of the next",
                                      .variants = variants,
                                      .can_run = can_run};

}  // namespace mgsync
