// The multigrid barrier on host members: every member has `blocks` threads; a local arrival, an exchange
// between members, a local release, over plain memory (threads) or an MPI shared window (ranks).
#include <utility>

#include <fmt/format.h>

#include "barriers/backend.hpp"
#include "barriers/multigrid/gpu_multigrid.hpp"
#include "barriers/parts/algorithm/central.hpp"
#include "barriers/parts/algorithm/crowd.hpp"
#include "barriers/parts/algorithm/dissemination.hpp"
#include "barriers/parts/algorithm/hub.hpp"
#include "barriers/parts/algorithm/inbox.hpp"
#include "barriers/parts/algorithm/pull_dissemination.hpp"
#include "barriers/parts/round_loop/host_barrier.hpp"

namespace mgsync {

namespace {

using algorithm::host_lines;
using algorithm::host_policy;
using algorithm::position;

// One worker's passage, with its own epoch.
template <class Algorithm>
class alignas(algorithm::line_bytes) pass {  // its epoch is written every round: no line is shared
 public:
  pass(std::uint32_t* const* parts, const position& at) : lines_{parts}, at_(at) {}
  void begin(const algorithm::host_limits& limits) { policy_ = host_policy(limits); }
  bool operator()() { return Algorithm::arrive_and_wait(policy_, lines_, at_, ++epoch_); }

  static unsigned lines(unsigned members) { return algorithm::layout{members}.lines(); }
  static void start(const host_lines& memory, unsigned member, unsigned members, unsigned blocks) {
    round_loop::start_flags(memory, member, members, blocks);
  }

 private:
  host_policy policy_;
  host_lines lines_;
  position at_;
  std::uint32_t epoch_ = round_loop::first_epoch;
};

template <class Algorithm>
creation make(const topology::group& group, const configuration& wanted, session& where, std::string chosen) {
  return round_loop::make_host_barrier<pass<Algorithm>>(group, wanted.blocks_per_sm.value_or(1), where,
                                                        fmt::format("multigrid ({})", Algorithm::name),
                                                        std::move(chosen));
}

template <class Algorithm>
creation make_plain(const topology::group& group, const configuration& wanted, session& where) {
  return make<Algorithm>(group, wanted, where, Algorithm::name);
}

creation make_dissemination(const topology::group& group, const configuration& wanted, session& where) {
  return make<algorithm::dissemination<2>>(group, wanted, where, "dissemination, radix 2");
}

creation make_pull_dissemination(const topology::group& group, const configuration& wanted, session& where) {
  return make<algorithm::pull_dissemination<8>>(group, wanted, where, "pull-dissemination, radix 8");
}

// What `auto` runs on hosts: the fastest of those measured from 2 to 64 members
// (docs/results/host-barriers.md).
creation make_fastest(const topology::group& group, const configuration& wanted, session& where) {
  const std::size_t members = group.members.size();
  if (members <= 4)
    return make<algorithm::dissemination<4>>(group, wanted, where,
                                             "dissemination, radix 4: one hop to up to 4 members");
  if (members <= 16)
    return make<algorithm::pull_dissemination<16>>(
        group, wanted, where, "pull-dissemination, radix 16: one hop from up to 16 members");
  return make<algorithm::pull_dissemination<8>>(group, wanted, where,
                                                "pull-dissemination, radix 8: fewest hops for many members");
}

constexpr facts ours{.origin = fact::origin::ours,
                     .driver = fact::driver::device,
                     .scope = fact::scope::node,
                     .extent = fact::extent::everything,
                     .order = fact::order::both};
constexpr facts of(fact::origin origin) {
  auto all = ours;
  all.origin = origin;
  return all;
}

// Of the library's calls that order less than a barrier.
constexpr facts ordering(fact::order order) {
  auto all = ours;
  all.order = order;
  return all;
}
constexpr user_call call_of_library(std::string_view call) {
  return {.maker = "mgsync",
          .call = call,
          .needs =
              "#include <mgsync/multi_grid.cuh>, a launch by mgsync::multi_grid of <mgsync/multi_grid.hpp>"};
}

support can_run_vendor(const topology::machine&, const topology::group& group, const configuration&) {
  if constexpr (MGSYNC_WITH_CUDA) return gpu_multigrid_vendor_can_run(group);
  else return support::no(without_cuda);
}

constexpr barrier_variant variants[] = {
    {.name = "auto",
     .summary = "the fastest of mgsync's algorithms for as many members of this shape",
     .facts = ours,
     .make = makers::of_both(make_fastest, built<MGSYNC_WITH_CUDA, gpu_multigrid::automatic>),
     .bounded = true},
    {.name = "inbox",
     .summary = "every member writes into a slot at every other; one hop, no release",
     .facts = ours,
     .make = makers::of_both(make_plain<algorithm::inbox>, built<MGSYNC_WITH_CUDA, gpu_multigrid::inbox>),
     .bounded = true},
    {.name = "hub",
     .summary = "every member writes into a slot at every other; one worker of each releases the others",
     .facts = ours,
     .make = makers::of_both(make_plain<algorithm::hub>, built<MGSYNC_WITH_CUDA, gpu_multigrid::hub>),
     .bounded = true},
    {.name = "relay",
     .summary = "arrivals at counters, one block speaks for its GPU, all poll replicas of its inbox",
     .facts = ours,
     .make = makers::of_gpus(built<MGSYNC_WITH_CUDA, gpu_multigrid::relay>),
     .bounded = true},
    {.name = "dissemination",
     .summary = "log2 steps, each to one partner",
     .facts = ours,
     .make = makers::of_both(make_dissemination, built<MGSYNC_WITH_CUDA, gpu_multigrid::dissemination>),
     .bounded = true},
    {.name = "central",
     .summary = "one counter and a release by whoever completes it, for comparison",
     .facts = ours,
     .make = makers::of_both(make_plain<algorithm::central>, built<MGSYNC_WITH_CUDA, gpu_multigrid::central>),
     .bounded = true},
    {.name = "crowd",
     .summary = "every block tells every member by itself",
     .facts = ours,
     .make = makers::of_both(make_plain<algorithm::crowd>, built<MGSYNC_WITH_CUDA, gpu_multigrid::crowd>),
     .bounded = true},
    {.name = "pull-dissemination",
     .summary = "steps of radix 8, each member reading its partners' lines",
     .facts = ours,
     .make = makers::of_hosts(make_pull_dissemination,
                              "for host members: between GPUs every poll would cross the link"),
     .bounded = true},
    {.name = "host-flags",
     .summary = "flags in pinned host memory, as NVIDIA advises in place of multi_grid",
     .facts = of(fact::origin::peer),
     .make = makers::of_gpus(built<MGSYNC_WITH_CUDA, gpu_multigrid::host_flags>),
     .bounded = true},
    {.name = "library",
     .summary = "what mgsync's library gives a kernel",
     .facts = ours,
     .make = makers::of_gpus(built<MGSYNC_WITH_CUDA, gpu_multigrid::library>),
     .call = call_of_library("sync() of mgsync::this_multi_grid(handle)"),
     .bounded = true},
    {.name = "library-split",
     .summary = "the library's barrier in two calls, barrier_arrive() and barrier_wait(); --work is done "
                "between them",
     .facts = ours,
     .make = makers::of_gpus(built<MGSYNC_WITH_CUDA, gpu_multigrid::library_split>),
     .call = call_of_library("barrier_wait(barrier_arrive()) of mgsync::this_multi_grid(handle)"),
     .bounded = true},
    {.name = "library-traced",
     .summary = "the library's barrier that counts who comes last",
     .facts = ours,
     .make = makers::of_gpus(built<MGSYNC_WITH_CUDA, gpu_multigrid::library_traced>),
     .call = {.maker = "mgsync",
              .call = "sync() of mgsync::this_traced_multi_grid(handle)",
              .needs = "#include <mgsync/traced.cuh>, a launch by mgsync::multi_grid of "
                       "<mgsync/multi_grid.hpp> with group_options::trace"},
     .bounded = true},
    {.name = "library-one-warp",
     .summary = "the library's barrier by one warp of each block, for which the others wait; --work is "
                "theirs meanwhile",
     .facts = ours,
     .make = makers::of_gpus(built<MGSYNC_WITH_CUDA, gpu_multigrid::library_one_warp>),
     .call = call_of_library("sync() of mgsync::this_multi_grid(handle, mgsync::one_warp{})"),
     .bounded = true},
    {.name = "library-reduce",
     .summary = "the library's barrier that carries a value of every thread, and tells all their sum",
     .facts = ours,
     .make = makers::of_gpus(built<MGSYNC_WITH_CUDA, gpu_multigrid::library_reduce>),
     .call = call_of_library("sync_reduce(value, mgsync::by_sum{}) of mgsync::this_multi_grid(handle)"),
     .bounded = true,
     .carries = "a sum of 32 bits over all threads"},
    {.name = "library-none",
     .summary = "the library's sync<order::none>(): all come, and no memory is ordered",
     .facts = ordering(fact::order::none),
     .make = makers::of_gpus(built<MGSYNC_WITH_CUDA, gpu_multigrid::library_none>),
     .call = call_of_library("sync<mgsync::order::none>() of mgsync::this_multi_grid(handle)"),
     .bounded = true},
    {.name = "library-acquire",
     .summary = "the library's sync<order::acquire>(): nobody releases what was written",
     .facts = ordering(fact::order::acquire),
     .make = makers::of_gpus(built<MGSYNC_WITH_CUDA, gpu_multigrid::library_acquire>),
     .call = call_of_library("sync<mgsync::order::acquire>() of mgsync::this_multi_grid(handle)"),
     .bounded = true},
    {.name = "library-release",
     .summary = "the library's sync<order::release>(): nobody acquires what others wrote",
     .facts = ordering(fact::order::release),
     .make = makers::of_gpus(built<MGSYNC_WITH_CUDA, gpu_multigrid::library_release>),
     .call = call_of_library("sync<mgsync::order::release>() of mgsync::this_multi_grid(handle)"),
     .bounded = true},
    {.name = "library-mixed-none",
     .summary = "the library's sync_mixed() in which no block releases",
     .facts = ordering(fact::order::acquire),
     .make = makers::of_gpus(built<MGSYNC_WITH_CUDA, gpu_multigrid::library_mixed_none>),
     .call = call_of_library("sync_mixed(mgsync::order::acquire) of mgsync::this_multi_grid(handle)"),
     .bounded = true},
    {.name = "library-mixed-one",
     .summary = "the library's sync_mixed() in which one block of all releases, in turn",
     .facts = ordering(fact::order::acquire),
     .make = makers::of_gpus(built<MGSYNC_WITH_CUDA, gpu_multigrid::library_mixed_one>),
     .call = call_of_library("sync_mixed(mine) of mgsync::this_multi_grid(handle)"),
     .bounded = true},
    {.name = "library-mixed-all",
     .summary = "the library's sync_mixed() in which all blocks release",
     .facts = ours,
     .make = makers::of_gpus(built<MGSYNC_WITH_CUDA, gpu_multigrid::library_mixed_all>),
     .call = call_of_library("sync_mixed(mgsync::order::acq_rel) of mgsync::this_multi_grid(handle)"),
     .bounded = true},
    {.name = "vendor",
     .summary = "multi_grid.sync() of cooperative groups; CUDA 13 no longer compiles it, so an older nvcc "
                "did, and the driver launches it",
     .facts = of(fact::origin::vendor),
     .make = makers::of_gpus(built<MGSYNC_WITH_CUDA, gpu_multigrid::vendor>),
     .call = {.maker = "NVIDIA",
              .call = "cooperative_groups::this_multi_grid().sync()",
              .needs = "#include <cooperative_groups.h>, CUDA 12 or before: 13 removed it"},
     .can_run = can_run_vendor}};

support can_run(const topology::machine& machine, const topology::group& group, const configuration&) {
  if (group.device == topology::device::gpu) {
    if (group.members.size() > algorithm::most_gpus) return support::never("at most 16 GPUs");
    if constexpr (MGSYNC_WITH_CUDA) return gpu_multigrid_can_run(machine, group);
    else return support::no(without_cuda);
  }
  if (topology::hosts_of(group).size() > 1)
    return support::no(
        "needs memory shared by all members, and they are on several hosts (--per-node measures each)");
  return support::yes();
}

}  // namespace

extern const backend multigrid_backend;
const backend multigrid_backend{.name = "multigrid",
                                .summary = "mgsync's own barrier over memory shared by all members",
                                .variants = variants,
                                .can_run = can_run};

}  // namespace mgsync
