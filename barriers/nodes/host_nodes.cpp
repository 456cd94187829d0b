#include "barriers/nodes/host_nodes.hpp"

#include <sched.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "barriers/nodes/faster_form.hpp"
#include "barriers/nodes/speaker.hpp"
#include "barriers/parts/round_loop/host_crew.hpp"
#include "src/base/worker_pool.hpp"

namespace mgsync::nodes {

namespace {

using algorithm::host_lines;
using algorithm::host_policy;
using algorithm::position;
namespace across = algorithm::across_nodes;

// What a worker tells its proxy, and hears of it, in a checked run (host_loop.hpp).
class teller {
 public:
  teller(const node_place& place, unsigned member, unsigned block)
      : place_(&place), board_(place.board()), member_(member), block_(block) {}

  void left(std::uint32_t round, unsigned late) const {
    const auto nodes = static_cast<unsigned>(place_->group.nodes.size());
    unsigned to = place_->group.node_of_member[late];
    if (to == place_->group.own) to = (to + 1 + round % (nodes - 1)) % nodes;
    board_.say(member_, block_, round, to);
  }

  std::optional<unsigned> who_left(std::uint32_t round, std::chrono::nanoseconds patience) const {
    // Two proxies take the word along. Where they have no cores of their own, each waits for its turn.
    const auto until = std::chrono::steady_clock::now() + patience * (place_->yields ? 5 : 1);
    for (;;) {
      for (unsigned proxy = 0; proxy < place_->proxies; ++proxy)
        if (auto who = board_.who_left(place_->home_of(proxy), round)) return who;
      if (std::chrono::steady_clock::now() >= until) return {};
      if (place_->yields) sched_yield();
    }
  }
  void finish() const {}  // a word that comes later names a round that everybody has passed by then

 private:
  const node_place* place_;
  leave_board board_;
  unsigned member_, block_;
};

class alignas(algorithm::line_bytes) pass {  // its epoch is written every round: no line is shared
 public:
  pass(const node_place& place, unsigned member, unsigned block)
      : place_(&place),
        lines_{place.flags.data()},
        at_{member, place.members(), block, place.blocks},
        teller_(place, member, block),
        board_(place.board()) {}

  void begin(const algorithm::host_limits& limits) { policy_ = host_policy(limits); }
  void check(bool wanted) { checked_ = wanted; }

  bool operator()() {
    ++epoch_;
    if (checked_ && at_.block == 0)
      board_.given(at_.member, epoch_) = word_of(epoch_, place_->group.here().members[at_.member]);
    return across::arrive_and_wait(policy_, lines_, at_, place_->proxies, epoch_);
  }

  // The greatest word of all members, which the proxies carried.
  std::optional<std::pair<std::uint32_t, std::uint32_t>> wrong_result() const {
    std::uint32_t expected = 0;
    for (unsigned m = 0; m < place_->group.node_of_member.size(); ++m)
      expected = std::max(expected, word_of(epoch_, m));
    unsigned proxy = 0;
    while (proxy + 1 < place_->proxies && place_->home_of(proxy + 1) <= at_.member) ++proxy;
    const auto seen = board_.carried(place_->home_of(proxy), epoch_);
    if (seen == expected) return {};
    return std::pair{expected, seen};
  }

  const teller* told() const { return &teller_; }

 private:
  const node_place* place_;
  host_policy policy_;
  host_lines lines_;
  position at_;
  teller teller_;
  leave_board board_;
  std::uint32_t epoch_ = round_loop::first_epoch;
  bool checked_ = false;
};

class nodes_barrier final : public barrier {
 public:
  nodes_barrier(const topology::group& group, unsigned blocks, session& where, form wanted,
                std::unique_ptr<symmetric_memory> flags, std::unique_ptr<symmetric_memory> leaves,
                std::unique_ptr<symmetric_memory> board)
      : what_(wanted == form::leader ? "nodes (leader)" : "nodes (rail)"),
        flags_(std::move(flags)),
        leaves_(std::move(leaves)) {
    place_.group = by_nodes(group, where.rank());
    place_.blocks = blocks;
    const auto& here = place_.group.here();
    if (wanted == form::rail) place_.proxies = static_cast<unsigned>(here.ranks.size());
    for (const auto m : here.members) {
      place_.flags.push_back(reinterpret_cast<std::uint32_t*>(flags_->part(m)));
      place_.leaves.push_back(reinterpret_cast<std::uint32_t*>(leaves_->part(m)));
    }
    const auto proxy = place_.number_of(where.rank());
    const bool speaks = proxy < place_.proxies;
    auto crew_group = group;
    const auto workers =
        static_cast<unsigned>(std::ranges::count(group.members, where.rank(), &topology::member::rank)) *
        blocks;
    crew_group.oversubscribed |= are_too_many(where, workers + (speaks ? 1 : 0));
    place_.yields = crew_group.oversubscribed;
    crew_.emplace(crew_group, blocks, where, std::move(board), true, what_);
    auto cpus = crew_->cpus();
    if (speaks) cpus.insert(cpus.begin(), -1);
    pool_.emplace(std::move(cpus),
                  speaks ? worker_pool::first_worker::caller : worker_pool::first_worker::own_thread);
    for (const auto& w : crew_->workers()) passes_.emplace_back(place_, in_node(w.member), w.block);
    first_worker_ = speaks ? 1 : 0;
    pool_->run([&](unsigned i) {
      if (i >= first_worker_) start(crew_->workers()[i - first_worker_]);
    });
    auto rail = where.ranks().split(speaks ? static_cast<int>(proxy) : -1);
    if (speaks) speaker_.emplace(place_, proxy, std::move(*rail), round_loop::first_epoch);
    where.ranks().barrier("writing the first flags of a barrier over nodes");
  }

  trial run(const run_request& request) override {
    const bool checked = request.mode == run_mode::check;
    for (auto& each : passes_) each.check(checked);
    return crew_->run(request, passes_, [&](const auto& work) {
      pool_->run([&](unsigned i) {
        if (i < first_worker_)
          speaker_->serve(request.rounds + (checked ? 0 : round_loop::start_rounds), crew_->limits(request),
                          checked, what_);
        else work(i - first_worker_);
      });
    });
  }

  bool yields() const { return place_.yields; }

 private:
  unsigned in_node(unsigned member) const {
    const auto& all = place_.group.here().members;
    return static_cast<unsigned>(std::ranges::find(all, member) - all.begin());
  }

  // The worker that polls a part writes it first, so that its pages are placed in memory near that worker.
  void start(const round_loop::local_worker& w) const {
    if (w.block != 0) return;
    const unsigned member = in_node(w.member);
    const across::lines of{place_.members()};
    const host_lines memory{place_.flags.data()};
    for (unsigned l = 0; l < of.count(); ++l) memory.line(member, l) = round_loop::first_epoch;
    memory.line(member, algorithm::layout{place_.members()}.arrivals()) =
        algorithm::counter_start(place_.blocks, round_loop::first_epoch);
    place_.board().start(member, round_loop::start_phase - 1);
  }

  std::string what_;
  std::unique_ptr<symmetric_memory> flags_, leaves_;
  node_place place_;
  std::optional<round_loop::host_crew> crew_;
  std::optional<worker_pool> pool_;
  std::vector<pass> passes_;
  unsigned first_worker_ = 0;  // in the pool: behind the proxy, if there is one here
  std::optional<speaker> speaker_;
};

creation create(const topology::group& group, const configuration& wanted, session& where, form how) {
  if (how == form::rail)
    if (auto why = why_no_rails(group); !why.empty()) return creation::none(why);
  const unsigned blocks = wanted.blocks_per_sm.value_or(1);
  const auto nodes = static_cast<unsigned>(topology::hosts_of(group).size());
  const auto allocate = [&](std::size_t lines) {
    return allocate_host_memory(group, lines * algorithm::line_bytes, reach::own_host, where);
  };
  auto flags = allocate(across::lines{static_cast<unsigned>(group.members.size())}.count());
  if (!flags.memory) return creation::none(flags.reason);
  auto leaves = allocate(leave_layout{blocks, nodes}.lines());
  auto board =
      allocate_host_memory(group, round_loop::host_crew::board_bytes(blocks), reach::own_host, where);
  std::string provider(flags.memory->provider());
  auto made = std::make_unique<nodes_barrier>(group, blocks, where, how, std::move(flags.memory),
                                              std::move(leaves.memory), std::move(board.memory));
  auto text = fmt::format("{} over {} nodes{}", how == form::leader ? "leader" : "rail", nodes,
                          made->yields() ? ", proxies share cores" : "");
  return {std::move(made), {}, std::move(text), std::move(provider)};
}

}  // namespace

creation create_leader(const topology::group& group, const configuration& wanted, session& where) {
  return create(group, wanted, where, form::leader);
}

creation create_rail(const topology::group& group, const configuration& wanted, session& where) {
  return create(group, wanted, where, form::rail);
}

creation create_faster(const topology::group& group, const configuration& wanted, session& where) {
  return create_faster_form(create, group, wanted, where);
}

}  // namespace mgsync::nodes
