// What barriers between GPUs are made of, timed like them and under the same load: one hop of a flag from GPU
// to GPU, a fence after a store to a peer, a block's arrival at its own GPU; one warp of one block speaks,
// whatever the shape, and a round is one of these. And the part inside a GPU: all blocks of each GPU meet,
// and no GPU another. None of them is a barrier, so there is nothing to check.
#include "barriers/backend.hpp"
#include "barriers/hop/gpu_hop.hpp"
#include "barriers/parts/algorithm/layout.hpp"

namespace mgsync {

namespace {

constexpr facts piece(fact::extent extent, fact::order order) {
  return {.origin = fact::origin::ours,
          .driver = fact::driver::device,
          .scope = fact::scope::node,
          .extent = extent,
          .order = order};
}

support can_fly(const topology::machine&, const topology::group& group, const configuration&) {
  return group.members.size() == 2 ? support::yes()
                                   : support::never("a hop is from one GPU to another: 2 members");
}

constexpr barrier_variant variants[] = {
    {.name = "release-acquire",
     .summary = "a store to the peer, a release, a flag, an acquire",
     .facts = piece(fact::extent::equal_threads, fact::order::both),
     .make = makers::of_gpus(built<MGSYNC_WITH_CUDA, gpu_hop::release_acquire>),
     .bounded = true,
     .can_run = can_fly},
    {.name = "relaxed",
     .summary = "a flag alone, which orders nothing",
     .facts = piece(fact::extent::equal_threads, fact::order::none),
     .make = makers::of_gpus(built<MGSYNC_WITH_CUDA, gpu_hop::relaxed>),
     .bounded = true,
     .can_run = can_fly},
    {.name = "fence-system",
     .summary = "a fence of system scope after a store to a peer; nobody waits for anybody",
     .facts = piece(fact::extent::nothing, fact::order::both),
     .make = makers::of_gpus(built<MGSYNC_WITH_CUDA, gpu_hop::fence_system>),
     .bounded = true},
    {.name = "fence-gpu",
     .summary = "the same of the GPU's scope",
     .facts = piece(fact::extent::nothing, fact::order::both),
     .make = makers::of_gpus(built<MGSYNC_WITH_CUDA, gpu_hop::fence_gpu>),
     .bounded = true},
    {.name = "arrival",
     .summary = "a store to a peer, a release to the own GPU, an addition that answers",
     .facts = piece(fact::extent::nothing, fact::order::release),
     .make = makers::of_gpus(built<MGSYNC_WITH_CUDA, gpu_hop::arrival>),
     .bounded = true},
    {.name = "grid",
     .summary = "all blocks of each GPU meet, and no GPU another",
     .facts = piece(fact::extent::gpu, fact::order::both),
     .make = makers::of_gpus(built<MGSYNC_WITH_CUDA, gpu_hop::grid>),
     .bounded = true}};

support can_run(const topology::machine& machine, const topology::group& group, const configuration&) {
  if (group.members.size() > algorithm::most_gpus) return support::never("at most 16 GPUs");
  if constexpr (MGSYNC_WITH_CUDA) return gpu_hop_can_run(machine, group);
  else return support::no(without_cuda);
}

}  // namespace

extern const backend hop_backend;
const backend hop_backend{.name = "hop",
                          .summary = "pieces of a barrier, no barrier: a flag's hop between 2 GPUs, a fence, "
                                     "an arrival, each GPU's own part",
                          .variants = variants,
                          .can_run = can_run};

}  // namespace mgsync
