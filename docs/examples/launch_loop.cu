// How much of a kernel's launch remains between kernels that wait, by a plain loop of launches without
// mgsync: `mgsync study launch --quantity fused` must agree with it (docs/studies/launch.md). 16 kernels that
// wait one unit are compared with one that waits 16: the difference is 15 launches. Both are run in turns,
// after a word was cleared, on a stream that is made anew after every five pairs. Usage: launch_loop
// [UNIT_US...]   (default 10 20 40)
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <vector>

#include "gpus.hpp"

namespace {

constexpr unsigned launches = 16, pairs = 40, pairs_per_stream = 5, threads = 32;

__device__ unsigned long long timer_ns() {
  unsigned long long now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

__global__ void waits(unsigned ns) {
  if (threadIdx.x != 0) return;
  const auto last = timer_ns() + ns;
  while (timer_ns() < last) {}
}

// The time of `count` kernels that wait `units` units each, in us.
double run(cudaStream_t stream, unsigned* word, unsigned blocks, unsigned count, unsigned units,
           unsigned unit_us) {
  check(cudaMemsetAsync(word, 0, sizeof *word, stream), "clearing");
  check(cudaStreamSynchronize(stream), "waiting");
  const auto begin = std::chrono::steady_clock::now();
  for (unsigned i = 0; i < count; ++i) waits<<<blocks, threads, 0, stream>>>(units * unit_us * 1000);
  check(cudaGetLastError(), "launching");
  check(cudaStreamSynchronize(stream), "waiting");
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count();
}

double share(std::vector<double> v, double part) {
  std::sort(v.begin(), v.end());
  return v[static_cast<std::size_t>(part * static_cast<double>(v.size() - 1))];
}

void print(unsigned unit_us, unsigned blocks, unsigned* word) {
  std::vector<double> many, few, difference;
  cudaStream_t stream = nullptr;
  for (unsigned p = 0; p < pairs; ++p) {
    if (p % pairs_per_stream == 0) {
      if (stream != nullptr) check(cudaStreamDestroy(stream), "giving up a stream");
      check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "making a stream");
      run(stream, word, blocks, launches, 1, unit_us);  // warms up
    }
    many.push_back(run(stream, word, blocks, launches, 1, unit_us));
    few.push_back(run(stream, word, blocks, 1, launches, unit_us));
    difference.push_back((many.back() - few.back()) / (launches - 1));
  }
  check(cudaStreamDestroy(stream), "giving up a stream");
  std::printf("%u,%.3f,%.3f,%.3f,%.3f\n", unit_us, (share(many, .5) - share(few, .5)) / (launches - 1),
              share(difference, .5), share(difference, .25), share(difference, .75));
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) try {
  int gpus = 0, sms = 0;
  if (cudaGetDeviceCount(&gpus) != cudaSuccess || gpus == 0) {
    std::printf("no GPU here: nothing was run\n");
    return nothing_run;
  }
  std::vector<unsigned> units;
  for (int i = 1; i < argc; ++i) units.push_back(static_cast<unsigned>(std::atoi(argv[i])));
  if (units.empty()) units = {10, 20, 40};
  for (const unsigned u : units)
    if (u < 1 || u > 320) throw std::runtime_error("a unit lasts 1 to 320 us");
  check(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0), "asking for the SMs");
  unsigned* word = nullptr;
  check(cudaMalloc(&word, sizeof *word), "allocating");
  std::printf("unit us,overhead of medians us,median of differences us,low quarter,high quarter\n");
  for (const unsigned u : units) print(u, static_cast<unsigned>(sms), word);
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "launch_loop: %s\n", error.what());
  return 1;
}
