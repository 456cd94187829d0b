#include <mgsync/many_gpus.cuh>
#include <mgsync/multi_grid.cuh>
#include <mgsync/timeline.cuh>
#include <mgsync/traced.cuh>

__global__ void kernel(const __grid_constant__ mgsync::multi_grid_handle handle, float* data) {
  mgsync::multi_grid_group grids(handle);
  data[grids.thread_rank()] = 1.0f;
  auto token = grids.barrier_arrive();
  grids.barrier_wait(token);
  grids.sync();
}

__global__ void traced(const __grid_constant__ mgsync::multi_grid_handle handle) {
  mgsync::this_traced_multi_grid(handle).sync();
}

__global__ void of_many(const __grid_constant__ mgsync::multi_grid_handle handle) {
  mgsync::this_multi_grid_of_many(handle).sync();
}

__global__ void recorded(mgsync::warp_events<64, true>* out, float* data) {
  __shared__ mgsync::event_buffer<4, 64, true> buffer;
  mgsync::event_recorder recorder(buffer);
  recorder.stamp(0);
  recorder.stamp(1, __float_as_uint(data[threadIdx.x]));
  recorder.flush(out);
}
