// The barrier of all blocks of one GPU: cooperative groups' grid.sync, and mgsync's own.
#include "barriers/backend.hpp"
#include "barriers/grid/gpu_grid.hpp"

namespace mgsync {

namespace {

constexpr facts ours{.origin = fact::origin::ours,
                     .driver = fact::driver::device,
                     .scope = fact::scope::grid,
                     .extent = fact::extent::everything,
                     .order = fact::order::both};
constexpr facts vendors{.origin = fact::origin::vendor,
                        .driver = fact::driver::device,
                        .scope = fact::scope::grid,
                        .extent = fact::extent::everything,
                        .order = fact::order::both};

constexpr barrier_variant variants[] = {
    {.name = "auto",
     .summary = "the fastest of mgsync's algorithms at this shape",
     .facts = ours,
     .make = makers::of_gpus(built<MGSYNC_WITH_CUDA, gpu_grid::automatic>),
     .bounded = true},
    {.name = "counter",
     .summary = "one counter that all blocks count on and poll",
     .facts = ours,
     .make = makers::of_gpus(built<MGSYNC_WITH_CUDA, gpu_grid::counter>),
     .bounded = true},
    {.name = "hub",
     .summary = "a block gathers and releases all",
     .facts = ours,
     .make = makers::of_gpus(built<MGSYNC_WITH_CUDA, gpu_grid::hub>),
     .bounded = true},
    {.name = "relay",
     .summary = "arrivals at 32 counters, a release in 32 inboxes",
     .facts = ours,
     .make = makers::of_gpus(built<MGSYNC_WITH_CUDA, gpu_grid::relay>),
     .bounded = true},
    {.name = "cooperative-groups",
     .summary = "the grid's group of cooperative groups",
     .facts = vendors,
     .make = makers::of_gpus(built<MGSYNC_WITH_CUDA, gpu_grid::cooperative_groups>),
     .call = {.maker = "NVIDIA",
              .call = "cooperative_groups::this_grid().sync()",
              .needs = "#include <cooperative_groups.h>, a cooperative launch"}}};

support can_run(const topology::machine&, const topology::group& group, const configuration&) {
  if (group.members.size() != 1) return support::never("a grid is one GPU; multigrid spans several");
  return support::yes();
}

}  // namespace

extern const backend grid_backend;
const backend grid_backend{.name = "grid",
                           .summary =
                               "all blocks of one GPU: grid.sync of cooperative groups, and mgsync's own",
                           .variants = variants,
                           .can_run = can_run};

}  // namespace mgsync
