// The smallest use: every GPU adds up what all GPUs wrote before the barrier.
#include <cstdio>
#include <exception>
#include <vector>

#include <mgsync/multi_grid.cuh>
#include <mgsync/multi_grid.hpp>

__global__ void add_up(const __grid_constant__ mgsync::multi_grid_handle handle, unsigned* values,
                       unsigned* sums) {
  auto grids = mgsync::this_multi_grid(handle);
  if (blockIdx.x == 0 && threadIdx.x == 0) values[grids.grid_rank()] = grids.grid_rank() + 1;
  if (!grids.sync()) return;
  if (blockIdx.x != 0 || threadIdx.x != 0) return;
  for (unsigned g = 0; g < grids.num_grids(); ++g) sums[grids.grid_rank()] += values[g];
}

int main() try {
  int here = 0;
  if (cudaGetDeviceCount(&here) != cudaSuccess || here == 0) {
    std::printf("no GPU here: linked, not run\n");
    return 77;
  }
  std::vector<int> all;
  for (int g = 0; g < here; ++g) all.push_back(g);
  mgsync::multi_grid grids(all);
  const auto memory = grids.allocate(64 * sizeof(unsigned));
  unsigned* const values = memory.part_as<unsigned>(0);
  grids.launch(add_up, 4, 64, 0, {}, values, values + 32);
  grids.wait();
  unsigned sum = 0;
  cudaMemcpy(&sum, values + 32 + here - 1, sizeof sum, cudaMemcpyDefault);
  const unsigned expected = static_cast<unsigned>(here * (here + 1) / 2);
  std::printf("%d GPUs: %u, expected %u\n", here, sum, expected);
  return sum == expected ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "consumer: %s\n", error.what());
  return 1;
}
