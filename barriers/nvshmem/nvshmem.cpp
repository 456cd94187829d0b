// NVSHMEM's barrier inside a kernel, from a shared object of its own, beside which our implementation of its
// algorithm stands.
#include "barriers/nvshmem/gpu_nvshmem.hpp"

namespace mgsync {

namespace {

constexpr const char* without_nvshmem =
    "this build has no NVSHMEM barriers: set NVSHMEM_HOME to where NVSHMEM is, and -DMGSYNC_NVSHMEM=ON";
constexpr facts of_nvshmem{.origin = fact::origin::vendor,
                           .driver = fact::driver::device,
                           .scope = fact::scope::node,
                           .extent = fact::extent::everything,
                           .order = fact::order::both};
constexpr user_call call_of_nvshmem(std::string_view call) {
  return {.maker = "NVSHMEM",
          .call = call,
          .needs = "#include <nvshmemx.h>, relocatable device code, one process per GPU",
          .least_members = 2};
}
std::string library_of_nvshmem() {
  if constexpr (MGSYNC_WITH_NVSHMEM) return version_of_nvshmem();
  else return {};
}

constexpr barrier_variant variants[] = {
    {.name = "block",
     .summary = "one block of each GPU meets the others by nvshmemx_barrier_all_block()",
     .facts = of_nvshmem,
     .make = makers::of_gpus(built<MGSYNC_WITH_NVSHMEM, gpu_nvshmem::block, without_nvshmem>),
     .call = call_of_nvshmem("nvshmemx_barrier_all_block() in one block of each GPU, in a grid that has met"),
     .library = library_of_nvshmem},
    {.name = "warp",
     .summary = "one warp of each GPU meets the others by nvshmemx_barrier_all_warp()",
     .facts = of_nvshmem,
     .make = makers::of_gpus(built<MGSYNC_WITH_NVSHMEM, gpu_nvshmem::warp, without_nvshmem>),
     .call = call_of_nvshmem("nvshmemx_barrier_all_warp() in one warp of each GPU, in a grid that has met"),
     .library = library_of_nvshmem}};

support can_run(const topology::machine&, const topology::group& group, const configuration&) {
  if constexpr (!MGSYNC_WITH_NVSHMEM) return support::no(without_nvshmem);
  if (group.members.size() > 16) return support::never("at most 16 GPUs");
  if (group.members.size() != topology::owners_of(group).size())
    return support::no("NVSHMEM has one GPU in a process: start a rank for each");
  if (topology::hosts_of(group).size() > 1)
    return support::no("its memory is that of one node here (--per-node measures each)");
  return support::yes();
}

}  // namespace

extern const backend nvshmem_backend;
const backend nvshmem_backend{.name = "nvshmem",
                              .summary = "NVSHMEM's barrier inside a kernel, of one rank per GPU",
                              .variants = variants,
                              .can_run = can_run};

}  // namespace mgsync
