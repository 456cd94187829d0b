// The sum of an array spread over the GPUs of this process in one kernel: L. Zhang, M. Wahib, H. Zhang and S.
// Matsuoka (IPDPS 2020), figure 13, where multi_grid.sync() stands between the GPUs' own sums and the sum of
// these. Usage: reduction [GPUS [ELEMENTS]]. With -1 for GPUS: all.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <vector>

#include <mgsync/multi_grid.cuh>
#include <mgsync/multi_grid.hpp>

#include "gpus.hpp"

namespace {

constexpr unsigned threads = 256;

__device__ std::uint64_t sum_of_block(std::uint64_t mine) {
  __shared__ std::uint64_t warps[threads / 32];
  for (int step = 16; step > 0; step /= 2) mine += __shfl_down_sync(0xffffffffu, mine, step);
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = mine;
  __syncthreads();
  mine = threadIdx.x < threads / 32 ? warps[threadIdx.x] : 0;
  for (int step = 4; step > 0; step /= 2) mine += __shfl_down_sync(0xffffffffu, mine, step);
  return mine;  // in thread 0
}

// `partial` lies on GPU 0: a sum per block of every GPU, then the total.
__global__ void reduce(const __grid_constant__ mgsync::multi_grid_handle handle, const std::uint32_t* data,
                       std::size_t elements, std::uint64_t* partial) {
  auto grids = mgsync::this_multi_grid(handle);
  std::uint64_t mine = 0;
  for (std::size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < elements;
       i += std::size_t{gridDim.x} * blockDim.x)
    mine += data[i];
  mine = sum_of_block(mine);
  if (threadIdx.x == 0) partial[grids.grid_rank() * gridDim.x + blockIdx.x] = mine;
  if (!grids.sync()) return;
  if (grids.grid_rank() != 0 || blockIdx.x != 0) return;
  const unsigned sums = grids.num_grids() * gridDim.x;
  mine = 0;
  for (unsigned i = threadIdx.x; i < sums; i += blockDim.x) mine += partial[i];
  mine = sum_of_block(mine);
  if (threadIdx.x == 0) partial[sums] = mine;
}

int run(int gpus, std::size_t elements) {
  std::vector<int> ordinals;
  for (int g = 0; g < gpus; ++g) ordinals.push_back(g);
  mgsync::multi_grid grids(ordinals);
  const std::size_t each = elements / static_cast<std::size_t>(gpus);
  int sms = 0;
  check(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0), "counting SMs");
  const auto blocks = static_cast<unsigned>(4 * sms);
  const std::size_t sums = static_cast<std::size_t>(gpus) * blocks;
  const auto data = grids.allocate(each * sizeof(std::uint32_t));
  const auto partial = grids.allocate((sums + 1) * sizeof(std::uint64_t));
  std::uint64_t expected = 0;
  for (int g = 0; g < gpus; ++g) {
    std::vector<std::uint32_t> values(each);
    for (std::size_t i = 0; i < each; ++i)
      expected += values[i] = static_cast<std::uint32_t>((i + 1) * 2654435761u + static_cast<unsigned>(g));
    check(cudaSetDevice(g), "selecting a GPU");
    check(cudaMemcpy(data.part(static_cast<unsigned>(g)), values.data(), each * sizeof values[0],
                     cudaMemcpyHostToDevice),
          "filling");
    check(cudaDeviceSynchronize(), "filling");  // the group's own streams do not wait for the default stream
  }
  grids.launch_each(reduce, blocks, threads, 0, {}, [&](unsigned local) {
    return std::tuple(data.part_as<std::uint32_t>(local), each, partial.part_as<std::uint64_t>(0));
  });
  grids.wait();
  std::uint64_t total = 0;
  check(cudaMemcpy(&total, partial.part_as<std::uint64_t>(0) + sums, sizeof total, cudaMemcpyDefault),
        "reading the sum");
  std::printf("%d GPUs, %zu elements each: sum %llu, expected %llu\n", gpus, each,
              static_cast<unsigned long long>(total), static_cast<unsigned long long>(expected));
  return total == expected ? 0 : 1;
}

}  // namespace

int main(int count, char** words) try {
  const int gpus = gpus_asked_for(count, words);
  if (gpus == 0) return nothing_run;
  return run(gpus, count > 2 ? std::strtoull(words[2], nullptr, 10) : std::size_t{1} << 26);
} catch (const std::exception& error) {
  std::fprintf(stderr, "reduction: %s\n", error.what());
  return 1;
}
