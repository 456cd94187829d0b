#include "barriers/nodes/host_nodes.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>
#include <utility>

#include "barriers/nodes/leave_board.hpp"
#include "barriers/nodes/node_group.hpp"
#include "barriers/nodes/proxy_network.hpp"
#include "barriers/parts/algorithm/across_nodes.hpp"
#include "barriers/parts/round_loop/host_crew.hpp"
#include "src/base/errors.hpp"
#include "src/base/hosts.hpp"
#include "src/base/pinning.hpp"
#include "src/base/worker_pool.hpp"

namespace mgsync::nodes {

namespace {

using algorithm::host_lines;
using algorithm::host_policy;
using algorithm::position;
namespace across = algorithm::across_nodes;

enum class form { leader, rail };

// What the threads of one process share.
struct shared_place {
  node_group group;
  unsigned blocks = 1, proxies = 1;
  std::vector<std::uint32_t*> flags;   // of this node's members
  std::vector<std::uint32_t*> leaves;  // the same
  bool yields = false;

  unsigned members() const { return static_cast<unsigned>(flags.size()); }
  unsigned home_of(unsigned proxy) const { return across::first_member_of(proxy, proxies, members()); }
  leave_board board() const { return {leaves.data(), blocks, static_cast<unsigned>(group.nodes.size())}; }
};

// What a worker tells its proxy, and hears of it, in a checked run (host_loop.hpp).
class teller {
 public:
  teller(const shared_place& place, unsigned member, unsigned block)
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
  const shared_place* place_;
  leave_board board_;
  unsigned member_, block_;
};

class alignas(algorithm::line_bytes) pass {  // its epoch is written every round: no line is shared
 public:
  pass(const shared_place& place, unsigned member, unsigned block)
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
  const shared_place* place_;
  host_policy policy_;
  host_lines lines_;
  position at_;
  teller teller_;
  leave_board board_;
  std::uint32_t epoch_ = round_loop::first_epoch;
  bool checked_ = false;
};

// The proxy of this process: its thread that started MPI.
class speaker {
 public:
  speaker(const shared_place& place, unsigned proxy, communicator rail)
      : place_(&place),
        home_(place.home_of(proxy)),
        end_(place.home_of(proxy + 1)),
        node_in_rail_(place.group.nodes.size()),
        seen_(std::size_t{place.members()} * place.blocks) {
    const auto nodes = rail.all_gather_values(place.group.own, "gathering the nodes of a rail");
    for (unsigned n = 0; n < nodes.size(); ++n) node_in_rail_[nodes[n]] = n;
    node_of_rail_.assign(nodes.begin(), nodes.end());
    network_.emplace(std::move(rail));
    proxy_.emplace(
        host_lines{place.flags.data()},
        across::proxy_place{network_->node(), network_->nodes(), proxy, place.proxies, place.members()},
        round_loop::first_epoch);
  }

  // All rounds of a run. Throws rank_lost where a node does not answer.
  void serve(std::uint64_t rounds, const algorithm::host_limits& limits, bool checked,
             std::string_view what) {
    host_policy policy(limits);
    network_->begin(limits, checked, [&] {
      if (checked) pass_leaves_on();
    });
    const auto before = epoch_;
    for (const auto last = epoch_ + rounds; epoch_ != last;) {
      ++epoch_;
      const auto given = [&] { return checked ? word_of_node() : 0u; };
      const auto carry = [&](std::uint64_t word) {
        if (checked)
          place_->board().carried(home_, static_cast<std::uint32_t>(epoch_)) =
              static_cast<std::uint32_t>(word);
      };
      if (!proxy_->pass(policy, *network_, epoch_, given, carry)) return give_up(epoch_ - before, what);
    }
  }

 private:
  // Each worker that has left a round said so before it came to this one.
  std::uint32_t word_of_node() {
    pass_leaves_on();
    std::uint32_t greatest = 0;
    for (unsigned m = 0; m < place_->members(); ++m)
      greatest = std::max(greatest, place_->board().given(m, static_cast<std::uint32_t>(epoch_)));
    return greatest;
  }

  void pass_leaves_on() {
    const auto board = place_->board();
    for (unsigned m = home_; m < end_; ++m)
      for (unsigned b = 0; b < place_->blocks; ++b)
        board.look(m, b, seen_[m * place_->blocks + b], [&](std::uint32_t round, unsigned node) {
          network_->tell(node_in_rail_[node], {round, place_->group.here().members[m]});
        });
    network_->take_leaves(
        [&](const leave& one) { board.note(home_, place_->group.node_of_member[one.member], one); });
  }

  void give_up(std::uint64_t round, std::string_view what) {
    const auto silent = network_->call_the_roll();
    if (silent.empty()) return;
    std::vector<std::string> names;
    for (const auto n : silent) names.push_back(place_->group.nodes[node_of_rail_[n]].in_words());
    throw rank_lost(fmt::format("{}: given up at round {} of a run; does not answer: {}", what, round,
                                fmt::join(names, ", ")));
  }

  const shared_place* place_;
  unsigned home_, end_;  // the members that it serves
  std::vector<unsigned> node_in_rail_, node_of_rail_;
  std::vector<std::uint64_t> seen_;
  std::optional<proxy_network> network_;
  std::optional<across::proxy<host_policy, host_lines, proxy_network>> proxy_;
  std::uint64_t epoch_ = round_loop::first_epoch;
};

// Whether the workers and proxies of this machine, or of this process, are more than its hardware threads.
bool are_too_many(const session& where, unsigned threads) {
  struct on_machine {
    char boot[64] = {};
    unsigned threads = 0;
  } mine;
  boot_id().copy(mine.boot, sizeof mine.boot - 1);
  mine.threads = threads;
  unsigned here = 0;
  for (const auto& other : where.ranks().all_gather_values(mine, "counting the threads of a machine"))
    if (std::string_view(other.boot) == mine.boot) here += other.threads;
  const bool crowded = threads > allowed_cpus().size() || here > sysconf(_SC_NPROCESSORS_ONLN);
  const auto all = where.ranks().all_gather_values(crowded, "agreeing on how to wait");
  return std::ranges::find(all, true) != all.end();
}

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
    const auto proxy =
        static_cast<unsigned>(std::ranges::find(here.ranks, where.rank()) - here.ranks.begin());
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
    if (speaks) speaker_.emplace(place_, proxy, std::move(*rail));
    where.ranks().barrier("writing the first flags of a barrier over nodes");
  }

  trial run(const run_request& request) override {
    const bool checked = request.mode == run_mode::check;
    for (auto& each : passes_) each.check(checked);
    return crew_->run(request, passes_, [&](const auto& work) {
      pool_->run([&](unsigned i) {
        if (i < first_worker_) speak(request, checked);
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

  // A proxy that fails takes its node's workers along, which would wait for it otherwise.
  void speak(const run_request& request, bool checked) {
    const auto limits = crew_->limits(request);
    try {
      speaker_->serve(request.rounds + (checked ? 0 : round_loop::start_rounds), limits, checked, what_);
    } catch (...) {
      std::uint32_t none = 0;
      std::atomic_ref<std::uint32_t>(*limits.abort)
          .compare_exchange_strong(none, algorithm::host_limits::timed_out);
      throw;
    }
  }

  std::string what_;
  std::unique_ptr<symmetric_memory> flags_, leaves_;
  shared_place place_;
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
  auto leaves = allocate(leave_board::lines(blocks, nodes));
  auto board =
      allocate_host_memory(group, round_loop::host_crew::board_bytes(blocks), reach::own_host, where);
  std::string provider(flags.memory->provider());
  auto made = std::make_unique<nodes_barrier>(group, blocks, where, how, std::move(flags.memory),
                                              std::move(leaves.memory), std::move(board.memory));
  auto text = fmt::format("{} over {} nodes{}", how == form::leader ? "leader" : "rail", nodes,
                          made->yields() ? ", proxies share cores" : "");
  return {std::move(made), {}, std::move(text), std::move(provider)};
}

// Microseconds of a round, the least of three runs, by the slowest rank of each; nothing where one was given
// up.
std::optional<double> measured(barrier& one, session& where) {
  constexpr unsigned rounds = 200;
  std::optional<double> least;
  for (int turn = 0; turn < 3; ++turn) {
    run_request request;
    request.rounds = rounds;
    request.deadline = awake_clock::now() + where.timeout() * 3 / 5;
    const auto seen = one.run(request);
    double us = seen.outcome == outcome::completed ? 0 : -1;
    for (const auto& each : seen.elapsed)
      if (us >= 0) us = std::max(us, static_cast<double>(each.count()) / 1000 / rounds);
    const auto all = where.ranks().all_gather_values(us, "comparing the forms of a barrier over nodes");
    if (std::ranges::min(all) < 0) return {};
    const double slowest = std::ranges::max(all);
    least = least ? std::min(*least, slowest) : slowest;
  }
  return least;
}

}  // namespace

creation create_leader(const topology::group& group, const configuration& wanted, session& where) {
  return create(group, wanted, where, form::leader);
}

creation create_rail(const topology::group& group, const configuration& wanted, session& where) {
  return create(group, wanted, where, form::rail);
}

creation create_faster(const topology::group& group, const configuration& wanted, session& where) {
  auto leader = create_leader(group, wanted, where);
  if (leader.barrier == nullptr) return leader;
  const bool one_each = by_nodes(group, -1).nodes.front().ranks.size() == 1;
  if (one_each || !why_no_rails(group).empty()) return leader;
  const auto of_leader = measured(*leader.barrier, where);
  leader.barrier.reset();
  if (!of_leader) return create_leader(group, wanted, where);
  std::optional<double> of_rail = measured(*create_rail(group, wanted, where).barrier, where);
  const bool takes_rail = of_rail && *of_rail < *of_leader;
  auto taken =
      create(group, wanted, where, takes_rail ? form::rail : form::leader);  // its rounds count from 0
  taken.algorithm += fmt::format(" (leader {:.3g} us, rail {:.3g} us)", *of_leader, of_rail.value_or(0));
  return taken;
}

}  // namespace mgsync::nodes
