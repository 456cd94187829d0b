// Must not compile, twice: a group refers to its handle, and these are gone behind the semicolon.
#include <mgsync/multi_grid.cuh>

__device__ mgsync::multi_grid_handle made_here() { return {}; }

__global__ void by_function() {
  auto grids = mgsync::this_multi_grid(made_here());
  grids.sync();
}
__global__ void by_constructor() {
  mgsync::multi_grid_group grids(made_here());
  grids.sync();
}
