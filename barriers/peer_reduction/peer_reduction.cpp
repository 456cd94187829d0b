// An all-reduce of one value over shared memory, which is a barrier that carries data. Every sum of a checked
// run is compared with the right one.

#include <fmt/format.h>

#include "barriers/backend.hpp"
#include "barriers/parts/algorithm/all_reduce.hpp"
#include "barriers/parts/algorithm/host_policy.hpp"
#include "barriers/parts/round_loop/host_barrier.hpp"
#include "barriers/peer_reduction/gpu_reduction.hpp"

namespace mgsync {

namespace {

using algorithm::host_lines;
using algorithm::host_policy;
using algorithm::position;

template <class Algorithm>
class alignas(algorithm::line_bytes) pass {  // its epoch is written every round: no line is shared
 public:
  pass(std::uint32_t* const* parts, const position& at) : lines_{parts}, at_(at) {}
  void begin(const algorithm::host_limits& limits) { policy_ = host_policy(limits); }

  // Worker w gives epoch * (2w + 1): a stale or missing contribution always changes the sum.
  bool operator()() {
    ++epoch_;
    const std::uint32_t worker = at_.member * at_.blocks + at_.block;
    return Algorithm::all_reduce(policy_, lines_, at_, epoch_, epoch_ * (2 * worker + 1), total_);
  }

  static unsigned lines(unsigned members) { return algorithm::reduction_layout{members}.lines(); }
  static void start(const host_lines& memory, unsigned member, unsigned members, unsigned blocks) {
    const algorithm::reduction_layout lines{members};
    for (unsigned l = 0; l < lines.lines(); ++l)
      memory.pair_line(member, l) = algorithm::pack(round_loop::first_epoch, 0);
    memory.line(member, lines.arrivals()) = blocks * round_loop::first_epoch;
    memory.line(member, lines.running_sum()) = 0;
    memory.line(member, lines.sum_before()) = 0;
  }

  std::optional<std::pair<std::uint32_t, std::uint32_t>> wrong_result() const {
    const std::uint32_t workers = at_.members * at_.blocks;
    const std::uint32_t expected = epoch_ * workers * workers;  // the first n odd numbers add up to n squared
    if (total_ == expected) return std::nullopt;
    return std::pair{expected, total_};
  }

 private:
  host_policy policy_;
  host_lines lines_;
  position at_;
  std::uint32_t epoch_ = round_loop::first_epoch;
  std::uint32_t total_ = 0;
};

template <class Algorithm>
creation make(const topology::group& group, const configuration& wanted, session& where) {
  return round_loop::make_host_barrier<pass<Algorithm>>(group, wanted.blocks_per_sm.value_or(1), where,
                                                        fmt::format("peer-reduction ({})", Algorithm::name),
                                                        Algorithm::name);
}

constexpr facts ours{.origin = fact::origin::ours,
                     .driver = fact::driver::device,
                     .scope = fact::scope::node,
                     .extent = fact::extent::everything,
                     .order = fact::order::both};

constexpr barrier_variant variants[] = {
    {.name = "push",
     .summary = "every member writes its sum to all others",
     .facts = ours,
     .make = makers::of_both(make<algorithm::push>, built<MGSYNC_WITH_CUDA, gpu_reduction::push>),
     .bounded = true},
    {.name = "pull",
     .summary = "every member reads the sums of all others",
     .facts = ours,
     .make = makers::of_both(make<algorithm::pull>, built<MGSYNC_WITH_CUDA, gpu_reduction::pull>),
     .bounded = true}};

support can_run(const topology::machine& machine, const topology::group& group, const configuration&) {
  if (group.device == topology::device::gpu) {
    if (group.members.size() > algorithm::most_gpus) return support::never("at most 16 GPUs");
    if constexpr (MGSYNC_WITH_CUDA) return gpu_reduction_can_run(machine, group);
    else return support::no(without_cuda);
  }
  if (topology::hosts_of(group).size() > 1)
    return support::no(
        "needs memory shared by all members, and they are on several hosts (--per-node measures each)");
  return support::yes();
}

}  // namespace

extern const backend peer_reduction_backend;
const backend peer_reduction_backend{.name = "peer-reduction",
                                     .summary = "an all-reduce of one value through shared memory",
                                     .variants = variants,
                                     .can_run = can_run};

}  // namespace mgsync
