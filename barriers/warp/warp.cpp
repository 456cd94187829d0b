// The barrier of the lanes of one warp. Where lanes are together, as they are in a loop of nothing but
// barriers, compute capability 7.0 and later need no instruction for it, and the figure is the loop's;
// `apart` brings them from two branches in every round. In checked runs one lane is held back at a time, so
// that they are apart there, whichever the variant.
#include "barriers/backend.hpp"
#include "barriers/warp/gpu_warp.hpp"

namespace mgsync {

namespace {

constexpr std::string_view variants[] = {"syncwarp", "apart", "tile", "coalesced"};
constexpr std::string_view groups = "#include <cooperative_groups.h>";
constexpr user_call calls[] = {
    {"syncwarp", "NVIDIA", "__syncwarp()"},
    {"apart", "NVIDIA", "__syncwarp()"},
    {"tile", "NVIDIA", "cooperative_groups::tiled_partition<32>(block).sync()", groups},
    {"coalesced", "NVIDIA", "cooperative_groups::coalesced_threads().sync()", groups}};

support can_run(const topology::machine& machine, const topology::group& group, const configuration& asked) {
  if (group.device != topology::device::gpu) return support::never("for GPU members");
  if (group.members.size() != 1)
    return support::never("a warp is a part of one GPU; multigrid spans several");
  for (const auto& gpu : machine.gpus)
    if (gpu.compute_major && *gpu.compute_major < 7)
      return support::no("before compute capability 7.0 the lanes of a warp cannot be apart");
  if (asked.blocks.value_or(0) != 1 || asked.threads_per_block.value_or(0) != 32)
    return support::never("a warp is one block of 32 threads: --shape b1x32");
  return support::yes();
}

creation create(const topology::group& group, const configuration& wanted, session& where) {
  if constexpr (MGSYNC_WITH_CUDA) return create_gpu_warp(group, wanted, where);
  else return creation::none(without_cuda);
}

}  // namespace

extern const backend warp_backend;
const backend warp_backend{
    "warp",   "the lanes of one warp: __syncwarp, and the groups of cooperative groups",
    variants, level::warp,
    false,    can_run,
    create,   false,
    calls};

}  // namespace mgsync
