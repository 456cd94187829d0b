// NCCL's all-reduce of one float as a barrier: no rank's ends before every rank's has begun. What the kernel
// in front of it stored into another GPU's memory it does not order: that kernel ends with a system fence.
#include "barriers/nccl/all_reduce.hpp"

namespace mgsync {

namespace {

constexpr const char* without_nccl = "this build has no NCCL";
// After a kernel that stored into another GPU's memory, what follows the all-reduce may still read the old
// values.
constexpr facts of_nccl{.origin = fact::origin::nccl,
                        .driver = fact::driver::kernel_boundary,
                        .scope = fact::scope::nodes,
                        .extent = fact::extent::everything,
                        .order = fact::order::acquire};
constexpr user_call in_the_stream{
    .maker = "NCCL",
    .call = "ncclAllReduce() of one float between the kernels",
    .needs =
        "#include <nccl.h>; a kernel that stores into other GPUs' memory ends with __threadfence_system()",
    .least_members = 2};
constexpr user_call in_a_graph{.maker = "NCCL",
                               .call = "ncclAllReduce() of one float in a CUDA graph",
                               .needs = in_the_stream.needs,
                               .least_members = 2};
constexpr std::string_view window =
    "#include <nccl.h>, its memory in an ncclCommWindowRegister(); a kernel that "
    "stores into other GPUs' memory ends with __threadfence_system()";

support can_register(const topology::machine&, const topology::group& group, const configuration&) {
  return group.members.size() > 1 ? support::yes()
                                  : support::never("one GPU has no peer to register memory with");
}

constexpr barrier_variant variants[] = {
    {.name = "stream",
     .summary = "an all-reduce in the stream between the kernels",
     .facts = of_nccl,
     .make = makers::of_gpus(built<MGSYNC_WITH_NCCL, gpu_nccl::stream, without_nccl>),
     .call = in_the_stream},
    {.name = "graph",
     .summary = "an all-reduce in a graph, between its kernels",
     .facts = of_nccl,
     .make = makers::of_gpus(built<MGSYNC_WITH_NCCL, gpu_nccl::graph, without_nccl>),
     .call = in_a_graph},
    {.name = "stream-registered",
     .summary = "an all-reduce in the stream, of memory that NCCL has registered",
     .facts = of_nccl,
     .make = makers::of_gpus(built<MGSYNC_WITH_NCCL, gpu_nccl::stream_registered, without_nccl>),
     .call = {.maker = "NCCL", .call = in_the_stream.call, .needs = window, .least_members = 2},
     .can_run = can_register},
    {.name = "graph-registered",
     .summary = "an all-reduce in a graph, of memory that NCCL has registered",
     .facts = of_nccl,
     .make = makers::of_gpus(built<MGSYNC_WITH_NCCL, gpu_nccl::graph_registered, without_nccl>),
     .call = {.maker = "NCCL", .call = in_a_graph.call, .needs = window, .least_members = 2},
     .can_run = can_register}};

support can_run(const topology::machine&, const topology::group&, const configuration& wanted) {
  if (!wanted.load.idle()) return support::never("load is made beside in-kernel barriers only");
  return MGSYNC_WITH_NCCL ? support::yes() : support::no(without_nccl);
}

}  // namespace

extern const backend nccl_backend;
const backend nccl_backend{
    .name = "nccl", .summary = "NCCL's all-reduce of one float", .variants = variants, .can_run = can_run};

}  // namespace mgsync
