// The algorithms of the multigrid backend over the policy of its kernels: two rounds of each around a word
// that a thread writes and another's that it reads, as two_rounds.cu has them of the library. Never run.
#include "barriers/parts/algorithm/central.hpp"
#include "barriers/parts/algorithm/crowd.hpp"
#include "barriers/parts/algorithm/cuda_policy.hpp"
#include "barriers/parts/algorithm/dissemination.hpp"
#include "barriers/parts/algorithm/hub.hpp"
#include "barriers/parts/algorithm/inbox.hpp"

namespace {

using namespace mgsync::algorithm;

template <class Algorithm>
__device__ __forceinline__ void two_rounds(const cuda_lines& lines, const cuda_limits& limits, unsigned rank,
                                           unsigned gpus, unsigned* mine, const unsigned* theirs) {
  cuda_policy<ptx::scope::system> policy(limits);
  const position at{rank, gpus, blockIdx.x, gridDim.x};
  unsigned seen;
#pragma unroll
  for (unsigned round = 1; round <= 2; ++round) {
    asm volatile("st.weak.global.u32 [%0], %1;" ::"l"(mine), "r"(round) : "memory");
    if (!Algorithm::arrive_and_wait(policy, lines, at, mgsync::algorithm::first_gpu_epoch + round)) return;
    asm volatile("ld.weak.global.u32 %0, [%1];" : "=r"(seen) : "l"(theirs) : "memory");
  }
  asm volatile("st.weak.global.u32 [%0], %1;" ::"l"(mine), "r"(3) : "memory");
}

}  // namespace

#define MGSYNC_ORDER_OF(NAME, ALGORITHM)                                                                     \
  extern "C" __global__ void NAME(const __grid_constant__ cuda_lines lines, cuda_limits limits,              \
                                  unsigned rank, unsigned gpus, unsigned* mine, const unsigned* theirs) {    \
    two_rounds<ALGORITHM>(lines, limits, rank, gpus, mine, theirs);                                          \
  }
MGSYNC_ORDER_OF(central_rounds, central)
MGSYNC_ORDER_OF(crowd_rounds, crowd)
MGSYNC_ORDER_OF(dissemination_rounds, dissemination<2>)
MGSYNC_ORDER_OF(hub_rounds, hub)
MGSYNC_ORDER_OF(inbox_rounds, inbox)
