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
using algorithm::place;

// One worker's passage, with its own epoch.
template <class Algorithm>
class alignas(algorithm::line_bytes) pass {  // its epoch is written every round: no line is shared
 public:
  pass(std::uint32_t* const* parts, const place& at) : lines_{parts}, at_(at) {}
  void begin(const algorithm::host_limits& limits) { policy_ = host_policy(limits); }
  bool operator()() { return Algorithm::arrive_and_wait(policy_, lines_, at_, ++epoch_); }

  static unsigned lines(unsigned members) { return algorithm::layout{members}.lines(); }
  static void start(const host_lines& memory, unsigned member, unsigned members, unsigned blocks) {
    round_loop::start_flags(memory, member, members, blocks);
  }

 private:
  host_policy policy_;
  host_lines lines_;
  place at_;
  std::uint32_t epoch_ = round_loop::first_epoch;
};

template <class Algorithm>
creation make(const topology::group& group, unsigned blocks, session& where, std::string chosen) {
  return round_loop::make_host_barrier<pass<Algorithm>>(
      group, blocks, where, fmt::format("multigrid ({})", Algorithm::name), std::move(chosen));
}

constexpr std::string_view variants[] = {"auto",          "inbox",   "hub",   "relay",
                                         "dissemination", "central", "crowd", "pull-dissemination",
                                         "host-flags",    "library", "vendor"};
constexpr user_call calls[] = {
    {"library", "mgsync", "sync() of mgsync::this_multi_grid(handle)",
     "#include <mgsync/multi_grid.cuh>, a launch by mgsync::multi_grid of <mgsync/multi_grid.hpp>"},
    {"vendor", "NVIDIA", "cooperative_groups::this_multi_grid().sync()",
     "#include <cooperative_groups.h>, CUDA 12 or before: 13 removed it"}};

// What `auto` runs on hosts: the fastest of those measured from 2 to 64 members
// (docs/results/host-barriers.md).
creation choose(const topology::group& group, unsigned blocks, session& where) {
  const std::size_t members = group.members.size();
  if (members <= 4)
    return make<algorithm::dissemination<4>>(group, blocks, where,
                                             "dissemination, radix 4: one hop to up to 4 members");
  if (members <= 16)
    return make<algorithm::pull_dissemination<16>>(
        group, blocks, where, "pull-dissemination, radix 16: one hop from up to 16 members");
  return make<algorithm::pull_dissemination<8>>(group, blocks, where,
                                                "pull-dissemination, radix 8: fewest hops for many members");
}

support can_run(const topology::machine& machine, const topology::group& group, const configuration& wanted) {
  if (group.device == topology::device::gpu && wanted.variant == "pull-dissemination")
    return support::never("for host members: between GPUs every poll would cross the link");
  if (group.device == topology::device::gpu) {
    if (group.members.size() > algorithm::most_gpus) return support::never("at most 16 GPUs");
    if constexpr (MGSYNC_WITH_CUDA) return gpu_multigrid_can_run(machine, group, wanted);
    else return support::no(without_cuda);
  }
  for (const std::string_view gpu_only : {"relay", "host-flags", "library", "vendor"})
    if (wanted.variant == gpu_only) return support::never("for GPU members");
  if (topology::hosts_of(group).size() > 1)
    return support::no(
        "needs memory shared by all members, and they are on several hosts (--per-node measures each)");
  return support::yes();
}

creation create(const topology::group& group, const configuration& wanted, session& where) {
  if (group.device == topology::device::gpu) {
    if constexpr (MGSYNC_WITH_CUDA) return create_gpu_multigrid(group, wanted, where);
    else return creation::none(without_cuda);
  }
  const unsigned blocks = wanted.blocks_per_sm.value_or(1);
  if (wanted.variant == "inbox") return make<algorithm::inbox>(group, blocks, where, "inbox");
  if (wanted.variant == "hub") return make<algorithm::hub>(group, blocks, where, "hub");
  if (wanted.variant == "central") return make<algorithm::central>(group, blocks, where, "central");
  if (wanted.variant == "crowd") return make<algorithm::crowd>(group, blocks, where, "crowd");
  if (wanted.variant == "dissemination")
    return make<algorithm::dissemination<2>>(group, blocks, where, "dissemination, radix 2");
  if (wanted.variant == "pull-dissemination")
    return make<algorithm::pull_dissemination<8>>(group, blocks, where, "pull-dissemination, radix 8");
  return choose(group, blocks, where);
}

}  // namespace

extern const backend multigrid_backend;
const backend multigrid_backend{"multigrid", "mgsync's own barrier over memory shared by all members",
                                variants,    level::group,
                                true,        can_run,
                                create,      false,
                                calls};

}  // namespace mgsync
