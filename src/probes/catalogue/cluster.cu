// Probes of a cluster's barriers, over all of its blocks: the hardware's barrier with release or relaxed
// arrival, and mbarriers in each other's shared memory. The cluster's size is a constant: otherwise the
// compiler adds a branch to the block's barrier, for launches without clusters.
#include "src/probes/probe_kernels.hpp"

#if __CUDA_ARCH__ >= 900
namespace {

using namespace mgsync::probes;

struct cluster_release : word_per_lane {
  using word_per_lane::word_per_lane;
  __device__ void step() {
    asm volatile("barrier.cluster.arrive.release.aligned;\n barrier.cluster.wait.acquire.aligned;" ::
                     : "memory");
  }
};

struct cluster_relaxed : word_per_lane {
  using word_per_lane::word_per_lane;
  __device__ void step() {
    asm volatile("barrier.cluster.arrive.relaxed.aligned;\n barrier.cluster.wait.aligned;" ::: "memory");
  }
};

// Work between arriving and waiting: loads from shared memory, each from the address that the one before
// returned. Additions would not do, since the assembler moves them past the barrier.
template <int Loads>
struct cluster_split : word_per_lane {
  __device__ explicit cluster_split(const arguments& a) : word_per_lane(a) {
    __shared__ std::uint32_t cells[32];
    const auto own = in_shared(&cells[threadIdx.x % 32]);
    cells[threadIdx.x % 32] = own;
    __syncthreads();
    v = own;
  }
  __device__ void step() {
    asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
#pragma unroll
    for (int load = 0; load < Loads; ++load)
      asm volatile("ld.volatile.shared.u32 %0, [%0];" : "+r"(v)::"memory");
    asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
  }
};

// Lane k of the first warp arrives at block k's mbarrier; every warp waits at its own block's.
template <int Size>
struct cluster_mbarrier : word_per_lane {
  std::uint32_t own, remote, parity = 0;
  bool arrives;
  __device__ explicit cluster_mbarrier(const arguments& a) : word_per_lane(a) {
    __shared__ std::uint64_t barrier;
    own = in_shared(&barrier);
    arrives = threadIdx.x < Size;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(remote) : "r"(own), "r"(threadIdx.x % Size));
    if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(own), "r"(Size) : "memory");
    asm volatile("barrier.cluster.arrive.release.aligned;\n barrier.cluster.wait.acquire.aligned;" ::
                     : "memory");
  }
  __device__ void step() {
    if (arrives)
      asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(remote) : "memory");
    asm volatile("{\n .reg .pred done;\nAGAIN:\n mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 "
                 "done, [%0], %1;\n @!done bra AGAIN;\n}" ::"r"(own),
                 "r"(parity)
                 : "memory");
    parity ^= 1;
  }
};

}  // namespace

#include "src/probes/catalogue/cluster.inc"
#endif
