// Barriers that are written for `mgsync check`, for `mgsync audit --model`. Compiled by make_code.sh; never
// run.
#include <mgsync/check.cuh>

namespace contract {

using mgsync::check::position;

// A counter in member 0's memory. Fences: none, of its GPU, of the system.
template <int Fence>
struct counted {
  static constexpr const char* name = "counted";
  static constexpr std::size_t bytes = 4;
  position at;

  __device__ static void fence() {
    if constexpr (Fence == 2) __threadfence_system();
    if constexpr (Fence == 1) __threadfence();
  }
  __device__ bool arrive_and_wait() {
    at.epoch += 1;
    __syncthreads();
    bool ok = true;
    if (threadIdx.x == 0) {
      fence();
      atomicAdd_system(at.part<unsigned>(0), 1u);
      while (ok && *static_cast<volatile unsigned*>(at.part<unsigned>(0)) < at.epoch * at.workers)
        ok = at.go_on();
      fence();
    }
    return __syncthreads_and(ok) != 0;
  }
};

// Every block tells every member, which polls a word of each block of the same number.
struct in_turn {
  static constexpr const char* name = "in-turn";
  static constexpr std::size_t bytes = 4096;
  static constexpr auto orders = mgsync::check::extent::equal_blocks;
  position at;

  __device__ void arrive() {
    at.epoch += 1;
    __syncthreads();
    __threadfence_system();
    if (threadIdx.x < at.members) store(at.part<unsigned>(threadIdx.x) + 32 * at.block + at.member);
  }
  __device__ bool wait() {
    bool ok = true;
    if (threadIdx.x < at.members)
      while (ok && load(at.part<unsigned>(at.member) + 32 * at.block + threadIdx.x) < at.epoch)
        ok = at.go_on();
    return __syncthreads_and(ok) != 0;
  }

 private:
  __device__ void store(unsigned* to) const {
    asm volatile("st.relaxed.sys.global.u32 [%0], %1;" ::"l"(to), "r"(at.epoch) : "memory");
  }
  __device__ static unsigned load(const unsigned* from) {
    unsigned v;
    asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(v) : "l"(from) : "memory");
    return v;
  }
};

// A counter whose additions and polls reach one GPU, in a loop that looks at what it got as it begins.
struct of_one_gpu {
  static constexpr const char* name = "of-one-gpu";
  static constexpr std::size_t bytes = 4;
  position at;

  __device__ bool arrive_and_wait() {
    at.epoch += 1;
    __syncthreads();
    bool ok = true;
    if (threadIdx.x == 0) {
      unsigned* const all = at.part<unsigned>(0);
      const unsigned target = at.epoch * at.workers;
      asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(all) : "memory");
      for (unsigned seen = target - 1; ok && seen < target; ok = seen >= target || at.go_on())
        asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(all) : "memory");
    }
    return __syncthreads_and(ok) != 0;
  }
};

// Its memory is what start() makes it, which PTX does not say.
struct started : in_turn {
  __device__ explicit started(const position& p) : in_turn{p} {}
  static constexpr const char* name = "started";
  static void start(void*, unsigned, const mgsync::check::shape&) {}
};

// Maximum is an operation that the interpreter of PTX does not know.
struct by_maximum {
  static constexpr const char* name = "by-maximum";
  static constexpr std::size_t bytes = 4;
  position at;
  __device__ void arrive_and_wait() {
    __threadfence_system();
    atomicMax_system(at.part<unsigned>(0), ++at.epoch);
  }
};

}  // namespace contract

using counted_without_order = contract::counted<0>;
using counted_in_its_gpu = contract::counted<1>;
using counted_right = contract::counted<2>;
MGSYNC_CHECK_BARRIER(counted_without_order, counted_in_its_gpu, counted_right, contract::in_turn,
                     contract::of_one_gpu, contract::started, contract::by_maximum)
