// What barriers between GPUs are made of, timed like them and under the same load: one hop of a flag from GPU
// to GPU, a fence after a store to a peer, a block's arrival at its own GPU; one warp of one block speaks,
// whatever the shape, and a round is one of these. And the part inside a GPU: all blocks of each GPU meet,
// and no GPU another. None of them is a barrier, so there is nothing to check.
#include "barriers/backend.hpp"
#include "barriers/hop/gpu_hop.hpp"
#include "barriers/parts/algorithm/layout.hpp"

namespace mgsync {

namespace {

constexpr std::string_view variants[] = {"release-acquire", "relaxed", "fence-system",
                                         "fence-gpu",       "arrival", "grid"};

support can_run(const topology::machine& machine, const topology::group& group, const configuration& wanted) {
  if (group.device != topology::device::gpu) return support::never("for GPU members");
  const bool flies = wanted.variant == "release-acquire" || wanted.variant == "relaxed";
  if (flies && group.members.size() != 2)
    return support::never("a hop is from one GPU to another: 2 members");
  if (group.members.size() > algorithm::most_gpus) return support::never("at most 16 GPUs");
  if constexpr (MGSYNC_WITH_CUDA) return gpu_hop_can_run(machine, group);
  else return support::no(without_cuda);
}

creation create(const topology::group& group, const configuration& wanted, session& where) {
  if constexpr (MGSYNC_WITH_CUDA) return create_gpu_hop(group, wanted, where);
  else return creation::none(without_cuda);
}

}  // namespace

extern const backend hop_backend;
const backend hop_backend{
    "hop",
    "pieces of a barrier, no barrier: a flag's hop between 2 GPUs, a fence, an arrival, each GPU's own part",
    variants,
    level::group,
    true,
    can_run,
    create,
    true};

}  // namespace mgsync
