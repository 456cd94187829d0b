// A kernel of somebody's own, recorded: what its loading thread and its working warps do when, and what
// recording costs. Writes recording.json (mgsync show recording.json) and trace.json (ui.perfetto.dev) into
// the folder that is given. Usage: recorded_kernel [folder]
#include <algorithm>
#include <cstdio>
#include <exception>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <cuda_runtime_api.h>

#include <mgsync/timeline.cuh>
#include <mgsync/timeline.hpp>

namespace {

constexpr unsigned warps = 5, chunk = 4096, chunks = 8, stamps = 64;
enum range_id : unsigned { load, wait, work };

// The fifth warp's first lane loads chunks, four warps add them up. Recorded where Buffer is on, and as if
// nothing was there where it is off.
template <class Buffer>
__global__ void sum_chunks(const float* data, float* sums, typename Buffer::events* out) {
  __shared__ Buffer buffer;
  __shared__ float shared[chunk];
  mgsync::event_recorder recorder(buffer);
  float sum = 0;
  for (unsigned c = 0; c < chunks; ++c) {
    __syncthreads();
    if (threadIdx.x == 128) {  // a single lane stamps
      recorder.begin(load);
      for (unsigned i = 0; i < chunk; i += 64) shared[i] = data[(blockIdx.x * chunks + c) * chunk + i];
      recorder.end(load);
    }
    if (threadIdx.x < 128) recorder.begin(wait);
    __syncthreads();
    if (threadIdx.x >= 128) continue;
    recorder.end(wait);
    recorder.begin(work);
    for (unsigned i = threadIdx.x; i < chunk; i += 128) sum += shared[i - i % 64];
    recorder.end(work, __float_as_uint(sum));
  }
  sums[blockIdx.x * blockDim.x + threadIdx.x] = sum;
  recorder.flush(out);
}

using recorded = mgsync::event_buffer<warps, stamps, true>;
using not_recorded = mgsync::event_buffer<warps, stamps, true, false>;

void check(cudaError_t status, const char* what) {
  if (status != cudaSuccess) throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(status));
}

template <class T>
T* on_gpu(std::size_t count) {
  void* at = nullptr;
  check(cudaMalloc(&at, count * sizeof(T)), "allocating");
  check(cudaMemset(at, 0, count * sizeof(T)), "clearing");
  return static_cast<T*>(at);
}

// The median of some launches, in us.
template <class Buffer>
double microseconds(unsigned blocks, const float* data, float* sums, typename Buffer::events* out) {
  cudaEvent_t begin = nullptr, end = nullptr;
  check(cudaEventCreate(&begin), "an event");
  check(cudaEventCreate(&end), "an event");
  std::vector<float> all;
  for (int i = 0; i < 31; ++i) {
    check(cudaEventRecord(begin), "recording an event");
    for (int k = 0; k < 20; ++k) sum_chunks<Buffer><<<blocks, 32 * warps>>>(data, sums, out);
    check(cudaEventRecord(end), "recording an event");
    check(cudaEventSynchronize(end), "running");
    check(cudaEventElapsedTime(&all.emplace_back(), begin, end), "reading events");
  }
  std::sort(all.begin(), all.end());
  return static_cast<double>(all[all.size() / 2]) * 1e3 / 20;
}

}  // namespace

int main(int argc, char** argv) try {
  int gpus = 0;
  if (cudaGetDeviceCount(&gpus) != cudaSuccess || gpus == 0) {
    std::printf("no GPU here: nothing was run\n");
    return 77;
  }
  constexpr unsigned blocks = 8;
  auto* const data = on_gpu<float>(std::size_t{blocks} * chunks * chunk);
  auto* const sums = on_gpu<float>(std::size_t{blocks} * 32 * warps);
  auto* const out = on_gpu<recorded::events>(std::size_t{blocks} * warps);
  const double without = microseconds<not_recorded>(blocks, data, sums, out);
  const double with = microseconds<recorded>(blocks, data, sums, out);
  std::printf("a launch takes %.2f us, recorded %.2f: the recorder adds %.1f %% here\n", without, with,
              100 * (with / without - 1));
  std::vector<recorded::events> seen(std::size_t{blocks} * warps);
  check(cudaMemcpy(seen.data(), out, seen.size() * sizeof(seen[0]), cudaMemcpyDeviceToHost), "reading");
  mgsync::kernel_timeline timeline({"load", "wait", "work"}, "sum_chunks");
  for (const auto& warp : seen) timeline.add(warp);
  const std::string folder = argc > 1 ? argv[1] : ".";
  std::ofstream(folder + "/recording.json") << timeline.recording();
  std::ofstream(folder + "/trace.json") << timeline.trace();
  // The loading lane's stamps are all there, though no other lane of its warp made any.
  for (const auto& warp : seen)
    if (warp.stamped != (warp.warp == 4 ? 2 * chunks : 4 * chunks)) return 1;
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "recorded_kernel: %s\n", error.what());
  return 1;
}
