// The barrier of the blocks of one cluster (compute capability 9.0): the hardware's own, with release and
// acquire. A relaxed arrival is twice to six times faster and orders no memory: no barrier by this project's
// check, so it stands in the study of levels only.
#include <fmt/format.h>

#include "barriers/backend.hpp"
#include "barriers/cluster/gpu_cluster.hpp"

namespace mgsync {

namespace {

constexpr std::string_view variants[] = {"hardware", "cooperative-groups"};
constexpr user_call calls[] = {
    {"hardware", "NVIDIA", "barrier.cluster.arrive and barrier.cluster.wait, in PTX", "a launch in clusters"},
    {"cooperative-groups", "NVIDIA", "cooperative_groups::this_cluster().sync()",
     "#include <cooperative_groups.h>, a launch in clusters"}};

support can_run(const topology::machine& machine, const topology::group& group, const configuration& asked) {
  if (group.device != topology::device::gpu) return support::never("for GPU members");
  if (group.members.size() != 1)
    return support::never("a cluster is a part of one GPU; multigrid spans several");
  for (const auto& gpu : machine.gpus)
    if (gpu.compute_major && *gpu.compute_major < 9)
      return support::no("clusters need compute capability 9.0");
  const unsigned blocks = asked.blocks.value_or(0);
  if (blocks != 2 && blocks != 4 && blocks != 8 && blocks != 16)
    return support::never("a cluster has 2, 4, 8 or 16 blocks in all: --shape b8x256");
  return support::yes();
}

creation create(const topology::group& group, const configuration& wanted, session& where) {
  if constexpr (MGSYNC_WITH_CUDA) return create_gpu_cluster(group, wanted, where);
  else return creation::none(without_cuda);
}

}  // namespace

extern const backend cluster_backend;
const backend cluster_backend{"cluster", "the blocks of one cluster: barrier.cluster and cooperative groups",
                              variants,  level::cluster,
                              false,     can_run,
                              create,    false,
                              calls};

}  // namespace mgsync
