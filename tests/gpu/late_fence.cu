// What GPUs that wait in sync() for a late one cost the system fences of another kernel beside them: a thread
// on the first GPU stores to the last GPU's memory and fences, over and over, while the group's kernels run
// rounds to which the last GPU comes 5 ms late each. Prints cycles per fence. Usage: late_fence [GPUS].
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <mgsync/multi_grid.cuh>
#include <mgsync/multi_grid.hpp>

namespace {

constexpr unsigned fences = 30'000, late_ns = 5'000'000,
                   late_rounds = 60;  // some 30 ms of fences in 300 ms of rounds

__device__ unsigned long long now_ns() {
  unsigned long long now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

__global__ void wait_for_the_last(mgsync::multi_grid_handle handle, unsigned* passed) {
  auto grids = mgsync::this_multi_grid(handle);
  for (unsigned round = 0; round < late_rounds; ++round) {
    if (grids.grid_rank() + 1 == grids.num_grids())
      for (const auto begin = now_ns(); now_ns() - begin < late_ns;) __nanosleep(10'000);
    if (!grids.sync()) return;
    if (grids.thread_rank() == 0) *static_cast<volatile unsigned*>(passed) = round + 1;
  }
}

__global__ void fence_and_fence(volatile unsigned* peer, unsigned* cycles) {
  for (unsigned i = 0; i < fences; ++i) {
    *peer = i;
    const auto begin = clock64();
    __threadfence_system();
    cycles[i] = static_cast<unsigned>(clock64() - begin);
  }
}

void check(cudaError_t status, const char* action) {
  if (status != cudaSuccess)
    throw std::runtime_error(std::string(action) + ": " + cudaGetErrorString(status));
}

void measure(mgsync::multi_grid& grids, unsigned blocks, unsigned threads, const char* shape) {
  const auto memory = grids.allocate(fences * sizeof(unsigned));
  auto* const cycles = memory.part_as<unsigned>(0);
  unsigned* passed = nullptr;
  check(cudaHostAlloc(&passed, sizeof *passed, cudaHostAllocMapped), "making a word");
  *passed = 0;
  if (blocks != 0) {
    // Beside a kernel that leaves the most shared memory every other one starts.
    check(cudaFuncSetAttribute(wait_for_the_last, cudaFuncAttributePreferredSharedMemoryCarveout,
                               cudaSharedmemCarveoutMaxShared),
          "leaving room");
    grids.launch(wait_for_the_last, blocks, threads, 0, {}, passed);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  const unsigned before = *static_cast<volatile unsigned*>(passed);
  cudaStream_t beside = nullptr;
  check(cudaStreamCreateWithFlags(&beside, cudaStreamNonBlocking), "making a stream");
  fence_and_fence<<<1, 1, 0, beside>>>(memory.part_as<unsigned>(grids.gpus() - 1), cycles);
  check(cudaStreamSynchronize(beside), "running the fences");
  const unsigned rounds = *static_cast<volatile unsigned*>(passed) - before;
  grids.wait();
  std::vector<unsigned> seen(fences);
  check(cudaMemcpy(seen.data(), cycles, fences * sizeof(unsigned), cudaMemcpyDeviceToHost),
        "reading the cycles");
  check(cudaStreamDestroy(beside), "giving back the stream");
  check(cudaFreeHost(passed), "giving back the word");
  double sum = 0;
  for (const unsigned c : seen) sum += c;
  std::sort(seen.begin(), seen.end());
  std::printf("%u,%s,%u,%u,%.1f,%u,%u,%u\n", grids.gpus(), shape, blocks, rounds, sum / fences,
              seen[fences / 2], seen[fences / 100 * 99], seen.back());
}

}  // namespace

int main(int count, char** words) try {
  int here = 0, sms = 0;
  if (cudaGetDeviceCount(&here) != cudaSuccess || here < 2) {
    std::printf("needs two GPUs: nothing was run\n");
    return 77;
  }
  const int gpus = count > 1 ? std::atoi(words[1]) : here;
  check(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0), "counting SMs");
  std::vector<int> ordinals;
  for (int g = 0; g < gpus; ++g) ordinals.push_back(g);
  mgsync::multi_grid grids(ordinals);
  check(cudaSetDevice(0), "selecting a GPU");
  std::printf("gpus,what waits,blocks,rounds beside,mean cycles,median,99 %%,most\n");
  for (int turn = 0; turn < 3; ++turn)
    for (const auto& [per_sm, threads, shape] :
         {std::tuple{0u, 0u, "nothing"}, {1u, 32u, "1x32"}, {4u, 256u, "4x256"}, {16u, 64u, "16x64"}})
      measure(grids, per_sm * static_cast<unsigned>(sms), threads, shape);
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "late_fence: %s\n", error.what());
  return 1;
}
