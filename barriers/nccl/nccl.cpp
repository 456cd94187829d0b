// NCCL's all-reduce of one float as a barrier: no rank's ends before every rank's has begun. What the kernel
// in front of it stored into another GPU's memory it does not order: that kernel ends with a system fence.
#include "barriers/nccl/all_reduce.hpp"

namespace mgsync {

namespace {

constexpr const char* without_nccl = "this build has no NCCL";
constexpr std::string_view variants[] = {"stream", "graph", "stream-registered", "graph-registered"};
constexpr std::string_view header = "#include <nccl.h>",
                           window = "#include <nccl.h>, its memory in an ncclCommWindowRegister()";
constexpr user_call calls[] = {
    {"stream", "NCCL", "ncclAllReduce() of one float between the kernels", header, topology::device::gpu, 2},
    {"graph", "NCCL", "ncclAllReduce() of one float in a CUDA graph", header, topology::device::gpu, 2},
    {"stream-registered", "NCCL", "ncclAllReduce() of one float between the kernels", window,
     topology::device::gpu, 2},
    {"graph-registered", "NCCL", "ncclAllReduce() of one float in a CUDA graph", window,
     topology::device::gpu, 2}};

support can_run(const topology::machine&, const topology::group& group, const configuration& wanted) {
  if (group.device != topology::device::gpu) return support::never("for GPU members");
  if (!wanted.load.idle()) return support::never("load is made beside in-kernel barriers only");
  if (group.members.size() == 1 && wanted.variant.ends_with("-registered"))
    return support::never("one GPU has no peer to register memory with");
  return MGSYNC_WITH_NCCL ? support::yes() : support::no(without_nccl);
}

creation create(const topology::group& group, const configuration& wanted, session& where) {
  if constexpr (MGSYNC_WITH_NCCL) return create_nccl_all_reduce(group, wanted, where);
  else return creation::none(without_nccl);
}

}  // namespace

extern const backend nccl_backend;
const backend nccl_backend{
    "nccl", "NCCL's all-reduce of one float", variants, level::group, false, can_run, create, false, calls,
    true};

}  // namespace mgsync
