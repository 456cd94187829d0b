// What users get: two rounds of the library's barrier around a word that every thread writes and another's
// that it reads. Compiled to PTX by make_ptx.sh; docs/memory-order.md says what is asked of it. Never run.
#include <mgsync/multi_grid.cuh>

namespace {

// `meet(grids)`: a round.
template <unsigned Rounds = 2, class Group, class Meet>
__device__ __forceinline__ void two_rounds_of(Group&& grids, Meet meet, unsigned* mine,
                                              const unsigned* theirs) {
  unsigned seen;
  bool passed = grids.is_valid();
#pragma unroll
  for (unsigned round = 1; round <= Rounds; ++round) {
    if (!passed) return;
    asm volatile("st.weak.global.u32 [%0], %1;" ::"l"(mine), "r"(round) : "memory");
    passed = meet(grids);
    if (!passed) return;
    asm volatile("ld.weak.global.u32 %0, [%1];" : "=r"(seen) : "l"(theirs) : "memory");
  }
  asm volatile("st.weak.global.u32 [%0], %1;" ::"l"(mine), "r"(Rounds + 1) : "memory");
}

struct whole {
  template <class Group>
  __device__ __forceinline__ bool operator()(Group& grids) const {
    return grids.sync();
  }
};
struct split {
  template <class Group>
  __device__ __forceinline__ bool operator()(Group& grids) const {
    return grids.barrier_wait(grids.barrier_arrive());
  }
};
// Whose one look finds all there: those that find less feed nothing but the loop that a kernel has around it.
struct by_looks {
  template <class Group>
  __device__ __forceinline__ bool operator()(Group& grids) const {
    auto token = grids.barrier_arrive();
    return grids.barrier_try_wait(token) == mgsync::waited::passed;
  }
};
// Everybody contributes nothing: no address and no branch depends on a sum, and with others than 0 the sums
// that reads may get are too many to look at.
struct carrying {
  template <class Group>
  __device__ __forceinline__ bool operator()(Group& grids) const {
    return grids.sync_reduce(std::uint32_t{0}, mgsync::by_sum{}).passed;
  }
};
template <mgsync::order Order, mgsync::proxy Proxy = mgsync::proxy::generic>
struct in_order {
  template <class Group>
  __device__ __forceinline__ bool operator()(Group& grids) const {
    return grids.template sync<Order, Proxy>();
  }
};

}  // namespace

extern "C" __global__ void sync(const __grid_constant__ mgsync::multi_grid_handle handle, unsigned* mine,
                                const unsigned* theirs) {
  two_rounds_of(mgsync::this_multi_grid(handle), whole{}, mine, theirs);
}
extern "C" __global__ void arrive_and_wait(const __grid_constant__ mgsync::multi_grid_handle handle,
                                           unsigned* mine, const unsigned* theirs) {
  two_rounds_of(mgsync::this_multi_grid(handle), split{}, mine, theirs);
}
extern "C" __global__ void sync_with_word(const __grid_constant__ mgsync::multi_grid_handle handle,
                                          unsigned* mine, const unsigned* theirs) {
  __shared__ std::uint32_t word;
  two_rounds_of(mgsync::this_multi_grid(handle, word), whole{}, mine, theirs);
}
extern "C" __global__ void one_warp(const __grid_constant__ mgsync::multi_grid_handle handle, unsigned* mine,
                                    const unsigned* theirs) {
  two_rounds_of(mgsync::this_multi_grid(handle, mgsync::one_warp{}), whole{}, mine, theirs);
}
extern "C" __global__ void some_warps(const __grid_constant__ mgsync::multi_grid_handle handle,
                                      unsigned* mine, const unsigned* theirs) {
  two_rounds_of(mgsync::this_multi_grid(handle, mgsync::some_warps<1, 0, 64>{}), whole{}, mine, theirs);
}
extern "C" __global__ void try_wait(const __grid_constant__ mgsync::multi_grid_handle handle, unsigned* mine,
                                    const unsigned* theirs) {
  two_rounds_of(mgsync::this_multi_grid(handle), by_looks{}, mine, theirs);
}
#define MGSYNC_ORDERED(NAME, ...)                                                                            \
  extern "C" __global__ void NAME(const __grid_constant__ mgsync::multi_grid_handle handle, unsigned* mine,  \
                                  const unsigned* theirs) {                                                  \
    two_rounds_of(mgsync::this_multi_grid(handle), in_order<__VA_ARGS__>{}, mine, theirs);                   \
  }
MGSYNC_ORDERED(sync_none, mgsync::order::none)
MGSYNC_ORDERED(sync_release, mgsync::order::release)
MGSYNC_ORDERED(sync_acquire, mgsync::order::acquire)
MGSYNC_ORDERED(sync_async, mgsync::order::acq_rel, mgsync::proxy::async)
// The last block of the first GPU releases and acquires, the others acquire; or none releases, as there are
// never more GPUs than eight here. The first of one round: of two, its counters may hold too many values.
struct one_releases {
  template <class Group>
  __device__ __forceinline__ bool operator()(Group& grids) const {
    const bool first = grids.grid_rank() == 0 && blockIdx.x == gridDim.x - 1;
    return grids.sync_mixed(first ? mgsync::order::acq_rel : mgsync::order::acquire);
  }
};
struct nobody_releases {
  template <class Group>
  __device__ __forceinline__ bool operator()(Group& grids) const {
    return grids.sync_mixed(grids.num_grids() > 8 ? mgsync::order::acq_rel : mgsync::order::acquire);
  }
};
extern "C" __global__ void sync_mixed(const __grid_constant__ mgsync::multi_grid_handle handle,
                                      unsigned* mine, const unsigned* theirs) {
  two_rounds_of<1>(mgsync::this_multi_grid(handle), one_releases{}, mine, theirs);
}
extern "C" __global__ void sync_mixed_quiet(const __grid_constant__ mgsync::multi_grid_handle handle,
                                            unsigned* mine, const unsigned* theirs) {
  two_rounds_of(mgsync::this_multi_grid(handle), nobody_releases{}, mine, theirs);
}
extern "C" __global__ void sync_reduce(const __grid_constant__ mgsync::multi_grid_handle handle,
                                       unsigned* mine, const unsigned* theirs) {
  two_rounds_of(mgsync::this_multi_grid(handle), carrying{}, mine, theirs);
}
