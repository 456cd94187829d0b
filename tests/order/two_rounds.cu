// What users get: two rounds of the library's barrier around a word that every thread writes and another's
// that it reads. Compiled to PTX by make_ptx.sh; docs/memory-order.md says what is asked of it. Never run.
#include <mgsync/multi_grid.cuh>

namespace {

template <class Group>
__device__ __forceinline__ void meet(Group&& grids, bool in_two_calls, bool& passed) {
  if (in_two_calls) passed = grids.barrier_wait(grids.barrier_arrive());
  else passed = grids.sync();
}

template <class Group>
__device__ __forceinline__ void two_rounds_of(Group&& grids, bool in_two_calls, unsigned* mine,
                                              const unsigned* theirs) {
  unsigned seen;
  bool passed = grids.is_valid();
#pragma unroll
  for (unsigned round = 1; round <= 2; ++round) {
    if (!passed) return;
    asm volatile("st.weak.global.u32 [%0], %1;" ::"l"(mine), "r"(round) : "memory");
    meet(grids, in_two_calls, passed);
    if (!passed) return;
    asm volatile("ld.weak.global.u32 %0, [%1];" : "=r"(seen) : "l"(theirs) : "memory");
  }
  asm volatile("st.weak.global.u32 [%0], %1;" ::"l"(mine), "r"(3) : "memory");
}

}  // namespace

extern "C" __global__ void sync(const __grid_constant__ mgsync::multi_grid_handle handle, unsigned* mine,
                                const unsigned* theirs) {
  two_rounds_of(mgsync::this_multi_grid(handle), false, mine, theirs);
}
extern "C" __global__ void arrive_and_wait(const __grid_constant__ mgsync::multi_grid_handle handle,
                                           unsigned* mine, const unsigned* theirs) {
  two_rounds_of(mgsync::this_multi_grid(handle), true, mine, theirs);
}
extern "C" __global__ void sync_with_word(const __grid_constant__ mgsync::multi_grid_handle handle,
                                          unsigned* mine, const unsigned* theirs) {
  __shared__ std::uint32_t word;
  two_rounds_of(mgsync::this_multi_grid(handle, word), false, mine, theirs);
}
