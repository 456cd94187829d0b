#include "tests/gpu/library_kernels.hpp"

#include <mgsync/multi_grid.cuh>

namespace mgsync::test {

namespace {

// Registers are capped so that a whole SM of threads stays resident: 2048 on data-centre GPUs, fewer on others.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ != 700 && __CUDA_ARCH__ != 800 && __CUDA_ARCH__ != 900 && \
    __CUDA_ARCH__ / 100 != 10
constexpr unsigned resident_at_most_threads = 1;
#else
constexpr unsigned resident_at_most_threads = 2;
#endif

__device__ unsigned block_rank() { return blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z); }
__device__ unsigned thread_number() { return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z); }

__device__ bool pass(multi_grid_group& grids, way how, unsigned round) {
  const bool split = how == way::split || (how == way::mixed && round % 3 != 0);
  return split ? grids.barrier_wait(grids.barrier_arrive()) : grids.sync();
}

__global__ void __launch_bounds__(1024, resident_at_most_threads) check_rounds(multi_grid_handle handle, board slots, unsigned first, unsigned rounds, way how, findings* found) {
  auto grids = this_multi_grid(handle);
  const unsigned blocks = gridDim.x * gridDim.y * gridDim.z, threads = blockDim.x * blockDim.y * blockDim.z;
  const unsigned self = block_rank(), thread = thread_number();
  const auto rank = (static_cast<unsigned long long>(handle.rank) * blocks + self) * threads + thread;
  const bool right = grids.grid_rank() == handle.rank && grids.is_valid() && grids.thread_rank() == rank;
  const auto many_right = static_cast<unsigned>(__syncthreads_count(right));
  if (thread == 0) atomicAdd(&found->ranks, many_right);
  if (self == 0 && thread == 0) {
    found->size = static_cast<unsigned>(grids.size());
    found->grids = grids.num_grids();
  }
  unsigned wrong = 0;
  for (unsigned round = first; round != first + rounds; ++round) {
    const unsigned slot = round % 2 * blocks;
    if (thread == threads - 1) slots.parts[grids.grid_rank()][slot + self] = round;
    if (!pass(grids, how, round)) {
      if (thread == 0) atomicAdd(&found->given_up, 1u);
      break;
    }
    const unsigned workers = grids.num_grids() * blocks;
    for (unsigned i = thread; i < min(workers, 64u); i += threads) {
      const unsigned other = (self + i * 97 + round) % workers;
      if (slots.parts[other / blocks][slot + other % blocks] != round) ++wrong;
    }
  }
  if (wrong != 0) atomicAdd(&found->wrong, static_cast<unsigned long long>(wrong));
}

__global__ void leave_early(multi_grid_handle handle, unsigned rank, unsigned late, unsigned when, unsigned rounds, findings* found) {
  multi_grid_group grids(handle);
  unsigned failed = 0;
  for (unsigned round = 0; round < rounds; ++round) {
    if (grids.grid_rank() == rank && (late == every_block || block_rank() == late) && round == when) return;
    if (!grids.sync()) ++failed;
  }
  __shared__ unsigned of_the_first;  // all threads of a block leave every barrier alike
  if (thread_number() == 0) of_the_first = failed;
  __syncthreads();
  if (failed != of_the_first || grids.is_valid() != (failed == 0)) atomicAdd(&found->wrong, 1ull);
  if (thread_number() == 0) {
    atomicMax(&found->given_up, failed);
    atomicAdd(&found->passed, rounds - failed);
  }
}

// As a function of a kernel's would that does not know of the kernel's own group.
__device__ unsigned passed_by_another_group(const multi_grid_handle& handle, unsigned rounds, findings* found) {
  auto grids = this_multi_grid(handle);
  unsigned passed = 0;
  for (unsigned round = 0; round < rounds; ++round)
    if (round % 2 == 0 ? grids.sync() : grids.barrier_wait(grids.barrier_arrive())) ++passed;
  if (grids.is_valid() != (passed == rounds)) atomicAdd(&found->wrong, 1ull);
  return passed;
}

__global__ void nest(multi_grid_handle handle, bool within, unsigned rounds, findings* found) {
  unsigned after = 0, before = 0, inner = 0;
  {
    auto grids = this_multi_grid(handle);
    for (unsigned round = 0; round < rounds; ++round) before += grids.sync() ? 1 : 0;
    if (within) inner = passed_by_another_group(handle, rounds, found);
    for (unsigned round = 0; round < rounds; ++round) after += grids.sync() ? 1 : 0;
  }
  if (!within) inner = passed_by_another_group(handle, rounds, found);
  __shared__ unsigned of_the_first;  // all threads of a block leave every barrier alike
  const unsigned all = before | inner << 8 | after << 16;
  if (thread_number() == 0) of_the_first = all;
  __syncthreads();
  if (all != of_the_first || before != rounds) atomicAdd(&found->wrong, 1ull);
  if (thread_number() == 0) {
    atomicAdd(&found->passed, inner);
    atomicMax(&found->given_up, rounds - after);
  }
}

__global__ void without_handle(int* unused) {
  if (unused != nullptr) *unused = 0;
}

}  // namespace

check_kernel check_rounds_kernel() { return check_rounds; }
leave_kernel leave_early_kernel() { return leave_early; }
nest_kernel nested_kernel() { return nest; }
const void* kernel_without_handle() { return reinterpret_cast<const void*>(without_handle); }

}  // namespace mgsync::test
