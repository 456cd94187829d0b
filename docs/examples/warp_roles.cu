// Warps with roles: one warp of each block meets the other blocks of all GPUs, while the block's other warps
// go on with work that needs none of them. A ring of blocks over all GPUs: in each step every block passes a
// number on to the next, and its workers fold the step into one of their own meanwhile. Usage: warp_roles
// [GPUS [STEPS]]. With -1 for GPUS: all.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <vector>

#include <mgsync/multi_grid.cuh>
#include <mgsync/multi_grid.hpp>

#include "gpus.hpp"

namespace {

constexpr unsigned workers = 96, threads = workers + 32;  // the last warp speaks for its block
constexpr unsigned private_rounds = 64;

struct all_parts {
  std::uint32_t* of[mgsync::multi_grid_handle::most_gpus];
};

__host__ __device__ std::uint32_t mixed(std::uint32_t v) { return (v ^ v >> 15) * 2654435761u + 1; }

// Meetings of the workers with the speaker, by the block's barriers 1 and 2: handed over, and given back.
__device__ void hand_over() { asm volatile("barrier.sync 1, 128;" ::: "memory"); }
__device__ void give_back() { asm volatile("barrier.sync 2, 128;" ::: "memory"); }

// `parts`: a number of every block for even steps and one for odd ones; `own`: of every worker.
__global__ void __launch_bounds__(threads)
    pass_on(const __grid_constant__ mgsync::multi_grid_handle handle, const __grid_constant__ all_parts parts,
            std::uint32_t* own, unsigned steps) {
  const unsigned block = blockIdx.x, blocks = gridDim.x;
  __shared__ bool lost;
  if (threadIdx.x >= workers) {
    auto grids = mgsync::this_multi_grid(handle, mgsync::one_warp{});
    for (unsigned step = 0; step < steps; ++step) {
      hand_over();
      const bool passed = grids.sync();
      if (threadIdx.x == workers) lost = !passed;
      give_back();
      if (!passed) return;
    }
    return;
  }
  const unsigned before = handle.rank * blocks + block + handle.gpus * blocks - 1;
  const unsigned left = before % (handle.gpus * blocks);
  std::uint32_t ring = parts.of[handle.rank][block], mine = threadIdx.x;
  for (unsigned step = 0; step < steps; ++step) {
    const unsigned slot = step % 2 * blocks;
    if (threadIdx.x == 0) parts.of[handle.rank][slot + block] = ring;
    hand_over();
    for (unsigned i = 0; i < private_rounds; ++i) mine = mixed(mine + step);  // while the speaker waits
    give_back();
    if (lost) return;
    ring = mixed(parts.of[left / blocks][slot + left % blocks]);
  }
  if (threadIdx.x == 0) parts.of[handle.rank][2 * blocks + block] = ring;
  own[block * workers + threadIdx.x] = mine;
}

int run(int gpus, unsigned steps) {
  std::vector<int> ordinals;
  for (int g = 0; g < gpus; ++g) ordinals.push_back(g);
  mgsync::multi_grid grids(ordinals);
  int sms = 0;
  check(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0), "counting SMs");
  const auto blocks = static_cast<unsigned>(2 * sms), all = static_cast<unsigned>(gpus) * blocks;
  const auto ring = grids.allocate(3 * blocks * sizeof(std::uint32_t));
  const auto own = grids.allocate(blocks * workers * sizeof(std::uint32_t));
  std::vector<std::uint32_t> expected(all), next(all);
  all_parts parts{};
  for (unsigned b = 0; b < all; ++b) expected[b] = b + 17;
  for (unsigned g = 0; g < grids.gpus(); ++g) {
    parts.of[g] = ring.part_as<std::uint32_t>(g);
    check(cudaMemcpy(parts.of[g], &expected[g * blocks], blocks * sizeof expected[0], cudaMemcpyDefault),
          "filling");
  }
  for (int g = 0; g < gpus; ++g) {
    check(cudaSetDevice(g), "selecting a GPU");
    check(cudaDeviceSynchronize(), "filling");  // the group's own streams do not wait for the default stream
  }
  grids.launch_each(pass_on, blocks, threads, 0, {}, [&](unsigned local) {
    return std::tuple(parts, own.part_as<std::uint32_t>(local), steps);
  });
  grids.wait();
  for (unsigned step = 0; step < steps; ++step) {
    for (unsigned b = 0; b < all; ++b) next[b] = mixed(expected[(b + all - 1) % all]);
    expected.swap(next);
  }
  unsigned wrong = 0;
  std::vector<std::uint32_t> found(blocks), of_workers(blocks * workers);
  for (unsigned g = 0; g < grids.gpus(); ++g) {
    check(cudaMemcpy(found.data(), parts.of[g] + 2 * blocks, blocks * sizeof found[0], cudaMemcpyDefault),
          "reading");
    check(cudaMemcpy(of_workers.data(), own.part(g), of_workers.size() * sizeof of_workers[0],
                     cudaMemcpyDefault),
          "reading");
    for (unsigned b = 0; b < blocks; ++b) wrong += found[b] == expected[g * blocks + b] ? 0 : 1;
    for (unsigned i = 0; i < of_workers.size(); ++i) {
      std::uint32_t mine = i % workers;
      for (unsigned k = 0; k < steps * private_rounds && i < workers; ++k)
        mine = mixed(mine + k / private_rounds);
      wrong += of_workers[i] == (i < workers ? mine : of_workers[i % workers]) ? 0 : 1;
    }
  }
  std::printf("%d GPUs, %u blocks each, %u steps: %u numbers are wrong\n", gpus, blocks, steps, wrong);
  return wrong == 0 ? 0 : 1;
}

}  // namespace

int main(int count, char** words) try {
  const int gpus = gpus_asked_for(count, words);
  if (gpus == 0) return nothing_run;
  return run(gpus, count > 2 ? static_cast<unsigned>(std::atoi(words[2])) : 200);
} catch (const std::exception& error) {
  std::fprintf(stderr, "warp_roles: %s\n", error.what());
  return 1;
}
