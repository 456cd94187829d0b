// How much later a kernel starts because it makes a group: ns a launch takes longer than that of an empty
// kernel, back to back, and the cycles of the group's making in one block. On one GPU; nobody waits for
// anybody, so its handle may be one of any number of GPUs, whose flags all lie here. Built by hand, from this
// tree or from an older one at ROOT, to compare what both print:
//     nvcc -std=c++20 -O3 -arch=native -I ROOT -I ROOT/barriers/library/include tests/gpu/kernel_start.cu \
//       ROOT/barriers/library/choice.cpp ROOT/barriers/parts/algorithm/grid_choice.cpp -o kernel_start
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <mgsync/multi_grid.cuh>

#include "barriers/library/choice.hpp"

namespace {

using mgsync::multi_grid_block;
using mgsync::multi_grid_handle;

__global__ void empty(unsigned long long*) {}
__global__ void joins(const __grid_constant__ multi_grid_handle handle, unsigned long long* cycles) {
  const long long before = clock64();
  auto grids = mgsync::this_multi_grid(handle);
  if (!grids.is_valid()) __trap();
  const long long after = clock64();
  if (threadIdx.x == 0 && blockIdx.x == 0) *cycles = static_cast<unsigned long long>(after - before);
}

void check(cudaError_t status) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(status));
  std::exit(1);
}
template <class T>
T* on_gpu(const std::vector<T>& from) {
  void* to = nullptr;
  check(cudaMalloc(&to, from.size() * sizeof from[0]));
  check(cudaMemcpy(to, from.data(), from.size() * sizeof from[0], cudaMemcpyDefault));
  return static_cast<T*>(to);
}

template <class Handle>
void tell_what_stops(Handle& handle, multi_grid_block& record, std::uint32_t* word) {
  record.watched = word;
  if constexpr (requires { handle.stopped; }) handle.stopped = word;  // before version 2
}
template <class Handle>
void tell_the_table(Handle& handle, const std::vector<std::uint32_t*>& parts) {
  if constexpr (requires { Handle::gpus_inside; })
    if (parts.size() > Handle::gpus_inside) handle.table = on_gpu(parts);
}

multi_grid_handle handle_of(unsigned gpus, unsigned blocks, unsigned sms) {
  const auto choice = mgsync::choose_multigrid(gpus, blocks, sms);
  std::uint32_t* const flags = on_gpu<std::uint32_t>(mgsync::image_of(choice, blocks));
  const std::vector<std::uint32_t*> parts(gpus, flags);
  auto handle = mgsync::describe(choice, parts.data(), 0, gpus, blocks);
  auto record = mgsync::fresh_block();
  record.generation = handle.generation = 1;
  tell_what_stops(handle, record, on_gpu(std::vector<std::uint32_t>{0}));
  tell_the_table(handle, parts);
  handle.records = on_gpu(std::vector<multi_grid_block>(blocks, record));
  return handle;
}

// The median of ns per launch.
template <class F>
double time_of(F launch) {
  constexpr int launches = 1000, batches = 31;
  cudaEvent_t begin, end;
  check(cudaEventCreate(&begin));
  check(cudaEventCreate(&end));
  std::vector<double> all;
  for (int b = 0; b < batches; ++b) {
    check(cudaEventRecord(begin));
    for (int i = 0; i < launches; ++i) launch();
    check(cudaEventRecord(end));
    check(cudaEventSynchronize(end));
    float ms = 0;
    check(cudaEventElapsedTime(&ms, begin, end));
    all.push_back(ms * 1e6 / launches);
  }
  std::nth_element(all.begin(), all.begin() + batches / 2, all.end());
  return all[batches / 2];
}

}  // namespace

int main() {
  int sms = 0;
  check(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
  auto* const cycles = on_gpu<unsigned long long>({0});
  std::printf("handle of %zu bytes\nGPUs blocks threads  ns/launch  ns more  cycles of the group's making\n",
              sizeof(multi_grid_handle));
  const unsigned all = static_cast<unsigned>(sms);
  for (const unsigned gpus : {1u, 2u, 8u, 12u})
    for (const auto& [blocks, threads] : {std::pair{1u, 32u}, {all, 32u}, {all, 1024u}, {8 * all, 256u}}) {
      const auto handle = handle_of(gpus, blocks, all);
      const double nothing = time_of([&] { empty<<<blocks, threads>>>(cycles); });
      const double joining = time_of([&] { joins<<<blocks, threads>>>(handle, cycles); });
      std::vector<unsigned long long> made(101);
      for (auto& one : made) {
        joins<<<blocks, threads>>>(handle, cycles);
        check(cudaMemcpy(&one, cycles, sizeof one, cudaMemcpyDefault));
      }
      std::nth_element(made.begin(), made.begin() + 50, made.end());
      std::printf("%4u %6u %7u %10.0f %8.0f %8llu\n", gpus, blocks, threads, joining, joining - nothing,
                  made[50]);
    }
  check(cudaDeviceSynchronize());
}
