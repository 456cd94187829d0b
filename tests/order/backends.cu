// The passes of the backends' kernels: two rounds of each around a word that a thread writes and another's
// that it reads, as two_rounds.cu has them of the library. Compiled to PTX by make_ptx.sh. Never run.
#include "barriers/grid/grid_sync_pass.hpp"
#include "barriers/hop/hop_passes.hpp"
#include "barriers/parts/algorithm/central.hpp"
#include "barriers/parts/algorithm/crowd.hpp"
#include "barriers/parts/algorithm/dissemination.hpp"
#include "barriers/parts/algorithm/hub.hpp"
#include "barriers/parts/algorithm/inbox.hpp"
#include "barriers/parts/round_loop/cuda_passes.hpp"
#include "barriers/parts/round_loop/reduction_pass.hpp"
#include "barriers/peers/counter_per_peer.hpp"
#include "barriers/peers/data_with_epoch.hpp"
#include "barriers/peers/flags_of_block_0.hpp"
#include "barriers/peers/flags_per_block.hpp"
#include "barriers/peers/pull.hpp"
#include "barriers/peers/sign_alternating.hpp"
#include "barriers/peers/sum_to_zero.hpp"
#include "barriers/peers/three_state.hpp"

namespace {

using namespace mgsync;
using algorithm::ptx::scope;
using round_loop::stateless_pass;

// Reductions where everybody contributes nothing. No address and no branch depends on a sum, and with others
// than 0 the sums that a read of several blocks' counter may get are too many to look at.
template <class Algorithm, scope Widest>
class reduction_of_zeros {
 public:
  using arguments = algorithm::cuda_lines;
  __device__ reduction_of_zeros(const arguments& lines, const round_loop::device_run& run)
      : policy_(round_loop::limits_of(run)), lines_(lines), at_(round_loop::position_in(run)) {}
  __device__ bool operator()(std::uint32_t epoch) {
    std::uint32_t total;
    return Algorithm::all_reduce(policy_, lines_, at_, epoch, 0, total);
  }

 private:
  algorithm::cuda_policy<Widest> policy_;
  const arguments& lines_;
  algorithm::position at_;
};

// The launch, but for what the pass itself takes.
struct place {
  std::uint32_t* abort;
  std::uint64_t budget_ns;
  unsigned rank, gpus;
};

template <class Pass>
__device__ __forceinline__ void two_rounds(const typename Pass::arguments& given, const place& at,
                                           unsigned* mine, const unsigned* theirs) {
  round_loop::device_run run{};
  run.member = at.rank;
  run.members = at.gpus;
  run.blocks = gridDim.x;
  run.abort = at.abort;
  run.budget_ns = at.budget_ns;
  Pass pass(given, run);
  unsigned seen;
#pragma unroll
  for (unsigned round = 1; round <= 2; ++round) {
    asm volatile("st.weak.global.u32 [%0], %1;" ::"l"(mine), "r"(round) : "memory");
    if (!pass(algorithm::first_gpu_epoch + round)) return;
    asm volatile("ld.weak.global.u32 %0, [%1];" : "=r"(seen) : "l"(theirs) : "memory");
  }
  asm volatile("st.weak.global.u32 [%0], %1;" ::"l"(mine), "r"(3) : "memory");
}

}  // namespace

#define MGSYNC_ORDER_OF(NAME, ...)                                                                           \
  extern "C" __global__ void NAME##_rounds(const __grid_constant__ __VA_ARGS__::arguments given, place at,   \
                                           unsigned* mine, const unsigned* theirs) {                         \
    two_rounds<__VA_ARGS__>(given, at, mine, theirs);                                                        \
  }
MGSYNC_ORDER_OF(central, stateless_pass<algorithm::central, scope::system>)
MGSYNC_ORDER_OF(crowd, stateless_pass<algorithm::crowd, scope::system>)
MGSYNC_ORDER_OF(dissemination, stateless_pass<algorithm::dissemination<2>, scope::system>)
MGSYNC_ORDER_OF(hub, stateless_pass<algorithm::hub, scope::system>)
MGSYNC_ORDER_OF(inbox, stateless_pass<algorithm::inbox, scope::system>)
MGSYNC_ORDER_OF(relay, round_loop::relay_pass<scope::system>)
MGSYNC_ORDER_OF(host_flags, round_loop::host_flags_pass<algorithm::hub>)
MGSYNC_ORDER_OF(push, round_loop::reduction_pass<algorithm::push, scope::system>)
MGSYNC_ORDER_OF(pull, round_loop::reduction_pass<algorithm::pull, scope::system>)
MGSYNC_ORDER_OF(push_zero, reduction_of_zeros<algorithm::push, scope::system>)
MGSYNC_ORDER_OF(pull_zero, reduction_of_zeros<algorithm::pull, scope::system>)

// Of other projects. The ways through a mailbox by compare and swap are too many to look at: Relacy does.
template <class Form>
using peer = stateless_pass<Form, scope::system>;
MGSYNC_ORDER_OF(flags_per_block, peer<peers::flags_per_block>)
MGSYNC_ORDER_OF(flags_of_block_0, peer<peers::flags_of_block_0>)
MGSYNC_ORDER_OF(three_state, peer<peers::three_state>)
MGSYNC_ORDER_OF(counter_per_peer, peer<peers::counter_per_peer>)
MGSYNC_ORDER_OF(sum_to_zero, peer<peers::sum_to_zero>)
MGSYNC_ORDER_OF(sign_alternating, peer<peers::sign_alternating>)
MGSYNC_ORDER_OF(pull_of_peers, peer<peers::pull>)

// Of one GPU.
MGSYNC_ORDER_OF(grid_counter, round_loop::spread_counter_pass)
MGSYNC_ORDER_OF(grid_hub, stateless_pass<algorithm::hub, scope::gpu>)
MGSYNC_ORDER_OF(grid_relay, round_loop::relay_pass<scope::gpu>)
MGSYNC_ORDER_OF(grid_sync, grid_sync_pass)
MGSYNC_ORDER_OF(grid_push, reduction_of_zeros<algorithm::push, scope::gpu>)
MGSYNC_ORDER_OF(grid_pull, reduction_of_zeros<algorithm::pull, scope::gpu>)

// What orders less than a barrier, and says so.
MGSYNC_ORDER_OF(hop_release_acquire, hop::hop_pass<true>)
MGSYNC_ORDER_OF(hop_relaxed, hop::hop_pass<false>)
MGSYNC_ORDER_OF(hop_fence_system, hop::fence_pass<scope::system>)
MGSYNC_ORDER_OF(hop_fence_gpu, hop::fence_pass<scope::gpu>)
MGSYNC_ORDER_OF(hop_arrival, hop::arrival_pass)
MGSYNC_ORDER_OF(equal_blocks, peer<peers::equal_blocks>)
MGSYNC_ORDER_OF(flags_unordered, peer<peers::flags_unordered>)
MGSYNC_ORDER_OF(data_with_epoch, reduction_of_zeros<peers::data_with_epoch, scope::system>)
