#include "tests/gpu/library_kernels.hpp"

#include <mgsync/multi_grid.cuh>

namespace mgsync::test {

namespace {

// Registers are capped so that a whole SM of threads stays resident: 2048 on data-centre GPUs, fewer on
// others.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ != 700 && __CUDA_ARCH__ != 800 && __CUDA_ARCH__ != 900 &&        \
    __CUDA_ARCH__ / 100 != 10
constexpr unsigned resident_at_most_threads = 1;
#else
constexpr unsigned resident_at_most_threads = 2;
#endif

__device__ unsigned block_rank() { return blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z); }
__device__ unsigned thread_number() {
  return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}

template <class Group>
__device__ bool pass(Group& grids, way how, unsigned round) {
  const bool split = how == way::split || (how == way::mixed && round % 3 != 0);
  return split ? grids.barrier_wait(grids.barrier_arrive()) : grids.sync();
}

// f(group): every second block gives its group a word of shared memory.
template <class F>
__device__ __forceinline__ void with_a_group(const multi_grid_handle& handle, F f) {
  if (block_rank() % 2 == 0) {
    auto grids = this_multi_grid(handle);
    f(grids);
  } else {
    __shared__ std::uint32_t word;
    auto grids = this_multi_grid(handle, word);
    f(grids);
  }
}

// Of a way in which all blocks publish in every round.
struct all_publish {
  __device__ static bool publishes(unsigned, unsigned, unsigned, unsigned) { return true; }
  template <class Group>
  __device__ static bool finish(Group&, unsigned) {
    return true;
  }
};
struct in_one_or_two_calls : all_publish {
  template <class Group>
  __device__ __forceinline__ bool operator()(Group& grids, way how, unsigned round) const {
    return pass(grids, how, round);
  }
};
struct behind_less : all_publish {
  template <class Group>
  __device__ __forceinline__ bool operator()(Group& grids, way, unsigned) const {
    return grids.template sync<order::none>() && grids.template sync<order::acquire>() && grids.sync();
  }
};

struct by_looks : all_publish {
  template <class Group>
  __device__ __forceinline__ bool operator()(Group& grids, way, unsigned) const {
    auto token = grids.barrier_arrive();
    for (;;) {
      const waited now = grids.barrier_try_wait(token);
      if (now != waited::pending) return now == waited::passed;
    }
  }
};

// In turn one block of all releases, every third, all of one GPU, and none. What was read is released behind
// it, by rounds of three kinds in turn.
struct unlike {
  __device__ static bool publishes(unsigned worker, unsigned workers, unsigned blocks, unsigned round) {
    switch (round % 4) {
    case 0: return worker == round / 4 % workers;
    case 1: return (worker + round) % 3 == 0;
    case 2: return worker / blocks == round / 4 % (workers / blocks);
    default: return false;
    }
  }
  template <class Group>
  __device__ __forceinline__ bool operator()(Group& grids, way, unsigned round) const {
    const unsigned blocks = gridDim.x * gridDim.y * gridDim.z, workers = grids.num_grids() * blocks;
    const bool release = publishes(grids.grid_rank() * blocks + block_rank(), workers, blocks, round);
    return grids.sync_mixed(release ? order::acq_rel : order::acquire);
  }
  template <class Group>
  __device__ static bool finish(Group& grids, unsigned round) {
    if (round % 3 == 0) return grids.sync();
    if (round % 3 == 1) return grids.template sync<order::none>() && grids.sync_mixed(order::acq_rel);
    return grids.sync_mixed(order::release) && grids.sync_mixed(order::none) &&
           grids.sync_mixed(order::acq_rel);
  }
};

// Alike in all threads: what it found is wrong in all of them, or in none.
struct carrying : all_publish {
  template <class Group>
  __device__ __forceinline__ bool operator()(Group& grids, way, unsigned round) const {
    const unsigned long long rank = grids.thread_rank(), size = grids.size();
    switch (round % 7) {
    case 0: {
      const auto found = grids.sync_reduce(static_cast<std::uint32_t>(rank + round), by_sum{});
      return found && found.value == static_cast<std::uint32_t>(size * (size - 1) / 2 + size * round);
    }
    case 1: {
      const auto found = grids.sync_reduce(static_cast<int>(round) - static_cast<int>(rank), by_min{});
      return found && found.value == static_cast<int>(round) - static_cast<int>(size - 1);
    }
    case 2: {
      const auto found = grids.sync_reduce(std::uint64_t{round} << 32 | rank, by_max{});
      return found && found.value == (std::uint64_t{round} << 32 | (size - 1));
    }
    case 3: {
      const auto found = grids.sync_reduce(-static_cast<float>(rank % 4096) / 3 + round, by_max{});
      return found && found.value == static_cast<float>(round);
    }
    case 4: {
      const auto found = grids.sync_ballot(thread_number() == 7 && (grids.grid_rank() + round) % 2 != 0);
      std::uint64_t expected = 0;
      for (unsigned g = 0; g < grids.num_grids(); ++g) expected |= std::uint64_t{(g + round) % 2} << g;
      return found && found.value == expected;
    }
    case 5: {  // rounding depends on the order: all are to have the same bits
      const auto sum = grids.sync_reduce(1.0 / static_cast<double>(rank + round), by_sum{});
      const auto bits = static_cast<std::int64_t>(__double_as_longlong(sum.value));
      const auto least = grids.sync_reduce(bits, by_min{}), most = grids.sync_reduce(bits, by_max{});
      return sum && least && most && least.value == bits && most.value == bits;
    }
    default: return grids.sync();
    }
  }
};

template <class Pass, class Group>
__device__ __forceinline__ void check_rounds_of(Group& grids, const multi_grid_handle& handle,
                                                const board& slots, unsigned first, unsigned rounds, way how,
                                                findings* found) {
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
    const unsigned workers = grids.num_grids() * blocks;
    if (thread == threads - 1 && Pass::publishes(grids.grid_rank() * blocks + self, workers, blocks, round))
      slots.parts[grids.grid_rank()][slot + self] = round;
    if (!Pass{}(grids, how, round)) {
      if (thread == 0) atomicAdd(&found->given_up, 1u);
      break;
    }
    for (unsigned i = thread; i < min(workers, 64u); i += threads) {
      const unsigned other = (self + i * 97 + round) % workers;
      if (Pass::publishes(other, workers, blocks, round) &&
          slots.parts[other / blocks][slot + other % blocks] != round)
        ++wrong;
    }
    if (!Pass::finish(grids, round)) {
      if (thread == 0) atomicAdd(&found->given_up, 1u);
      break;
    }
  }
  if (wrong != 0) atomicAdd(&found->wrong, static_cast<unsigned long long>(wrong));
}

template <class Pass>
__global__ void __launch_bounds__(1024, resident_at_most_threads)
    check_rounds(const __grid_constant__ multi_grid_handle handle, const __grid_constant__ board slots,
                 unsigned first, unsigned rounds, way how, findings* found) {
  with_a_group(handle,
               [&](auto& grids) { check_rounds_of<Pass>(grids, handle, slots, first, rounds, how, found); });
}

// Blocks of 96 threads: the warps of `Who` meet, and each of them publishes and reads; the others write to
// shared memory for as long.
template <class Who>
__global__ void check_some(const __grid_constant__ multi_grid_handle handle,
                           const __grid_constant__ board slots, unsigned first, unsigned rounds, way,
                           findings* found) {
  constexpr unsigned begin = Who::threads == 32 ? 64 : 32, end = begin + Who::threads;
  __shared__ unsigned work[96];
  __shared__ unsigned done;
  const unsigned thread = thread_number(), blocks = gridDim.x, self = blockIdx.x;
  if (thread == 0) done = 0;
  __syncthreads();
  if (thread < begin || thread >= end) {
    for (unsigned i = 0; atomicAdd(&done, 0) == 0; ++i) work[thread] = i;
    return;
  }
  {
    auto grids = this_multi_grid(handle, Who{});
    unsigned wrong = grids.num_threads() == grids.num_grids() * blocks * Who::threads ? 0 : 1;
    const auto rank = (static_cast<unsigned long long>(handle.rank) * blocks + self) * Who::threads;
    if (grids.thread_rank() != rank + (thread - begin)) ++wrong;
    for (unsigned round = first; round != first + rounds; ++round) {
      const unsigned slot = round % 2 * blocks;
      if (thread == end - 1) slots.parts[grids.grid_rank()][slot + self] = round;
      if (!grids.sync()) {
        if (thread == begin) atomicAdd(&found->given_up, 1u);
        break;
      }
      const unsigned workers = grids.num_grids() * blocks, other = (self + thread * 97 + round) % workers;
      if (slots.parts[other / blocks][slot + other % blocks] != round) ++wrong;
    }
    if (wrong != 0) atomicAdd(&found->wrong, static_cast<unsigned long long>(wrong));
  }
  if (thread == begin) {
    atomicAdd(&found->passed, rounds);
    atomicExch(&done, 1u);
  }
}

template <class Group>
__device__ __forceinline__ void leave_early_of(Group& grids, unsigned rank, unsigned late, unsigned when,
                                               unsigned rounds, findings* found) {
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

__global__ void leave_early(const __grid_constant__ multi_grid_handle handle, unsigned rank, unsigned late,
                            unsigned when, unsigned rounds, findings* found) {
  with_a_group(handle, [&](auto& grids) { leave_early_of(grids, rank, late, when, rounds, found); });
}

// Blocks of four meet in a cluster too, where GPUs have them.
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
#define MGSYNC_TEST_CLUSTERS __cluster_dims__(4, 1, 1)
#else
#define MGSYNC_TEST_CLUSTERS
#endif
__global__ void __launch_bounds__(1024, 1) MGSYNC_TEST_CLUSTERS
    in_clusters(const __grid_constant__ multi_grid_handle handle, unsigned rank, unsigned late, unsigned when,
                unsigned rounds, findings* found) {
  with_a_group(handle, [&](auto& grids) { leave_early_of(grids, rank, late, when, rounds, found); });
}

// As a function of a kernel's would that does not know of the kernel's own group.
__device__ unsigned passed_by_another_group(const multi_grid_handle& handle, unsigned rounds,
                                            findings* found) {
  auto grids = this_multi_grid(handle);
  unsigned passed = 0;
  for (unsigned round = 0; round < rounds; ++round)
    if (round % 2 == 0 ? grids.sync() : grids.barrier_wait(grids.barrier_arrive())) ++passed;
  if (grids.is_valid() != (passed == rounds)) atomicAdd(&found->wrong, 1ull);
  return passed;
}

__global__ void nest(const __grid_constant__ multi_grid_handle handle, bool within, unsigned rounds,
                     findings* found) {
  unsigned after = 0, before = 0, inner = 0;
  with_a_group(handle, [&](auto& grids) {
    for (unsigned round = 0; round < rounds; ++round) before += grids.sync() ? 1 : 0;
    if (within) inner = passed_by_another_group(handle, rounds, found);
    for (unsigned round = 0; round < rounds; ++round) after += grids.sync() ? 1 : 0;
  });
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

// All of a block's dynamic shared memory, aligned as swizzled bulk copies want it, across the barriers.
__global__ void fill_shared(const __grid_constant__ multi_grid_handle handle, unsigned words, unsigned rounds,
                            findings* found) {
  extern __shared__ __align__(1024) unsigned all_of_it[];
  multi_grid_group grids(handle);
  unsigned wrong = static_cast<unsigned>(__cvta_generic_to_shared(all_of_it)) % 1024 == 0 ? 0 : 1, passed = 0;
  for (unsigned round = 0; round < rounds; ++round) {
    for (unsigned i = thread_number(); i < words; i += blockDim.x) all_of_it[i] = i + round;
    if (grids.sync()) ++passed;
    for (unsigned i = thread_number(); i < words; i += blockDim.x) wrong += all_of_it[i] == i + round ? 0 : 1;
  }
  if (wrong != 0) atomicAdd(&found->wrong, static_cast<unsigned long long>(wrong));
  if (thread_number() == 0) atomicAdd(&found->passed, passed);
}

__global__ void without_handle(int* unused) {
  if (unused != nullptr) *unused = 0;
}

}  // namespace

check_kernel check_rounds_kernel(way how) {
  switch (how) {
  case way::less: return check_rounds<behind_less>;
  case way::carries: return check_rounds<carrying>;
  case way::unlike: return check_rounds<unlike>;
  case way::looks: return check_rounds<by_looks>;
  case way::one_warp: return check_some<one_warp>;
  case way::some_warps: return check_some<some_warps<1, 32, 64>>;
  default: return check_rounds<in_one_or_two_calls>;
  }
}
leave_kernel leave_early_kernel() { return leave_early; }
leave_kernel in_clusters_kernel() { return in_clusters; }
nest_kernel nested_kernel() { return nest; }
fill_kernel fill_shared_kernel() { return fill_shared; }
const void* kernel_without_handle() { return reinterpret_cast<const void*>(without_handle); }

}  // namespace mgsync::test
