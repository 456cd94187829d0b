// The barrier of all blocks of one GPU: cooperative groups' grid.sync, and mgsync's own.
#include "barriers/backend.hpp"
#include "barriers/grid/gpu_grid.hpp"

namespace mgsync {

namespace {

constexpr std::string_view variants[] = {"auto", "counter", "hub", "relay", "cooperative-groups"};
constexpr user_call calls[] = {{"cooperative-groups", "NVIDIA", "cooperative_groups::this_grid().sync()",
                                "#include <cooperative_groups.h>, a cooperative launch"}};

support can_run(const topology::machine&, const topology::group& group, const configuration&) {
  if (group.device != topology::device::gpu) return support::never("for GPU members");
  if (group.members.size() != 1) return support::never("a grid is one GPU; multigrid spans several");
  return support::yes();
}

creation create(const topology::group& group, const configuration& wanted, session& where) {
  if constexpr (MGSYNC_WITH_CUDA) return create_gpu_grid(group, wanted, where);
  else return creation::none(without_cuda);
}

}  // namespace

extern const backend grid_backend;
const backend grid_backend{
    "grid",   "all blocks of one GPU: grid.sync of cooperative groups, and mgsync's own",
    variants, level::grid,
    false,    can_run,
    create,   false,
    calls};

}  // namespace mgsync
