// Must not compile: the kernel does not take the handle.
#include <mgsync/multi_grid.cuh>
#include <mgsync/multi_grid.hpp>

__global__ void kernel(float*) {}

void launch(mgsync::multi_grid& grids, float* data) { grids.launch(kernel, 1, 32, 0, {}, data); }
