#include "src/studies/blocking/gpu_barriers.cuh"
#include "src/studies/blocking/gpu_case_kernels.hpp"

namespace mgsync::blocking {
namespace {

template <class Barrier, bool Predicated>
__global__ void case_of_lanes(gpu_board b) {
  if (blockIdx.x == 0) {
    if (threadIdx.x == 0) guard(b);
    return;
  }
  Barrier barrier;
  take_part<Predicated>(b, threadIdx.x, true, barrier);
}

template <class Barrier, bool Predicated>
__global__ void case_of_warps(gpu_board b) {
  if (blockIdx.x == 0) {
    if (threadIdx.x == 0) guard(b);
    return;
  }
  Barrier barrier;
  take_part<Predicated>(b, threadIdx.x / 32, threadIdx.x % 32 == 0, barrier);
}

// The kernel for the lanes of one warp, or for the warps of a block.
template <bool Lanes, bool Predicated>
__global__ void case_of_mbarrier(gpu_board b) {
  if (blockIdx.x == 0) {
    if (threadIdx.x == 0) guard(b);
    return;
  }
  __shared__ alignas(with_mbarrier::barrier) unsigned char memory[2][sizeof(with_mbarrier::barrier)];
  with_mbarrier barrier{reinterpret_cast<with_mbarrier::barrier*>(memory[0]),
                        reinterpret_cast<with_mbarrier::barrier*>(memory[1])};
  if (threadIdx.x == 0) {
    init(barrier.here, blockDim.x);
    init(barrier.other, blockDim.x);
  }
  __syncthreads();  // nobody has exited yet
  take_part<Predicated>(b, Lanes ? threadIdx.x : threadIdx.x / 32, Lanes || threadIdx.x % 32 == 0, barrier);
}

// The kernel for the blocks of a cluster: two clusters with as many blocks as there are participants; the
// first is the guard.
template <bool Predicated>
__global__ void case_of_cluster(gpu_board b) {
  if (blockIdx.x < b.participants) {
    if (blockIdx.x == 0 && threadIdx.x == 0) guard(b);
    return;
  }
  with_cluster barrier;
  take_part<Predicated>(b, blockIdx.x - b.participants, threadIdx.x == 0, barrier);
}

template <bool Predicated>
__global__ void case_of_grid(gpu_board b) {
  with_grid_sync barrier;
  take_part<Predicated>(b, blockIdx.x, threadIdx.x == 0, barrier);
}

template <bool Predicated>
__global__ void case_of_flags(gpu_board b, flags_of_case flags, bool whole_gpus) {
  const unsigned me = whole_gpus ? flags.gpu : flags.gpu * gridDim.x + blockIdx.x;
  with_flags barrier{flags, b.places[me]};
  take_part<Predicated>(b, me, threadIdx.x == 0 && (!whole_gpus || blockIdx.x == 0), barrier);
}

__global__ void guard_alone(gpu_board b) { guard(b); }

// One thread stamps for both of two participants. The present one waits for a release that the guard gives
// only once the present ones are done, so that only the trap of the guard ends this kernel.
__global__ void spin_alone(gpu_board b) {
  const bool ends = b.how == away::nobody;
  put_stamp(b, b.places[0].arrived);
  put_stamp(b, ends ? b.places[1].arrived : b.places[1].acted);
  while (!ends && value_of(b.counts->release) == 0) {}
  for (unsigned i = 0; i < 2; ++i) {
    put_stamp(b, b.places[i].left);
    is_done(b, true, true);
  }
}

__global__ void sum_of_numbers(unsigned long long* sum, unsigned count) {
  unsigned long long mine = 0;
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) mine += i;
  atomicAdd(sum, mine);
}

template <class Kernel>
const void* address_of(Kernel* kernel) {
  return reinterpret_cast<const void*>(kernel);
}

template <bool Predicated>
const void* lanes_named(std::string_view method) {
  if (method == "syncwarp") return address_of(case_of_lanes<with_syncwarp, Predicated>);
  if (method == "shuffle") return address_of(case_of_lanes<with_shuffle, Predicated>);
  if (method == "ballot") return address_of(case_of_lanes<with_ballot, Predicated>);
  if (method == "redux") return address_of(case_of_lanes<with_redux, Predicated>);
  if (method == "tile") return address_of(case_of_lanes<with_tile, Predicated>);
  if (method == "coalesced") return address_of(case_of_lanes<with_coalesced, Predicated>);
  if (method == "syncthreads") return address_of(case_of_lanes<with_syncthreads, Predicated>);
  if (method == "named-barrier") return address_of(case_of_lanes<with_named_barrier, Predicated>);
  if (method == "mbarrier") return address_of(case_of_mbarrier<true, Predicated>);
  return nullptr;
}

template <bool Predicated>
const void* inside(std::string_view level, std::string_view method) {
  if (level == "lane") return lanes_named<Predicated>(method);
  if (level == "cluster") return address_of(case_of_cluster<Predicated>);
  if (level != "warp") return nullptr;
  if (method == "syncthreads") return address_of(case_of_warps<with_syncthreads, Predicated>);
  if (method == "named-barrier") return address_of(case_of_warps<with_named_barrier, Predicated>);
  if (method == "mbarrier") return address_of(case_of_mbarrier<false, Predicated>);
  return nullptr;
}

}  // namespace

const void* kernel_inside(std::string_view level, std::string_view method, bool predicated) {
  return predicated ? inside<true>(level, method) : inside<false>(level, method);
}
const void* kernel_of_grid(bool predicated) {
  return predicated ? address_of(case_of_grid<true>) : address_of(case_of_grid<false>);
}
const void* kernel_of_flags(bool predicated) {
  return predicated ? address_of(case_of_flags<true>) : address_of(case_of_flags<false>);
}
const void* kernel_of_guard() { return address_of(guard_alone); }
const void* kernel_that_spins() { return address_of(spin_alone); }
const void* kernel_that_sums() { return address_of(sum_of_numbers); }

}  // namespace mgsync::blocking
