// Sums of doubles in shared memory by one block (000, figure 10 and tables III to V), between two reads of
// the SM's cycle counter: whole sums by 1 to 1024 threads, their loops alone, and the steps that combine the
// threads' sums. Every pass stores its sum.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include "src/probes/probe_kernels.hpp"
#include "src/probes/sum_arguments.hpp"

namespace {

namespace cg = cooperative_groups;
using namespace mgsync::probes;

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
constexpr int one_load = 1;
template <int How>
__device__ __forceinline__ double loop_over(const double* numbers, const asked_block& b) {
  double sum = 0;
  int i = static_cast<int>(threadIdx.x);
  if (i >= b.workers) return sum;
  if constexpr (How == one_load) {
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

extern __shared__ double in_shared[];  // the numbers, then a word per thread

__device__ __forceinline__ void take_numbers(const arguments& a, std::uint32_t count = most_numbers) {
  for (std::uint32_t i = threadIdx.x; i < count; i += blockDim.x)
    in_shared[i] = __longlong_as_double(static_cast<long long>(a.memory[numbers_at + i]));
  __syncthreads();
}

// A sum in the frame. Every pass stores it.
struct sum_work : work {
  __device__ __forceinline__ static warp_place place() { return {blockDim.x / 32, threadIdx.x / 32}; }
  static constexpr bool by_one_lane = true;
  double v = 0;
  __device__ __forceinline__ void ready(const arguments&) const { __syncthreads(); }
  __device__ __forceinline__ std::uint32_t value() const { return bits_of(v); }
  __device__ __forceinline__ void keep(const arguments& a, const pass_end& at) const {
    if (threadIdx.x == 0) a.memory[at.pass] = static_cast<std::uint64_t>(__double_as_longlong(v));
  }
};

// The loop alone; and with joining.
template <int How>
struct loop : asked_block {
  static constexpr std::uint32_t numbers = most_numbers_of_a_loop;
  using asked_block::asked_block;
  // Nobody has 0 workers. With shuffles behind it, as in a sum, the compiler orders the loads of a turn as
  // there: all four ahead of the first addition, which without them stands before the last load (65 in place
  // of 62 cycles).
  __device__ __forceinline__ double operator()() const {
    const double v = loop_over<How>(in_shared, *this);
    return this->workers == 0 ? sum_of_lanes(v) : v;
  }
};
template <int How>
struct sum : loop<How> {
  static constexpr std::uint32_t numbers = most_numbers;
  using loop<How>::loop;
  __device__ __forceinline__ double operator()() const {
    return joined(loop_over<How>(in_shared, *this), in_shared + most_numbers, this->workers);
  }
};

// Joining alone, so many times, after one turn of the loop: with its branches and reconvergence. Two buffers
// are used in turn, as warps that are done with one join already begin the next.
template <int Joins>
struct joins : asked_block {
  using asked_block::asked_block;
  __device__ __forceinline__ double operator()() const {
    double* tree = in_shared + most_numbers - most_workers;
    double v = loop_over<one_load>(in_shared, *this);
#pragma unroll
    for (int i = 0; i < Joins; ++i) v = joined(v, tree + i % 2 * most_workers, workers);
    return v;
  }
};

// Steps of the tree: a barrier of all threads, then the first `workers` load, add and store. Two buffers are
// used in turn, so that the same threads can do every step.
template <int Steps>
struct tree_steps {
  bool mine;
  __device__ explicit tree_steps(const arguments& a)
      : mine(static_cast<int>(threadIdx.x) < asked_block(a).workers) {}
  __device__ __forceinline__ double operator()() const {
    double* tree = in_shared;
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
  }
};
template <int Steps>
struct shuffle_steps {
  __device__ explicit shuffle_steps(const arguments&) {}
  __device__ __forceinline__ double operator()() const {
    double v = in_shared[threadIdx.x];
#pragma unroll
    for (int step = 0; step < Steps; ++step) v += __shfl_xor_sync(0xffffffffu, v, 1 << (step % 5));
    return v;
  }
};
// The block barrier alone, and shuffles alone: the parts of the paper's Lat_sync.
template <int Steps>
struct barriers {
  __device__ explicit barriers(const arguments&) {}
  __device__ __forceinline__ double operator()() const {
#pragma unroll
    for (int step = 0; step < Steps; ++step) __syncthreads();
    return in_shared[threadIdx.x];
  }
};
template <int Steps>
struct shuffles {
  __device__ explicit shuffles(const arguments&) {}
  __device__ __forceinline__ double operator()() const {
    double v = in_shared[threadIdx.x];
#pragma unroll
    for (int step = 0; step < Steps; ++step) v = __shfl_xor_sync(0xffffffffu, v, 1 << (step % 5));
    return v;
  }
};

// The forms of these sums: of one kernel, and of so many steps.
template <class Sum>
struct sum_of_block : sum_work {
  Sum sum;
  __device__ explicit sum_of_block(const arguments& a) : sum(a) {}
  __device__ __forceinline__ void run() { v = sum(); }
};
template <class Sum, int>
__device__ __forceinline__ void whole_sum(const arguments& a) {
  if constexpr (requires { Sum::numbers; }) take_numbers(a, Sum::numbers);
  else take_numbers(a);
  sum_of_block<Sum> work(a);
  timed_passes<reads::wait_for_result>(a, work);
}
template <template <int> class Steps, int Count>
__device__ __forceinline__ void steps(const arguments& a) {
  whole_sum<Steps<Count>, alone>(a);
}

// Table V: one warp adds up 32 numbers in shared memory. Each way works on a copy, which is made anew before
// each pass.
template <class Way>
inline constexpr bool is_held = requires {
  Way::of_number(0.0);
};
// The same address, of which the compiler does not know how it came about: so that it works it out here,
// ahead of the clock, and for all ways alike.
__device__ __forceinline__ double* in_a_register(double* s) {
  auto at = static_cast<std::uint32_t>(__cvta_generic_to_shared(s));
  asm volatile("" : "+r"(at));
  return static_cast<double*>(__cvta_shared_to_generic(at));
}
template <class Way, class Numbers>
struct sum_of_warp : sum_work {
  __device__ __forceinline__ static warp_place place() { return {gridDim.x, 0}; }
  Numbers copy;
  double held = 0;  // a way that begins with its number in a register: it is loaded ahead of the first read
  __device__ explicit sum_of_warp(Numbers at) : copy(at) {}
  __device__ __forceinline__ void ready(const arguments&) {
    copy[threadIdx.x] = in_shared[threadIdx.x];
    __syncthreads();
    if constexpr (is_held<Way>) held = copy[threadIdx.x];
    if constexpr (requires { *copy; }) copy = in_a_register(copy);
  }
  __device__ __forceinline__ std::uint32_t operands() const { return bits_of(held); }
  __device__ __forceinline__ void run() {
    if constexpr (is_held<Way>) v = Way::of_number(held);
    else v = Way::of(copy, threadIdx.x);
  }
  __device__ __forceinline__ void keep(const arguments& a, const pass_end& at) const {
    sum_work::keep(a, at);
    __syncthreads();
  }
};
template <class Way, int>
__device__ __forceinline__ void warp_sum(const arguments& a) {
  take_numbers(a);
  sum_of_warp<Way, double*> work(in_shared + most_numbers);
  timed_passes<is_held<Way> ? reads::wait_for_both : reads::wait_for_result>(a, work);
}

#if __CUDA_ARCH__ >= 900
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
template <class Way, int>
__device__ __forceinline__ void remote_warp_sum(const arguments& a) {
  const auto meet = [] {
    asm volatile("barrier.cluster.arrive.aligned;\n barrier.cluster.wait.aligned;" ::: "memory");
  };
  meet();
  if (blockIdx.x == 0) {
    take_numbers(a);
    sum_of_warp<Way, remote_numbers> work(remote_numbers(in_shared + most_numbers, 1));
    timed_passes<reads::wait_for_result>(a, work);
  }
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

#define MGSYNC_WAY_OF(name, Numbers, ...)                                                                    \
  struct name {                                                                                              \
    __device__ __forceinline__ static double of(Numbers s, std::uint32_t lane) { __VA_ARGS__ }               \
  };
MGSYNC_WAY_OF(serial_way, double*, double sum = 0; if (lane == 0) for (int i = 0; i < 32; ++i) sum += s[i];
              return sum;)
MGSYNC_WAY_OF(nosync_way, double*, return by_halves(s, lane, [] {});)
MGSYNC_WAY_OF(volatile_way, double*, return by_halves(static_cast<volatile double*>(s), lane, [] {});)
MGSYNC_WAY_OF(tile_way, double*, const auto tile = cg::tiled_partition<32>(cg::this_thread_block());
              return by_halves(s, lane, [&] { tile.sync(); });)
MGSYNC_WAY_OF(coalesced_way, double*, const auto group = cg::coalesced_threads();
              return by_halves(s, lane, [&] { group.sync(); });)
MGSYNC_WAY_OF(tile_shuffle_way, double*, const auto tile = cg::tiled_partition<32>(cg::this_thread_block());
              double v = s[lane]; for (int step = 16; step > 0; step /= 2) v += tile.shfl_down(v, step);
              return v;)
struct tile_shuffle_held_way {
  __device__ __forceinline__ static double of_number(double v) {
    const auto tile = cg::tiled_partition<32>(cg::this_thread_block());
    for (int step = 16; step > 0; step /= 2) v += tile.shfl_down(v, step);
    return v;
  }
};
MGSYNC_WAY_OF(coalesced_shuffle_way, double*, const auto group = cg::coalesced_threads(); double v = s[lane];
              for (int step = 16; step > 0; step /= 2) v += group.shfl_down(v, step); return v;)
// The group is made anew in each step, of the lanes that still add.
MGSYNC_WAY_OF(
    coalesced_remade_way, double*, double v = s[lane];
    for (std::uint32_t step = 16; step > 0; step /= 2) if (lane < 2 * step) {
      const auto group = cg::coalesced_threads();
      v += group.shfl_down(v, step);
    } return v;)
MGSYNC_WAY_OF(raw_shuffle_way, double*, return sum_of_lanes(s[lane]);)
MGSYNC_WAY_OF(group_reduce_way, double*,
              return cg::reduce(cg::tiled_partition<32>(cg::this_thread_block()), s[lane],
                                cg::plus<double>());)
MGSYNC_WAY_OF(raw_shuffle_fp32_way, double*, return as<float>(s, lane, [](float v) {
                for (int step = 16; step > 0; step /= 2) v += __shfl_xor_sync(0xffffffffu, v, step);
                return v;
              });)
MGSYNC_WAY_OF(raw_shuffle_int32_way, double*, return as<int>(s, lane, [](int v) {
                for (int step = 16; step > 0; step /= 2) v += __shfl_xor_sync(0xffffffffu, v, step);
                return v;
              });)
#if __CUDA_ARCH__ >= 900
MGSYNC_WAY_OF(remote_tile_way, remote_numbers, return by_halves(s, lane, [] { __syncwarp(); });)
MGSYNC_WAY_OF(remote_shuffle_way, remote_numbers, return sum_of_lanes(s[lane]);)
#endif
#if __CUDA_ARCH__ >= 800
MGSYNC_WAY_OF(redux_int32_way, double*,
              return as<int>(s, lane, [](int v) { return __reduce_add_sync(0xffffffffu, v); });)
#endif

}  // namespace

#include "src/probes/catalogue/block_sums.inc"
