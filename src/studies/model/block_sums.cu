// Sums of doubles in shared memory by one block (000, figure 10 and tables III to V), between two reads of
// the SM's cycle counter: whole sums by 1 to 1024 threads, their loops alone, and the steps that combine the
// threads' sums. Every pass stores its sum.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include "src/probes/probe_frame.hpp"
#include "src/studies/model/block_arguments.hpp"

namespace {

namespace cg = cooperative_groups;
using mgsync::model::most_numbers;
using mgsync::model::most_workers;
using mgsync::model::numbers_at;
using mgsync::probes::arguments;

__device__ __forceinline__ std::uint32_t bits_of(double v) {
  return static_cast<std::uint32_t>(__double2hiint(v)) ^ static_cast<std::uint32_t>(__double2loint(v));
}

// What a pass is asked for.
struct asked_block {
  int count, workers;  // signed, as in the paper, so that the compiler may assume no overflow and unroll
  __device__ explicit asked_block(const arguments& a) {
    const std::uint32_t words = a.held->loops;  // in memory, so that it is loaded once: an argument would be
                                                // fetched between the clock reads
    count = static_cast<int>(words & 0xffffu);
    workers = static_cast<int>(words >> 16);
  }
};

// The loop of figure 10: as the compiler unrolls it, or one load at a time.
template <bool OneLoad>
__device__ __forceinline__ double loop(const double* numbers, const asked_block& b) {
  double sum = 0;
  int i = static_cast<int>(threadIdx.x);
  if (i >= b.workers) return sum;
  if constexpr (OneLoad) {
#pragma unroll 1
    while (i < b.count) {
      sum += numbers[i];
      i += b.workers;
    }
  } else {
    while (i < b.count) {
      sum += numbers[i];
      i += b.workers;
    }
  }
  return sum;
}

__device__ __forceinline__ double sum_of_lanes(double v) {
#pragma unroll
  for (int step = 16; step > 0; step /= 2) v += __shfl_xor_sync(0xffffffffu, v, step);
  return v;
}

// Combines the sums of the threads: through shared memory down to one warp, with a block barrier per step,
// then by shuffles.
__device__ __forceinline__ double joined(double v, double* tree, int workers) {
  if (workers == 1) return v;
  if (workers > 32) {
    tree[threadIdx.x] = v;
    for (int step = workers / 2; step >= 32; step /= 2) {
      __syncthreads();
      if (static_cast<int>(threadIdx.x) < step) {
        v += tree[threadIdx.x + step];
        tree[threadIdx.x] = v;
      }
    }
    if (threadIdx.x >= 32) return v;
  }
  return sum_of_lanes(v);
}

template <class Work>
__device__ __forceinline__ void passes_of(const arguments& a, Work work) {
  const std::uint32_t warps = blockDim.x / 32, warp = threadIdx.x / 32, sm_before = mgsync::probes::this_sm();
  const std::uint32_t never = a.held->never, passes = a.passes;
  std::uint64_t begin = 0, end = 0;
  double v = 0;
#pragma unroll 1
  for (std::uint32_t pass = 0; pass < passes; ++pass) {
    __syncthreads();
    begin = mgsync::probes::clock_now();
    v = work();
    end = mgsync::probes::clock_after(bits_of(v), never);
    const auto behind = static_cast<std::uint32_t>(end >> 63);
    if (threadIdx.x % 32 == 0)
      a.stamps[static_cast<std::size_t>(pass + behind) * warps + warp + behind] = {begin, end};
    if (threadIdx.x == 0) a.memory[pass + behind] = static_cast<std::uint64_t>(__double_as_longlong(v));
  }
  if (threadIdx.x % 32 != 0) return;
  a.sms[warp] = sm_before;
  a.sms[warps + warp] = mgsync::probes::this_sm();
}

extern __shared__ double in_shared[];  // the numbers, then a word per thread

__device__ __forceinline__ void take_numbers(const arguments& a) {
  for (std::uint32_t i = threadIdx.x; i < most_numbers; i += blockDim.x)
    in_shared[i] = __longlong_as_double(static_cast<long long>(a.memory[numbers_at + i]));
  __syncthreads();
}

template <bool OneLoad, bool Join>
__device__ __forceinline__ void block_sum(const arguments& a) {
  take_numbers(a);
  const asked_block b(a);
  double* tree = in_shared + most_numbers;
  passes_of(a, [&] {
    const double mine = loop<OneLoad>(in_shared, b);
    return Join ? joined(mine, tree, b.workers) : mine;
  });
}

// Joining alone, `Joins` times, after one turn of the loop: with its branches and reconvergence. Two buffers
// are used in turn, as warps that are done with one join already begin the next.
template <int Joins>
__device__ __forceinline__ void joins(const arguments& a) {
  take_numbers(a);
  const asked_block b(a);
  double* tree = in_shared + most_numbers - most_workers;
  passes_of(a, [&] {
    double v = loop<true>(in_shared, b);
#pragma unroll
    for (int i = 0; i < Joins; ++i) v = joined(v, tree + i % 2 * most_workers, b.workers);
    return v;
  });
}

// Steps of the tree: a barrier of all threads, then the first `workers` load, add and store. Two buffers are
// used in turn, so that the same threads can do every step.
template <int Steps>
__device__ __forceinline__ void tree_steps(const arguments& a) {
  take_numbers(a);
  const asked_block b(a);
  double* tree = in_shared;
  const bool mine = static_cast<int>(threadIdx.x) < b.workers;
  passes_of(a, [&] {
    double v = tree[threadIdx.x];
#pragma unroll
    for (int step = 0; step < Steps; ++step) {
      __syncthreads();
      if (mine) {
        v += tree[(step & 1) * 1024 + (threadIdx.x ^ 32)];
        tree[(1 - (step & 1)) * 1024 + threadIdx.x] = v;
      }
    }
    return v;
  });
}

template <int Steps>
__device__ __forceinline__ void shuffle_steps(const arguments& a) {
  take_numbers(a);
  passes_of(a, [&] {
    double v = in_shared[threadIdx.x];
#pragma unroll
    for (int step = 0; step < Steps; ++step) v += __shfl_xor_sync(0xffffffffu, v, 1 << (step % 5));
    return v;
  });
}

// The block barrier alone, and shuffles alone: the parts of the paper's Lat_sync.
template <int Steps>
__device__ __forceinline__ void barriers(const arguments& a) {
  take_numbers(a);
  passes_of(a, [&] {
#pragma unroll
    for (int step = 0; step < Steps; ++step) __syncthreads();
    return in_shared[threadIdx.x];
  });
}
template <int Steps>
__device__ __forceinline__ void shuffles(const arguments& a) {
  take_numbers(a);
  passes_of(a, [&] {
    double v = in_shared[threadIdx.x];
#pragma unroll
    for (int step = 0; step < Steps; ++step) v = __shfl_xor_sync(0xffffffffu, v, 1 << (step % 5));
    return v;
  });
}

// Table V: one warp adds up 32 numbers in shared memory. Each way works on a copy, which is made anew before
// each pass.
template <class Numbers, class Work>
__device__ __forceinline__ void warp_sum_of(const arguments& a, Numbers copy, Work work) {
  take_numbers(a);
  const std::uint32_t never = a.held->never, passes = a.passes, lane = threadIdx.x;
  std::uint64_t begin = 0, end = 0;
#pragma unroll 1
  for (std::uint32_t pass = 0; pass < passes; ++pass) {
    copy[lane] = in_shared[lane];
    __syncthreads();
    begin = mgsync::probes::clock_now();
    const double v = work(copy, lane);
    end = mgsync::probes::clock_after(bits_of(v), never);
    const auto behind = static_cast<std::uint32_t>(end >> 63);
    if (lane == 0) {
      a.stamps[static_cast<std::size_t>(pass + behind) * gridDim.x] = {begin, end};
      a.memory[pass + behind] = static_cast<std::uint64_t>(__double_as_longlong(v));
    }
    __syncthreads();
  }
  if (lane != 0) return;
  a.sms[0] = a.sms[gridDim.x] = mgsync::probes::this_sm();
}
template <class Work>
__device__ __forceinline__ void warp_sum(const arguments& a, Work work) {
  warp_sum_of(a, in_shared + most_numbers, work);
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
// The same with the copy in the shared memory of the cluster's other block, which only stays resident.
class remote_numbers {
 public:
  class shared_double {
   public:
    __device__ explicit shared_double(std::uint32_t at) : at_(at) {}
    __device__ operator double() const {
      double v;
      asm volatile("ld.shared::cluster.f64 %0, [%1];" : "=d"(v) : "r"(at_) : "memory");
      return v;
    }
    __device__ void operator=(double v) const {
      asm volatile("st.shared::cluster.f64 [%0], %1;" ::"r"(at_), "d"(v) : "memory");
    }

   private:
    std::uint32_t at_;
  };
  __device__ remote_numbers(const double* mine, std::uint32_t block) {
    const auto here = static_cast<std::uint32_t>(__cvta_generic_to_shared(mine));
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(at_) : "r"(here), "r"(block));
  }
  __device__ shared_double operator[](std::uint32_t i) const { return shared_double(at_ + 8 * i); }

 private:
  std::uint32_t at_;
};
template <class Work>
__device__ __forceinline__ void remote_warp_sum(const arguments& a, Work work) {
  const auto meet = [] {
    asm volatile("barrier.cluster.arrive.aligned;\n barrier.cluster.wait.aligned;" ::: "memory");
  };
  meet();
  if (blockIdx.x == 0) warp_sum_of(a, remote_numbers(in_shared + most_numbers, 1), work);
  meet();
}
#endif

// In each step the lanes below `step` add what the lanes above hold; `together` is called between the steps.
template <class Numbers, class Together>
__device__ __forceinline__ double by_halves(Numbers s, std::uint32_t lane, Together together) {
#pragma unroll
  for (std::uint32_t step = 16; step > 0; step /= 2) {
    if (lane < step) s[lane] = s[lane] + s[lane + step];
    together();
  }
  return s[0];
}

template <class Number, class Sum>
__device__ __forceinline__ double as(const double* s, std::uint32_t lane, Sum sum) {
  return static_cast<double>(sum(static_cast<Number>(s[lane])));
}

}  // namespace

#define MGSYNC_KERNEL(name, body)                                                                            \
  extern "C" __global__ void name(const __grid_constant__ arguments a) { body; }
#define MGSYNC_WARP_SUM(name, ...)                                                                           \
  MGSYNC_KERNEL(warp_##name, warp_sum(a, [](double* s, std::uint32_t lane) -> double { __VA_ARGS__ }))

MGSYNC_KERNEL(sum_as_compiled, (block_sum<false, true>(a)))
MGSYNC_KERNEL(sum_one_load, (block_sum<true, true>(a)))
MGSYNC_KERNEL(loop_as_compiled, (block_sum<false, false>(a)))
MGSYNC_KERNEL(loop_one_load, (block_sum<true, false>(a)))
MGSYNC_KERNEL(joins_1, joins<1>(a))
MGSYNC_KERNEL(joins_2, joins<2>(a))
MGSYNC_KERNEL(joins_4, joins<4>(a))
MGSYNC_KERNEL(tree_steps_4, tree_steps<4>(a))
MGSYNC_KERNEL(tree_steps_8, tree_steps<8>(a))
MGSYNC_KERNEL(tree_steps_16, tree_steps<16>(a))
MGSYNC_KERNEL(barriers_4, barriers<4>(a))
MGSYNC_KERNEL(barriers_8, barriers<8>(a))
MGSYNC_KERNEL(barriers_16, barriers<16>(a))
MGSYNC_KERNEL(shuffles_4, shuffles<4>(a))
MGSYNC_KERNEL(shuffles_8, shuffles<8>(a))
MGSYNC_KERNEL(shuffles_16, shuffles<16>(a))
MGSYNC_KERNEL(shuffle_steps_4, shuffle_steps<4>(a))
MGSYNC_KERNEL(shuffle_steps_8, shuffle_steps<8>(a))
MGSYNC_KERNEL(shuffle_steps_16, shuffle_steps<16>(a))

MGSYNC_WARP_SUM(serial, double sum = 0; if (lane == 0) for (int i = 0; i < 32; ++i) sum += s[i]; return sum;)
MGSYNC_WARP_SUM(nosync, return by_halves(s, lane, [] {});)
MGSYNC_WARP_SUM(volatile, return by_halves(static_cast<volatile double*>(s), lane, [] {});)
MGSYNC_WARP_SUM(tile, const auto tile = cg::tiled_partition<32>(cg::this_thread_block());
                return by_halves(s, lane, [&] { tile.sync(); });)
MGSYNC_WARP_SUM(coalesced, const auto group = cg::coalesced_threads();
                return by_halves(s, lane, [&] { group.sync(); });)
MGSYNC_WARP_SUM(tile_shuffle, const auto tile = cg::tiled_partition<32>(cg::this_thread_block());
                double v = s[lane]; for (int step = 16; step > 0; step /= 2) v += tile.shfl_down(v, step);
                return v;)
MGSYNC_WARP_SUM(coalesced_shuffle, const auto group = cg::coalesced_threads(); double v = s[lane];
                for (int step = 16; step > 0; step /= 2) v += group.shfl_down(v, step); return v;)
// The group is made anew in each step, of the lanes that still add.
MGSYNC_WARP_SUM(
    coalesced_remade, double v = s[lane];
    for (std::uint32_t step = 16; step > 0; step /= 2) if (lane < 2 * step) {
      const auto group = cg::coalesced_threads();
      v += group.shfl_down(v, step);
    } return v;)
MGSYNC_WARP_SUM(raw_shuffle, return sum_of_lanes(s[lane]);)
MGSYNC_WARP_SUM(group_reduce, return cg::reduce(cg::tiled_partition<32>(cg::this_thread_block()), s[lane],
                                                cg::plus<double>());)
MGSYNC_WARP_SUM(raw_shuffle_fp32, return as<float>(s, lane, [](float v) {
                  for (int step = 16; step > 0; step /= 2) v += __shfl_xor_sync(0xffffffffu, v, step);
                  return v;
                });)
MGSYNC_WARP_SUM(raw_shuffle_int32, return as<int>(s, lane, [](int v) {
                  for (int step = 16; step > 0; step /= 2) v += __shfl_xor_sync(0xffffffffu, v, step);
                  return v;
                });)
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
MGSYNC_KERNEL(warp_remote_tile, remote_warp_sum(a, [](remote_numbers s, std::uint32_t lane) -> double {
                return by_halves(s, lane, [] { __syncwarp(); });
              }))
MGSYNC_KERNEL(warp_remote_shuffle, remote_warp_sum(a, [](remote_numbers s, std::uint32_t lane) -> double {
                return sum_of_lanes(s[lane]);
              }))
#endif
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
MGSYNC_WARP_SUM(redux_int32,
                return as<int>(s, lane, [](int v) { return __reduce_add_sync(0xffffffffu, v); });)
#endif
