// An all-reduce of one value over shared memory, which is a barrier that carries data. Every sum of a checked run is
// compared with the right one.
#include <algorithm>

#include <fmt/format.h>

#include "barriers/algorithm/all_reduce.hpp"
#include "barriers/algorithm/host_policy.hpp"
#include "barriers/backend.hpp"
#include "barriers/peer_reduction/gpu_reduction.hpp"
#include "barriers/round_loop/host_crew.hpp"
#include "src/base/worker_pool.hpp"

namespace mgsync {

namespace {

using algorithm::host_lines;
using algorithm::host_policy;
using algorithm::place;

template <class Algorithm>
class alignas(algorithm::line_bytes) pass {  // its epoch is written every round: no line is shared
 public:
  pass(std::uint32_t* const* parts, const place& at) : lines_{parts}, at_(at) {}
  void begin(const algorithm::host_limits& limits) { policy_ = host_policy(limits); }

  // Worker w gives epoch * (2w + 1): a stale or missing contribution always changes the sum.
  bool operator()() {
    ++epoch_;
    const std::uint32_t worker = at_.member * at_.blocks + at_.block;
    return Algorithm::all_reduce(policy_, lines_, at_, epoch_, epoch_ * (2 * worker + 1), total_);
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
  place at_;
  std::uint32_t epoch_ = round_loop::first_epoch;
  std::uint32_t total_ = 0;
};

template <class Algorithm>
class host_reduction final : public barrier {
 public:
  host_reduction(const topology::group& group, unsigned blocks, session& where,
                 std::unique_ptr<symmetric_memory> slots, std::unique_ptr<symmetric_memory> board)
      : slots_(std::move(slots)),
        crew_(group, blocks, where, std::move(board), true, fmt::format("peer-reduction ({})", Algorithm::name)),
        pool_(crew_.cpus()) {
    const auto members = static_cast<unsigned>(group.members.size());
    for (unsigned m = 0; m < members; ++m) parts_.push_back(reinterpret_cast<std::uint32_t*>(slots_->part(m)));
    for (const auto& w : crew_.workers()) passes_.emplace_back(parts_.data(), place{w.member, members, w.block, blocks});
    pool_.run([&](unsigned i) {
      const auto& w = crew_.workers()[i];
      if (w.block == 0) start_epochs(w.member, members, blocks);
    });
    where.ranks().barrier("zeroing the slots of a reduction");
  }

  trial run(const run_request& request) override {
    return crew_.run(request, passes_, [this](const auto& work) { pool_.run(work); });
  }

 private:
  void start_epochs(unsigned member, unsigned members, unsigned blocks) const {
    const algorithm::reduction_layout lines{members};
    const host_lines memory{parts_.data()};
    for (unsigned l = 0; l < lines.lines(); ++l) memory.pair_line(member, l) = algorithm::pack(round_loop::first_epoch, 0);
    memory.line(member, lines.arrivals()) = blocks * round_loop::first_epoch;
    memory.line(member, lines.running_sum()) = 0;
    memory.line(member, lines.sum_before()) = 0;
  }

  std::unique_ptr<symmetric_memory> slots_;
  std::vector<std::uint32_t*> parts_;
  round_loop::host_crew crew_;
  worker_pool pool_;
  std::vector<pass<Algorithm>> passes_;
};

template <class Algorithm>
creation make(const topology::group& group, unsigned blocks, session& where) {
  const algorithm::reduction_layout lines{static_cast<unsigned>(group.members.size())};
  auto slots = allocate_host_memory(group, lines.lines() * algorithm::line_bytes, reach::group, where);
  if (!slots.memory) return {nullptr, slots.reason, {}, {}};
  auto board = allocate_host_memory(group, round_loop::host_crew::board_bytes(blocks), reach::group, where);
  std::string provider(slots.memory->provider());
  return {std::make_unique<host_reduction<Algorithm>>(group, blocks, where, std::move(slots.memory),
                                                      std::move(board.memory)),
          {}, Algorithm::name, std::move(provider)};
}

constexpr std::string_view variants[] = {"push", "pull"};

support can_run(const topology::machine& machine, const topology::group& group, const configuration&) {
  if (group.device == topology::device::gpu) return gpu_reduction_can_run(machine, group);
  const auto on_another_host = [&](const auto& m) { return m.host != group.members.front().host; };
  if (std::any_of(group.members.begin(), group.members.end(), on_another_host))
    return support::no("needs memory shared by all members, and they are on several hosts");
  return support::yes();
}

creation create(const topology::group& group, const configuration& wanted, session& where) {
  if (group.device == topology::device::gpu) return create_gpu_reduction(group, wanted, where);
  const unsigned blocks = wanted.blocks_per_sm.value_or(1);
  if (wanted.variant == "pull") return make<algorithm::pull>(group, blocks, where);
  return make<algorithm::push>(group, blocks, where);
}

}  // namespace

extern const backend peer_reduction_backend;
const backend peer_reduction_backend{"peer-reduction", "an all-reduce of one value through shared memory", variants,
                                     level::group, true, can_run, create};

}  // namespace mgsync
