// The barrier of all blocks of one GPU: cooperative groups' grid.sync, and mgsync's own.
#include "barriers/backend.hpp"
#include "barriers/grid/gpu_grid.hpp"

namespace mgsync {

namespace {

constexpr std::string_view variants[] = {"auto", "counter", "hub", "relay", "cooperative-groups"};

support can_run(const topology::machine&, const topology::group& group, const configuration&) {
  if (group.device != topology::device::gpu) return support::no("for GPU members");
  if (group.members.size() != 1) return support::no("a grid is one GPU; multigrid spans several");
  return support::yes();
}

}  // namespace

extern const backend grid_backend;
const backend grid_backend{"grid", "all blocks of one GPU: grid.sync of cooperative groups, and mgsync's own", variants,
                           level::grid, false, can_run, create_gpu_grid};

}  // namespace mgsync
