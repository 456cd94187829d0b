// What happens when in a block of four warps: paper 002's region (store to shared memory, barrier, load),
// stamped by mgsync/timeline.cuh; and what a stamp costs. Usage: event_timeline
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

#include <cuda_runtime_api.h>

#include <mgsync/timeline.cuh>

namespace {

constexpr unsigned threads = 128, capacity = 64;
using events = mgsync::warp_events<capacity>;
enum event_id : std::uint32_t { start, stored, passed, stop };
constexpr const char* names[] = {"START", "STORED", "PASSED", "STOP"};

void check(cudaError_t status, const char* what) {
  if (status != cudaSuccess) throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(status));
}

__global__ void region(events* out, std::uint32_t* sums) {
  __shared__ mgsync::event_buffer<threads / 32, capacity> buffer;
  __shared__ volatile std::uint32_t words[threads];
  mgsync::event_recorder recorder(buffer);
  std::uint32_t sum = 0;
  for (int pass = 0; pass < 3; ++pass) {  // the last one finds the instructions cached
    __syncthreads();
    recorder.stamp(start);
    words[threadIdx.x] = threadIdx.x;
    recorder.stamp(stored);
    __syncthreads();
    recorder.stamp(passed);
    const std::uint32_t word = words[threadIdx.x ^ 32];
    recorder.stamp(stop, word);
    sum += word;
  }
  sums[threadIdx.x] = sum;
  recorder.flush(out);
}

// `stamps` stamps between two reads of the clock: the difference of two such lengths over their distance is
// what one costs.
template <class Events, class Buffer, int Stamps>
__global__ void row_of_stamps(Events* out, std::uint64_t* cycles) {
  __shared__ Buffer buffer;
  mgsync::event_recorder recorder(buffer);
  for (int pass = 0; pass < 3; ++pass) {
    const auto begin = clock64();
#pragma unroll
    for (int i = 0; i < Stamps; ++i) recorder.stamp(static_cast<std::uint32_t>(i));
    const auto end = clock64();
    if (threadIdx.x == 0) *cycles = static_cast<std::uint64_t>(end - begin);
  }
  recorder.flush(out);
}

template <class T>
T* on_gpu(std::size_t count) {
  void* at = nullptr;
  check(cudaMalloc(&at, count * sizeof(T)), "allocating");
  check(cudaMemset(at, 0, count * sizeof(T)), "clearing");
  return static_cast<T*>(at);
}
template <class T>
std::vector<T> from_gpu(const T* at, std::size_t count) {
  std::vector<T> all(count);
  check(cudaMemcpy(all.data(), at, count * sizeof(T), cudaMemcpyDeviceToHost), "running and reading");
  return all;
}

void print_region() {
  auto* const out = on_gpu<events>(threads / 32);
  auto* const sums = on_gpu<std::uint32_t>(threads);
  region<<<1, threads>>>(out, sums);
  check(cudaGetLastError(), "launching");
  const auto warps = from_gpu(out, threads / 32);
  std::uint64_t first = ~std::uint64_t{0};
  constexpr std::uint32_t per_pass = 4;
  for (const auto& w : warps) first = std::min(first, w[w.kept() - per_pass].clock);
  std::printf("warp  SM");
  for (const char* name : names) std::printf("  %6s", name);
  std::printf("   (cycles from the first stamp)\n");
  for (const auto& w : warps) {
    std::printf("%4u  %2u", w.warp, w.sm);
    for (std::uint32_t i = w.kept() - per_pass; i < w.kept(); ++i)
      std::printf("  %6lld", static_cast<long long>(w[i].clock - first));
    std::printf("%s\n", w.lost() != 0 ? "  (older stamps are gone)" : "");
  }
  check(cudaFree(out), "freeing");
  check(cudaFree(sums), "freeing");
}

template <bool WithTimer>
double cycles_per_stamp() {
  using Events = mgsync::warp_events<capacity, WithTimer>;
  using Buffer = mgsync::event_buffer<1, capacity, WithTimer>;
  auto* const out = on_gpu<Events>(1);
  auto* const cycles = on_gpu<std::uint64_t>(1);
  constexpr int shorter = 4, longer = 36;
  row_of_stamps<Events, Buffer, shorter><<<1, 32>>>(out, cycles);
  const double few = static_cast<double>(from_gpu(cycles, 1).front());
  row_of_stamps<Events, Buffer, longer><<<1, 32>>>(out, cycles);
  const double many = static_cast<double>(from_gpu(cycles, 1).front());
  check(cudaFree(out), "freeing");
  check(cudaFree(cycles), "freeing");
  return (many - few) / (longer - shorter);
}

}  // namespace

int main() try {
  int gpus = 0;
  if (cudaGetDeviceCount(&gpus) != cudaSuccess || gpus == 0) {
    std::printf("no GPU here: nothing was run\n");
    return 77;
  }
  print_region();
  const double plain = cycles_per_stamp<false>(), timed = cycles_per_stamp<true>();
  std::printf("a stamp costs %.1f cycles, with the GPU's timer %.1f\n", plain, timed);
  return plain < 40 ? 0 : 1;  // a stamp that costs more is no use for what takes hundreds of cycles
} catch (const std::exception& error) {
  std::fprintf(stderr, "event_timeline: %s\n", error.what());
  return 1;
}
