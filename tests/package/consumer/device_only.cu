#include <mgsync/multi_grid.cuh>

__global__ void kernel(mgsync::multi_grid_handle handle, float* data) {
  mgsync::multi_grid_group grids(handle);
  data[grids.thread_rank()] = 1.0f;
  auto token = grids.barrier_arrive();
  grids.barrier_wait(token);
  grids.sync();
}
