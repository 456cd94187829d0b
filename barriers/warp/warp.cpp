// The barrier of the lanes of one warp. Where lanes are together, as they are in a loop of nothing but
// barriers, compute capability 7.0 and later need no instruction for it, and what is measured is the loop;
// `apart` brings them from two branches in every round. Checked runs hold one lane back at a time, so that
// the lanes are apart there in every variant.
#include "barriers/backend.hpp"
#include "barriers/warp/gpu_warp.hpp"

namespace mgsync {

namespace {

constexpr facts among(fact::scope lanes) {
  return {.origin = fact::origin::vendor,
          .driver = fact::driver::device,
          .scope = lanes,
          .extent = fact::extent::everything,
          .order = fact::order::both};
}
constexpr facts together = among(fact::scope::converged_lanes);
constexpr user_call syncwarp{.maker = "NVIDIA", .call = "__syncwarp()"};
constexpr std::string_view groups = "#include <cooperative_groups.h>";

constexpr barrier_variant variants[] = {
    {.name = "syncwarp",
     .summary = "all lanes by one call",
     .facts = together,
     .make = makers::of_gpus(built<MGSYNC_WITH_CUDA, gpu_warp::syncwarp>),
     .call = syncwarp},
    {.name = "apart",
     .summary = "all lanes by one call, the halves of the warp coming from two branches",
     .facts = among(fact::scope::lanes),
     .make = makers::of_gpus(built<MGSYNC_WITH_CUDA, gpu_warp::apart>),
     .call = syncwarp},
    {.name = "tile",
     .summary = "a tile of 32 of cooperative groups",
     .facts = together,
     .make = makers::of_gpus(built<MGSYNC_WITH_CUDA, gpu_warp::tile>),
     .call = {.maker = "NVIDIA",
              .call = "cooperative_groups::tiled_partition<32>(block).sync()",
              .needs = groups}},
    {.name = "coalesced",
     .summary = "a coalesced group of cooperative groups",
     .facts = together,
     .make = makers::of_gpus(built<MGSYNC_WITH_CUDA, gpu_warp::coalesced>),
     .call = {.maker = "NVIDIA", .call = "cooperative_groups::coalesced_threads().sync()", .needs = groups}}};

support can_run(const topology::machine& machine, const topology::group& group, const configuration& asked) {
  if (group.members.size() != 1)
    return support::never("a warp is a part of one GPU; multigrid spans several");
  for (const auto& gpu : machine.gpus)
    if (gpu.compute_major && *gpu.compute_major < 7)
      return support::no("before compute capability 7.0 the lanes of a warp cannot be apart");
  if (asked.blocks.value_or(0) != 1 || asked.threads_per_block.value_or(0) != 32)
    return support::never("a warp is one block of 32 threads: --shape b1x32");
  return support::yes();
}

}  // namespace

extern const backend warp_backend;
const backend warp_backend{.name = "warp",
                           .summary =
                               "the lanes of one warp: __syncwarp, and the groups of cooperative groups",
                           .variants = variants,
                           .can_run = can_run};

}  // namespace mgsync
