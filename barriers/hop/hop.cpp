// What barriers between GPUs are made of, timed like them and under the same load: one hop of a flag from GPU
// to GPU, a fence after a store to a peer, a block's arrival at its own GPU; one warp of one block speaks,
// whatever the shape, and a round is one of these. And the part inside a GPU: all blocks of each GPU meet,
// and no GPU another. Of two host threads, the hop of a cache line from core to core. None of them is a
// barrier, so there is nothing to check.
#include "barriers/backend.hpp"
#include "barriers/hop/gpu_hop.hpp"
#include "barriers/parts/algorithm/host_policy.hpp"
#include "barriers/parts/algorithm/layout.hpp"
#include "barriers/parts/round_loop/host_barrier.hpp"

namespace mgsync {

namespace {

constexpr facts piece(fact::extent extent, fact::order order) {
  return {.origin = fact::origin::ours,
          .driver = fact::driver::device,
          .scope = fact::scope::node,
          .extent = extent,
          .order = order};
}

support can_fly(const topology::machine&, const topology::group& group, const configuration& wanted) {
  if (group.members.size() != 2) return support::never("a hop is from one member to another: 2 members");
  return group.device == topology::device::host && wanted.blocks_per_sm.value_or(1) != 1
             ? support::never("one thread of each member speaks")
             : support::yes();
}

// In turn one thread writes a line of its own, and the other waits for it: the least that one hop of any
// barrier of host threads can cost.
class alignas(algorithm::line_bytes) host_hop {
 public:
  host_hop(std::uint32_t* const* parts, const algorithm::position& at) : lines_{parts}, member_(at.member) {}
  void begin(const algorithm::host_limits& limits) { policy_ = algorithm::host_policy(limits); }
  bool operator()() {
    std::uint32_t& flag = lines_.line(++epoch_ & 1, 0);
    if ((epoch_ & 1) != member_) return policy_.wait_system(flag, epoch_);
    policy_.store_fenced_system(flag, epoch_);
    return true;
  }

  static unsigned lines(unsigned) { return 1; }
  static void start(const algorithm::host_lines& memory, unsigned member, unsigned, unsigned) {
    memory.line(member, 0) = round_loop::first_epoch;
  }

 private:
  algorithm::host_policy policy_;
  algorithm::host_lines lines_;
  unsigned member_;
  std::uint32_t epoch_ = round_loop::first_epoch;
};

creation make_host_hop(const topology::group& group, const configuration& wanted, session& where) {
  return round_loop::make_host_barrier<host_hop>(group, wanted.blocks_per_sm.value_or(1), where, "hop", "");
}

constexpr barrier_variant variants[] = {
    {.name = "release-acquire",
     .summary = "a store to the peer, a release, a flag, an acquire; of host threads the flag's line",
     .facts = piece(fact::extent::equal_threads, fact::order::both),
     .make = makers::of_both(make_host_hop, built<MGSYNC_WITH_CUDA, gpu_hop::release_acquire>),
     .bounded = true,
     .can_run = can_fly},
    {.name = "relaxed",
     .summary = "a flag alone, which orders nothing",
     .facts = piece(fact::extent::equal_threads, fact::order::none),
     .make = makers::of_gpus(built<MGSYNC_WITH_CUDA, gpu_hop::relaxed>),
     .bounded = true,
     .can_run = can_fly},
    {.name = "fence-system",
     .summary = "a fence of system scope after a store to a peer; nobody waits for anybody",
     .facts = piece(fact::extent::nothing, fact::order::both),
     .make = makers::of_gpus(built<MGSYNC_WITH_CUDA, gpu_hop::fence_system>),
     .bounded = true},
    {.name = "fence-gpu",
     .summary = "a fence of the GPU's scope after a store to a peer; nobody waits for anybody",
     .facts = piece(fact::extent::nothing, fact::order::both),
     .make = makers::of_gpus(built<MGSYNC_WITH_CUDA, gpu_hop::fence_gpu>),
     .bounded = true},
    {.name = "arrival",
     .summary = "a store to a peer, a release to the own GPU, an addition that answers",
     .facts = piece(fact::extent::nothing, fact::order::release),
     .make = makers::of_gpus(built<MGSYNC_WITH_CUDA, gpu_hop::arrival>),
     .bounded = true},
    {.name = "grid",
     .summary = "all blocks of each GPU meet, and no GPU another",
     .facts = piece(fact::extent::gpu, fact::order::both),
     .make = makers::of_gpus(built<MGSYNC_WITH_CUDA, gpu_hop::grid>),
     .bounded = true}};

support can_run(const topology::machine& machine, const topology::group& group, const configuration&) {
  if (group.device == topology::device::host)
    return topology::hosts_of(group).size() > 1 ? support::no("needs memory shared by both members")
                                                : support::yes();
  if (group.members.size() > algorithm::most_gpus) return support::never("at most 16 GPUs");
  if constexpr (MGSYNC_WITH_CUDA) return gpu_hop_can_run(machine, group);
  else return support::no(without_cuda);
}

}  // namespace

extern const backend hop_backend;
const backend hop_backend{.name = "hop",
                          .summary = "pieces of a barrier, no barrier: a flag's hop between 2 GPUs, a fence, "
                                     "an arrival, each GPU's own part",
                          .variants = variants,
                          .can_run = can_run};

}  // namespace mgsync
