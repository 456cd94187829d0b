// The end of a kernel as a barrier: the next kernel in a stream starts when the one before has finished;
// between GPUs events, memory operations, graph edges or one driver call for all carry that over.
#include "barriers/backend.hpp"
#include "barriers/kernel_boundary/gpu_kernel_boundary.hpp"

namespace mgsync {

namespace {

constexpr std::string_view variants[] = {"traditional", "traditional-threads", "cooperative",  "multi-device",
                                         "graph",       "graph-join",          "stream-memops"};
constexpr std::string_view events = "between GPUs cudaStreamWaitEvent() for an event of every other";
constexpr user_call calls[] = {
    {"traditional", "NVIDIA", "the next launch in the stream", events},
    {"traditional-threads", "NVIDIA", "the next launch in the stream, by a host thread for each GPU", events},
    {"cooperative", "NVIDIA", "cudaLaunchCooperativeKernel()", events},
    {"multi-device", "NVIDIA", "cuLaunchCooperativeKernelMultiDevice()",
     "a driver that still has it: NVIDIA calls it deprecated"},
    {"graph", "NVIDIA", "cudaGraphLaunch() of a graph whose kernels depend on all those of the step before"},
    {"graph-join", "NVIDIA", "cudaGraphLaunch() of a graph whose steps join in an empty kernel"},
    {"stream-memops", "NVIDIA", "cuStreamBatchMemOp() behind every kernel",
     "it writes to every other GPU and waits for them, a host thread for each GPU"}};

support can_run(const topology::machine&, const topology::group& group, const configuration& wanted) {
  if (group.device != topology::device::gpu) return support::never("for GPU members");
  if (!wanted.load.idle()) return support::never("load is made beside in-kernel barriers only");
  for (const auto& m : group.members)
    if (m.rank != group.members.front().rank)
      return support::never("streams of one process, and these GPUs belong to several ranks");
  for (const std::string_view between_gpus : {"traditional-threads", "graph-join", "stream-memops"})
    if (group.members.size() == 1 && wanted.variant == between_gpus)
      return support::never("one GPU has no other to wait for: the order of its stream is enough");
  return support::yes();
}

creation create(const topology::group& group, const configuration& wanted, session& where) {
  if constexpr (MGSYNC_WITH_CUDA) return create_gpu_kernel_boundary(group, wanted, where);
  else return creation::none(without_cuda);
}

}  // namespace

extern const backend kernel_boundary_backend;
const backend kernel_boundary_backend{"kernel-boundary",
                                      "the end of one kernel and the start of the next",
                                      variants,
                                      level::group,
                                      false,
                                      can_run,
                                      create,
                                      false,
                                      calls,
                                      true};

}  // namespace mgsync
