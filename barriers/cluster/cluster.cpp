// The barrier of the blocks of one cluster (compute capability 9.0): the hardware's own, with release and
// acquire. A relaxed arrival is twice to six times faster and orders no memory: no barrier by this project's
// check, so it stands in the study of levels only.
#include <fmt/format.h>

#include "barriers/backend.hpp"
#include "barriers/cluster/gpu_cluster.hpp"

namespace mgsync {

namespace {

constexpr facts of_the_hardware{.origin = fact::origin::vendor,
                                .driver = fact::driver::device,
                                .scope = fact::scope::cluster,
                                .extent = fact::extent::everything,
                                .order = fact::order::both};

constexpr barrier_variant variants[] = {
    {.name = "hardware",
     .summary = "the cluster's barrier of the hardware, with release and acquire",
     .facts = of_the_hardware,
     .make = makers::of_gpus(built<MGSYNC_WITH_CUDA, gpu_cluster::hardware>),
     .call = {.maker = "NVIDIA",
              .call = "barrier.cluster.arrive and barrier.cluster.wait, in PTX",
              .needs = "a launch in clusters"}},
    {.name = "cooperative-groups",
     .summary = "the cluster's group of cooperative groups",
     .facts = of_the_hardware,
     .make = makers::of_gpus(built<MGSYNC_WITH_CUDA, gpu_cluster::cooperative_groups>),
     .call = {.maker = "NVIDIA",
              .call = "cooperative_groups::this_cluster().sync()",
              .needs = "#include <cooperative_groups.h>, a launch in clusters"}}};

support can_run(const topology::machine& machine, const topology::group& group, const configuration& asked) {
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

}  // namespace

extern const backend cluster_backend;
const backend cluster_backend{.name = "cluster",
                              .summary = "the blocks of one cluster: barrier.cluster and cooperative groups",
                              .variants = variants,
                              .can_run = can_run};

}  // namespace mgsync
