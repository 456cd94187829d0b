// Every algorithm under Relacy, which explores interleavings and the stale values that C++11 allows: correct
// ones must pass, and every ordering or structure that matters, weakened, must be caught. A new algorithm is
// one line in `tests`.
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

// After the standard headers: it redefines words that they use.
#include <relacy/relacy.hpp>

#include "barriers/parts/algorithm/all_reduce.hpp"
#include "barriers/parts/algorithm/carrier.hpp"
#include "barriers/parts/algorithm/central.hpp"
#include "barriers/parts/algorithm/crowd.hpp"
#include "barriers/parts/algorithm/dissemination.hpp"
#include "barriers/parts/algorithm/hub.hpp"
#include "barriers/parts/algorithm/inbox.hpp"
#include "barriers/parts/algorithm/pull_dissemination.hpp"
#include "barriers/parts/algorithm/relay.hpp"
#include "barriers/parts/algorithm/spread_counter.hpp"
#include "barriers/peers/cas_mailbox.hpp"
#include "barriers/peers/counter_per_peer.hpp"
#include "barriers/peers/data_with_epoch.hpp"
#include "barriers/peers/flags_of_block_0.hpp"
#include "barriers/peers/flags_per_block.hpp"
#include "barriers/peers/pull.hpp"
#include "barriers/peers/sign_alternating.hpp"
#include "barriers/peers/sum_to_zero.hpp"
#include "barriers/peers/three_state.hpp"
#include "tests/race/carrier_memory.hpp"
#include "tests/race/multicast.hpp"
#include "tests/race/orders.hpp"
#include "tests/race/peer_twins.hpp"
#include "tests/race/relacy_policy.hpp"
#include "tests/race/relacy_search.hpp"
#include "tests/race/structural_twins.hpp"

namespace {

using namespace mgsync::algorithm;
using namespace mgsync::race;
using rl::var;

constexpr unsigned start = 0xfffffffeu;  // the epochs of a test wrap
constexpr unsigned rounds = 3;

// What a case says: how many words and pairs a member has, their first values, and one passage of the
// barrier. The lines of `layout` but for the steps of a dissemination among more members than a test has.
template <class Algorithm>
struct barrier_case {
  static constexpr unsigned steps = 3;
  static unsigned words(unsigned members) { return layout{members}.step(0) + steps + 4; }
  static unsigned pairs(unsigned) { return 0; }
  static unsigned place_of(unsigned line, unsigned, unsigned members) {
    const unsigned announcements = layout{members}.announcement(0, 0);
    return line < announcements ? line : layout{members}.step(0) + steps + (line - announcements);
  }
  static unsigned first_value(unsigned word, unsigned members, unsigned blocks) {
    const layout lines{members};
    if (word == lines.arrivals()) return counter_start(blocks, start);
    if (word == lines.crowd()) return counter_start(members * blocks, start);
    return word == lines.center() ? counter_start(members, start) : start;
  }
  template <class P>
  static void pass(P& p, relacy_memory& memory, const position& at, unsigned epoch) {
    RL_ASSERT(Algorithm::arrive_and_wait(p, memory, at, epoch));
  }
};

// A barrier of another project: the counter and the release of a member's blocks, then the words of its own
// lines, one for each member. Unordered: nobody's data are asked for.
template <class Form, bool Ordered = true>
struct peer_case {
  static unsigned words(unsigned members) { return 2 + Form::lines * members; }
  static unsigned pairs(unsigned) { return 0; }
  static unsigned place_of(unsigned line, unsigned offset, unsigned members) {
    return line < 2 ? line : 2 + (line - Form::own(0)) * members + offset;
  }
  static unsigned first_value(unsigned word, unsigned members, unsigned blocks) {
    return word < 2 ? Form::first_value(word, 0, members, blocks, start)
                    : Form::first_value(Form::own((word - 2) / members), (word - 2) % members, members,
                                        blocks, start);
  }
  static bool orders(unsigned) { return Ordered; }
  template <class P>
  static void pass(P& p, relacy_memory& memory, const position& at, unsigned epoch) {
    multicast<relacy_memory> lines{memory, at.members};
    RL_ASSERT(Form::arrive_and_wait(p, lines, at, epoch));
  }
};

template <class Algorithm, bool Ordered = true>
struct reduction_case {
  static bool orders(unsigned) { return Ordered; }
  static unsigned words(unsigned) { return 3; }
  static unsigned pairs(unsigned members) { return 5 + 2 * members; }
  static unsigned place_of(unsigned line, unsigned, unsigned) { return line; }
  static unsigned first_value(unsigned word, unsigned members, unsigned blocks) {
    return word == reduction_layout{members}.arrivals() ? counter_start(blocks, start) : 0;
  }
  template <class P>
  static void pass(P& p, relacy_memory& memory, const position& at, unsigned epoch) {
    const unsigned worker = at.member * at.blocks + at.block;
    const unsigned workers = at.members * at.blocks;
    std::uint32_t total = 0;
    RL_ASSERT(Algorithm::all_reduce(p, memory, at, epoch, epoch * (2 * worker + 1), total));
    RL_ASSERT(total == epoch * workers * workers);
  }
};

// How a case passes: in one call, or every other round in two, or every other round as the library's teams
// arrive, or as the library's kernels do that mix both.
enum class way { whole, split, released, mixed };

template <way How, class P, class Barrier>
void pass_once(P& p, Barrier& barrier, unsigned epoch) {
  if (How == way::whole || epoch % 2 == 0) {
    RL_ASSERT(barrier.arrive_and_wait(epoch));
    return;
  }
  barrier.arrive(epoch);
  RL_ASSERT(p.sync_and(barrier.await(epoch) != 0));
}

// As the library's sync() does at a relay: the release ahead of every question.
template <class P, class Barrier>
void come_released(P& p, Barrier& barrier, relacy_memory& memory, const position& at, unsigned counters,
                   unsigned epoch) {
  if (at.blocks == 1) return barrier.tell(epoch);
  auto& arrival = memory.word(at.member, relay_layout{}.counter(at.block % counters), 0);
  const bool asks = counters == 1, adds = p.leader();
  barrier.go_on(epoch, arrive_released(p, &arrival, adds && !asks, adds && asks, at.blocks * epoch));
}

// Counters 0 and 1, then the inboxes of replicas 0 and 1, then the counts of rounds in two calls: that of
// all, and those of the blocks of each counter.
template <unsigned Counters, unsigned Replicas, way How = way::whole>
struct relay_case {
  static constexpr unsigned most_members = 4;
  static constexpr unsigned split = 2 + 2 * most_members;
  static unsigned words(unsigned) { return split + 3; }
  static unsigned pairs(unsigned) { return 0; }
  static unsigned place_of(unsigned line, unsigned offset, unsigned) {
    const unsigned group = line / relay_layout::stride;
    if (line == relay_layout{}.split_of_all()) return split;
    if (line > relay_layout{}.split_of_all())
      return split + 1 + (line - relay_layout{}.split(0)) / relay_layout::stride;
    return group < relay_shape::most_counters
               ? group
               : 2 + (group - relay_shape::most_counters) * most_members + offset;
  }
  static unsigned first_value(unsigned word, unsigned, unsigned blocks) {
    if (word >= split) return 0;
    if (word >= 2) return start;
    return word < Counters ? counter_start(share_of(word, blocks, Counters), start) : 0;
  }
  template <class P>
  static void pass(P& p, relacy_memory& memory, const position& at, unsigned epoch) {
    relay<P, relacy_memory> barrier(p, memory, at, relay_shape{Counters, Replicas});
    if (How == way::mixed ? epoch % 2 == 0 : How == way::released && epoch % 2 != 0) {
      p.sync();
      come_released(p, barrier, memory, at, Counters, epoch);
      RL_ASSERT(p.sync_and(barrier.await(epoch) != 0));
    } else {
      pass_once<How>(p, barrier, epoch);
    }
  }
};

// Every even round in two calls, of which looks take the second's place.
template <unsigned Counters, unsigned Replicas>
struct looking_relay_case : relay_case<Counters, Replicas, way::released> {
  using waiting = relay_case<Counters, Replicas, way::released>;
  template <class P>
  static void pass(P& p, relacy_memory& memory, const position& at, unsigned epoch) {
    if (epoch % 2 != 0) return waiting::pass(p, memory, at, epoch);
    relay<P, relacy_memory> barrier(p, memory, at, relay_shape{Counters, Replicas});
    barrier.arrive(epoch);
    const auto words = [&](unsigned i) {
      const unsigned from = p.lane() + i * P::lanes;
      return polled_word<relacy_word>{
          from < at.members ? &memory.word(at.member, relay_layout{}.inbox(at.block % Replicas), from)
                            : nullptr,
          epoch};
    };
    rl::linear_backoff backoff;
    while (!look_and_acquire<waiting::most_members>(p, words)) backoff.yield($);
    p.sync();
  }
};

// Every odd round is quiet, the others release first. NeedsPayload: quiet rounds are to order as well, which
// must be caught.
template <unsigned Counters, unsigned Replicas, bool NeedsPayload = false>
struct quiet_relay_case : relay_case<Counters, Replicas, way::released> {
  using loud = relay_case<Counters, Replicas, way::released>;
  static unsigned words(unsigned members) { return loud::words(members) + 2 * loud::most_members; }
  static unsigned first_value(unsigned word, unsigned members, unsigned blocks) {
    return word > loud::split ? 0 : loud::first_value(word, members, blocks);
  }
  static bool orders(unsigned epoch) { return NeedsPayload || epoch % 2 == 0; }
  template <class P>
  static void pass(P& p, relacy_memory& memory, const position& at, unsigned epoch) {
    static_assert(P::words_behind == loud::split - 1, "words of quiet rounds lie behind all others");
    relay<P, relacy_memory> barrier(p, memory, at, relay_shape{Counters, Replicas});
    p.sync();
    if (epoch % 2 == 0) {
      come_released(p, barrier, memory, at, Counters, epoch);
      RL_ASSERT(p.sync_and(barrier.await(epoch) != 0));
      return;
    }
    const unsigned count = (epoch - start + 1) / 2;
    if (at.blocks == 1) {
      barrier.tell_quietly(count);
    } else {
      auto& arrival = memory.word(at.member, relay_layout{}.counter(at.block % Counters), 0);
      const bool asks = Counters == 1, adds = p.leader();
      barrier.go_on_quietly(
          epoch, arrive_quietly(p, &arrival, adds && !asks, adds && asks, at.blocks * epoch), count);
    }
    RL_ASSERT(p.sync_and(barrier.await_quietly(epoch, count) != 0));
  }
};

// Every odd round is mixed, and every even one too unless `Loud`: a block in three releases, each acquires.
// Drops: what is lost on the way to the block that speaks.
enum class drops { nothing, what_was_said, to_unsay };
template <unsigned Counters, unsigned Replicas, bool Loud, drops Dropped = drops::nothing>
struct mixed_relay_case : quiet_relay_case<Counters, Replicas> {
  using loud = relay_case<Counters, Replicas, way::released>;
  static bool is_mixed(unsigned epoch) { return !Loud || epoch % 2 != 0; }
  static bool orders(unsigned) { return true; }
  static bool releases(unsigned block, unsigned epoch) {
    return !is_mixed(epoch) || (block + (epoch - start)) % 3 == 0;
  }
  template <class P>
  static void pass(P& p, relacy_memory& memory, const position& at, unsigned epoch) {
    relay<P, relacy_memory> barrier(p, memory, at, relay_shape{Counters, Replicas});
    p.sync();
    if (!is_mixed(epoch)) {
      come_released(p, barrier, memory, at, Counters, epoch);
      RL_ASSERT(p.sync_and(barrier.await(epoch) != 0));
      return;
    }
    const bool release = releases(at.member * at.blocks + at.block, epoch), adds = p.leader();
    auto& arrival = memory.word(at.member, relay_layout{}.counter(at.block % Counters), 0);
    const bool says = release && Dropped != drops::what_was_said;
    const unsigned count = Loud ? (epoch - start + 1) / 2 : epoch - start;
    if (at.blocks == 1) {
      barrier.tell_mixed(says, count);
    } else {
      const bool asks = Counters == 1;
      if (release && !says) p.fence_release_local();
      barrier.go_on_mixed(
          epoch, arrive_mixed(p, &arrival, adds && !asks, adds && asks, at.blocks * epoch, says), count);
    }
    RL_ASSERT(barrier.await_quietly(epoch, count) != 0);
    if (says && adds && at.blocks > 1 && Dropped != drops::to_unsay) unsay_release(p, arrival);
    p.fence_polled_system();
    p.sync();
  }
};

// Values of 64 bits by teams of one lane, of 32 by teams of two. Groups of two blocks where there are more
// than `MostDirect`. Turns: how many places a value has in an inbox.
template <unsigned Lanes, unsigned MostDirect, unsigned Turns = 2>
struct carrier_case {
  static constexpr unsigned most_members = 3, most_blocks = 3, copies = 2;
  using memory_type = carrier_memory<relacy_memory>;
  static carried_values places(unsigned blocks) {
    return {.blocks = blocks, .lanes = Lanes, .spacing = 4 * Lanes, .most_direct = MostDirect, .group = 2};
  }
  static unsigned words(unsigned) { return 0; }
  static unsigned pairs(unsigned) { return memory_type::pairs_of(places(most_blocks), most_members, copies); }
  static unsigned place_of(unsigned line, unsigned, unsigned) { return line; }
  static unsigned first_value(unsigned, unsigned, unsigned) { return 0; }
  template <class P>
  static void pass(P& p, relacy_memory& memory, const position& at, unsigned epoch) {
    p.sync();
    carry(
        p, memory, at, epoch, [] {}, [] {});
    p.sync();
  }
  // Another value in each half, so that halves of two rounds show.
  template <class P, class Arrived, class Spoken>
  static void carry(P& p, relacy_memory& memory, const position& at, unsigned epoch, Arrived arrived,
                    Spoken spoken) {
    using value = std::conditional_t<Lanes == 1, std::uint64_t, std::uint32_t>;
    memory_type places_of_block{memory, places(most_blocks), most_members, copies, at, p.lane(), Lanes,
                                Turns};
    carrier<P, memory_type> carries(p, places_of_block, places(at.blocks), at);
    const unsigned turn = 1 - carries.last_turn();
    p.sync();  // before another lane writes what this one read
    const unsigned worker = at.member * at.blocks + at.block, workers = at.members * at.blocks;
    const auto given = [&](value v) { return Lanes == 1 ? v + (std::uint64_t{v} * v << 32) : v; };
    auto all = static_cast<value>(given(epoch % 16 + 3 * worker));
    RL_ASSERT(carries.carry(
                  epoch, turn, all, [](value a, value b) { return a + b; }, arrived, spoken) != 0);
    value expected = 0;
    for (unsigned w = 0; w < workers; ++w) expected += static_cast<value>(given(epoch % 16 + 3 * w));
    RL_ASSERT(all == expected);
  }
};
// Every odd round carries values, the others release first, as the library's kernels do that mix both.
template <unsigned Counters, unsigned Replicas>
struct carrying_relay_case : relay_case<Counters, Replicas, way::released> {
  using silent = relay_case<Counters, Replicas, way::released>;
  using carrying = carrier_case<1, 8>;
  static unsigned pairs(unsigned members) { return carrying::pairs(members); }
  template <class P>
  static void pass(P& p, relacy_memory& memory, const position& at, unsigned epoch) {
    relay<P, relacy_memory> barrier(p, memory, at, relay_shape{Counters, Replicas});
    p.sync();
    if (epoch % 2 == 0) {
      come_released(p, barrier, memory, at, Counters, epoch);
      RL_ASSERT(p.sync_and(barrier.await(epoch) != 0));
      return;
    }
    const auto arrived = [&] {
      auto& arrival = memory.word(at.member, relay_layout{}.counter(at.block % Counters), 0);
      if (at.blocks > 1 && p.leader()) p.add_relaxed_local(arrival, 1);
    };
    carrying::carry(p, memory, at, epoch, arrived, [&] { barrier.say(epoch); });
    p.sync();
  }
};

// The blocks of one member: two counters in two copies.
template <way How>
struct spread_case {
  static unsigned words(unsigned) { return 4; }
  static unsigned pairs(unsigned) { return 0; }
  static unsigned place_of(unsigned line, unsigned, unsigned) {
    const unsigned group = line / spread_layout::stride;
    return group / spread_shape::most * 2 + group % spread_shape::most;
  }
  static unsigned first_value(unsigned word, unsigned, unsigned blocks) {
    return counter_start(share_of(word % 2, blocks, 2), start);
  }
  template <class P>
  static void pass(P& p, relacy_memory& memory, const position& at, unsigned epoch) {
    spread_counter<P, relacy_memory> barrier(p, memory, at, spread_shape{2, 2, 0});
    pass_once<How>(p, barrier, epoch);
  }
};

template <class T, unsigned Most>
struct storage {
  alignas(T) std::byte bytes[Most * sizeof(T)];
  T* first() { return reinterpret_cast<T*>(bytes); }
};

// Whether a case's round orders what was written before it.
template <class Case>
bool orders(unsigned epoch) {
  if constexpr (requires { Case::orders(epoch); }) return Case::orders(epoch);
  else return true;
}

// Whether block `block` of all members' releases what it wrote. Where one does not, others may not write
// again what it read.
template <class Case>
bool releases(unsigned block, unsigned epoch) {
  if constexpr (requires { Case::releases(block, epoch); }) return Case::releases(block, epoch);
  else return orders<Case>(epoch);
}
template <class Case>
constexpr unsigned slots_in_turn() {
  if constexpr (requires { Case::releases(0u, 0u); }) return rounds;
  else return 2;
}

// Every worker, of `Lanes` to a block, writes plain data before the barrier and reads everybody's after it,
// where the round and its writer order that; Relacy reports any race on it. That all have come is asked in
// every round, of words that the simulation knows nothing of: its threads take turns.
template <class Case, unsigned Lanes>
class rounds_of final : public scenario {
 public:
  rounds_of(unsigned members, unsigned blocks, weakness weakened)
      : members_(members), blocks_(blocks), weakened_(weakened) {}

  void begin() override {
    for (unsigned m = 0; m < members_; ++m) {
      for (unsigned l = 0; l < Case::words(members_); ++l)
        std::construct_at(words_.first() + m * Case::words(members_) + l,
                          Case::first_value(l, members_, blocks_));
      for (unsigned l = 0; l < Case::pairs(members_); ++l)
        std::construct_at(pairs_.first() + m * Case::pairs(members_) + l, pack(start, 0));
    }
    for (unsigned b = 0; b < members_ * blocks_; ++b) std::construct_at(teams_.first() + b);
    for (unsigned i = 0; i < slots_in_turn<Case>() * workers(); ++i) std::construct_at(data_.first() + i, 0u);
    came_.fill(0);
  }

  void thread(unsigned self) override {
    const unsigned block = self / Lanes;
    relacy_lane lane{teams_.first()[block], self % Lanes};
    relacy_policy<Lanes> policy(weakened_, lane);
    relacy_memory memory{words_.first(),        pairs_.first(), Case::words(members_),
                         Case::pairs(members_), members_,       Case::place_of};
    const position at{block / blocks_, members_, block % blocks_, blocks_};
    for (unsigned round = 1; round <= rounds; ++round) {
      var<unsigned>* slot = data_.first() + round % slots_in_turn<Case>() * workers();
      if (releases<Case>(block, start + round)) slot[self]($) = round;
      came_[self] = round;
      Case::pass(policy, memory, at, start + round);
      for (unsigned other = 0; other < workers(); ++other) {
        RL_ASSERT(came_[other] >= round);
        if (releases<Case>(other / Lanes, start + round)) RL_ASSERT(slot[other]($) == round);
      }
    }
  }

  void end() override {
    for (unsigned i = 0; i < slots_in_turn<Case>() * workers(); ++i) std::destroy_at(data_.first() + i);
    for (unsigned b = 0; b < members_ * blocks_; ++b) std::destroy_at(teams_.first() + b);
    for (unsigned i = 0; i < members_ * Case::pairs(members_); ++i) std::destroy_at(pairs_.first() + i);
    for (unsigned i = 0; i < members_ * Case::words(members_); ++i) std::destroy_at(words_.first() + i);
  }

 private:
  unsigned workers() const { return members_ * blocks_ * Lanes; }

  unsigned members_, blocks_;
  weakness weakened_;
  storage<relacy_word, 64> words_;
  storage<relacy_pair, 192> pairs_;
  storage<relacy_team, 8> teams_;
  storage<var<unsigned>, 36> data_;
  std::array<unsigned, 12> came_{};  // the round that each worker came to
};

int failures = 0;

void expect(bool passed, bool should_pass, const std::string& name) {
  const bool good = passed == should_pass;
  if (!good) ++failures;
  std::printf("%s  %s: %s\n", good ? "ok  " : "FAIL", name.c_str(),
              passed ? "no schedule violated it" : "violated in some schedule");
  std::fflush(stdout);
}

struct shape {
  unsigned members, blocks;
};

constexpr unsigned random_schedules = 10'000;
constexpr unsigned bounded_schedules = 20'000;

template <class Case, unsigned Lanes = 1>
void correct(const std::string& name, std::initializer_list<shape> shapes) {
  for (const auto& s : shapes) {
    rounds_of<Case, Lanes> program(s.members, s.blocks, weakness::none);
    const std::string what = name + " " + std::to_string(s.members) + "x" + std::to_string(s.blocks) +
                             (Lanes == 1 ? "" : ", teams of " + std::to_string(Lanes));
    const unsigned threads = s.members * s.blocks * Lanes;
    expect(holds(program, threads, search::random, random_schedules), true, what + " random");
    expect(holds(program, threads, search::context_bound, bounded_schedules), true, what + " bounded");
  }
}

// The weakened ordering must be caught with two members of `blocks` blocks.
template <class Case, unsigned Lanes = 1>
void caught(const std::string& name, weakness weakened, shape s) {
  rounds_of<Case, Lanes> program(s.members, s.blocks, weakened);
  expect(holds(program, s.members * s.blocks * Lanes, search::random, random_schedules), false,
         weakened == weakness::none
             ? name
             : name + " with a relaxed " + std::string(weakness_names[static_cast<std::size_t>(weakened)]));
}

using enum weakness;

// An algorithm, all shapes, and its weakened twins: those of the exchange between members, then those within
// a member.
template <class Case>
void algorithm_test(const std::string& name, std::initializer_list<weakness> between,
                    std::initializer_list<weakness> within) {
  correct<Case>(name, {{2, 1}, {3, 1}, {2, 2}, {3, 2}});
  for (const auto w : between) caught<Case>(name, w, {2, 1});
  for (const auto w : within) caught<Case>(name, w, {2, 2});
}

template <way How>
void spread_counter_test(const std::string& name) {
  correct<spread_case<How>>(name, {{1, 2}, {1, 3}, {1, 4}});
  caught<spread_case<How>>(name, local_arrival, {1, 2});
  caught<spread_case<How>>(name, local_wait, {1, 2});
}

template <unsigned Counters, unsigned Replicas>
void quiet_test(const std::string& name) {
  algorithm_test<quiet_relay_case<Counters, Replicas>>(name, {system_store, system_wait}, {local_arrival});
  caught<quiet_relay_case<Counters, Replicas, true>>(name + " that are to order", none, {2, 1});
  caught<quiet_relay_case<Counters, Replicas, true>>(name + " that are to order", none, {2, 2});
  correct<quiet_relay_case<Counters, Replicas>, 2>(name, {{1, 2}, {1, 3}});
}

template <unsigned Counters, unsigned Replicas, bool Loud>
void mixed_test(const std::string& name) {
  algorithm_test<mixed_relay_case<Counters, Replicas, Loud>>(name, {system_store, system_wait},
                                                             {local_arrival, local_wait});
  correct<mixed_relay_case<Counters, Replicas, Loud>>(name, {{1, 2}, {1, 3}, {1, 4}});
  correct<mixed_relay_case<Counters, Replicas, Loud>, 2>(name, {{1, 2}, {1, 3}});
  caught<mixed_relay_case<Counters, Replicas, Loud, drops::what_was_said>>(
      name + " whose arrivals do not say who releases", none, {2, 2});
  if constexpr (Loud)  // in mixed rounds alone it costs fences, and is not wrong
    caught<mixed_relay_case<Counters, Replicas, Loud, drops::to_unsay>>(
        name + " whose blocks do not take back what they said", none, {2, 2});
}

// Teams of two lanes: sound as they are, and caught where nothing but votes and broadcasts stands between
// what one lane acquired and what another releases. `speakers`: a shape in which both lanes speak.
template <class Case>
void team_test(const std::string& name, std::initializer_list<shape> shapes, shape speakers) {
  correct<Case, 2>(name, shapes);
  caught<Case, 2>(name + ", teams of 2,", team_barrier, speakers);
}

template <class Form>
void peer_test(const std::string& name) {
  algorithm_test<peer_case<Form>>(name, {system_store, system_wait},
                                  {local_arrival, local_release, local_wait});
}

template <class Case>
void twin_caught(const std::string& name, shape s) {
  rounds_of<Case, 1> program(s.members, s.blocks, none);
  expect(holds(program, s.members * s.blocks, search::random, random_schedules), false, name);
}
template <class Algorithm>
void structure_caught(const std::string& name) {
  twin_caught<barrier_case<Algorithm>>(name, {3, 1});
}

struct named_test {
  const char* name;
  std::function<void()> run;
};

// clang-format off
const std::vector<named_test> tests = {
    {"inbox", [] { algorithm_test<barrier_case<inbox>>("inbox", {system_store, system_wait}, {local_arrival}); }},
    {"hub", [] { algorithm_test<barrier_case<hub>>("hub", {system_store, system_wait}, {local_arrival, local_release, local_wait}); }},
    {"central", [] { algorithm_test<barrier_case<central>>("central", {system_store, system_wait, system_add}, {local_arrival}); }},
    {"crowd", [] { algorithm_test<barrier_case<crowd>>("crowd", {system_store, system_wait}, {}); }},
    {"dissemination", [] { algorithm_test<barrier_case<dissemination<2>>>("dissemination", {system_store, system_wait}, {local_arrival, local_release, local_wait}); }},
    {"dissemination-4", [] { algorithm_test<barrier_case<dissemination<4>>>("dissemination radix 4", {system_store, system_wait}, {local_arrival, local_release, local_wait}); }},
    {"pull-dissemination", [] { algorithm_test<barrier_case<pull_dissemination<2>>>("pull dissemination", {system_store, system_wait}, {local_arrival, local_release, local_wait}); }},
    {"pull-dissemination-4", [] { algorithm_test<barrier_case<pull_dissemination<4>>>("pull dissemination radix 4", {system_store, system_wait}, {local_arrival, local_release, local_wait}); }},
    {"push", [] { algorithm_test<reduction_case<push>>("push", {system_store, system_wait}, {local_arrival}); }},
    {"pull", [] { algorithm_test<reduction_case<pull>>("pull", {system_store, system_wait}, {local_arrival, local_release, local_wait}); }},
    {"relay", [] { algorithm_test<relay_case<1, 1>>("relay", {system_store, system_wait}, {local_arrival}); }},
    {"relay-spread", [] { algorithm_test<relay_case<2, 2>>("relay with 2 counters and 2 replicas", {system_store, system_wait}, {local_arrival}); }},
    {"relay-split", [] { algorithm_test<relay_case<1, 1, way::split>>("relay in two calls", {system_store, system_wait}, {local_arrival}); }},
    {"relay-spread-split", [] { algorithm_test<relay_case<2, 2, way::split>>("relay with 2 counters and 2 replicas in two calls", {system_store, system_wait}, {local_arrival}); }},
    {"relay-released", [] { algorithm_test<relay_case<1, 1, way::released>>("relay that releases first", {system_store, system_wait}, {local_arrival}); }},
    {"relay-spread-released", [] { algorithm_test<relay_case<2, 2, way::released>>("relay with 2 counters and 2 replicas that releases first", {system_store, system_wait}, {local_arrival}); }},
    {"relay-mixed", [] { algorithm_test<relay_case<1, 1, way::mixed>>("relay that releases first or takes two calls", {system_store, system_wait}, {local_arrival}); }},
    {"relay-spread-mixed", [] { algorithm_test<relay_case<2, 2, way::mixed>>("relay with 2 counters and 2 replicas that releases first or takes two calls", {system_store, system_wait}, {local_arrival}); }},
    {"relay-looks", [] { algorithm_test<looking_relay_case<1, 1>>("relay by looks", {system_store, system_wait}, {local_arrival}); }},
    {"relay-spread-looks", [] { algorithm_test<looking_relay_case<2, 2>>("relay with 2 counters and 2 replicas by looks", {system_store, system_wait}, {local_arrival}); }},
    {"relay-quiet", [] { quiet_test<1, 1>("relay with quiet rounds"); }},
    {"relay-spread-quiet", [] { quiet_test<2, 2>("relay with 2 counters and 2 replicas with quiet rounds"); }},
    {"relay-some-release", [] { mixed_test<1, 1, false>("relay in which some release"); }},
    {"relay-spread-some-release", [] { mixed_test<2, 2, false>("relay with 2 counters and 2 replicas in which some release"); }},
    {"relay-some-release-then-all", [] { mixed_test<1, 1, true>("relay in which some release, then all"); }},
    {"relay-spread-some-release-then-all", [] { mixed_test<2, 2, true>("relay with 2 counters and 2 replicas in which some release, then all"); }},
    {"spread-counter", [] { spread_counter_test<way::whole>("spread counter"); }},
    {"spread-counter-split", [] { spread_counter_test<way::split>("spread counter in two calls"); }},
    {"carrier", [] {
       algorithm_test<carrier_case<1, 8>>("carrier", {system_store, system_wait}, {local_arrival});
       correct<carrier_case<1, 8>>("carrier", {{1, 2}, {1, 3}});
       caught<carrier_case<1, 8>>("carrier", local_arrival, {1, 2});
       caught<carrier_case<1, 8>>("carrier", system_wait, {1, 2});
     }},
    {"carrier-groups", [] {
       correct<carrier_case<1, 1>>("carrier of groups", {{1, 3}, {2, 3}});
       caught<carrier_case<1, 1>>("carrier of groups", local_arrival, {1, 3});
       caught<carrier_case<1, 1>>("carrier of groups", system_wait, {1, 3});
     }},
    {"carrier-one-turn", [] { caught<carrier_case<1, 8, 1>>("carrier whose members' values have one place", none, {2, 2}); }},
    {"carrying-relay", [] { algorithm_test<carrying_relay_case<1, 1>>("relay with rounds that carry", {system_store, system_wait}, {local_arrival}); }},
    {"carrying-relay-spread", [] { algorithm_test<carrying_relay_case<2, 2>>("relay with 2 counters and 2 replicas with rounds that carry", {system_store, system_wait}, {local_arrival}); }},
    {"team-carrier", [] { team_test<carrier_case<2, 8>>("carrier", {{2, 1}, {1, 2}, {2, 2}}, {2, 2}); }},
    {"team-carrier-groups", [] { correct<carrier_case<2, 1>, 2>("carrier of groups", {{1, 3}}); }},
    {"team-relay", [] { team_test<relay_case<1, 1>>("relay", {{2, 1}, {2, 2}}, {2, 2}); }},
    {"team-relay-replicas", [] { team_test<relay_case<1, 2>>("relay with 2 replicas", {{1, 2}, {1, 3}}, {1, 3}); }},
    {"team-relay-spread", [] { team_test<relay_case<2, 2>>("relay with 2 counters and 2 replicas", {{1, 2}, {1, 3}}, {1, 3}); }},
    {"team-relay-split", [] { team_test<relay_case<2, 2, way::split>>("relay with 2 counters and 2 replicas in two calls", {{1, 2}, {1, 3}}, {1, 3}); }},
    {"team-relay-released", [] { team_test<relay_case<1, 1, way::released>>("relay that releases first", {{2, 1}, {2, 2}}, {2, 2}); }},
    {"team-relay-spread-released", [] { team_test<relay_case<2, 2, way::released>>("relay with 2 counters and 2 replicas that releases first", {{1, 2}, {1, 3}}, {1, 3}); }},
    {"team-relay-spread-mixed", [] { team_test<relay_case<2, 2, way::mixed>>("relay with 2 counters and 2 replicas that releases first or takes two calls", {{1, 2}, {1, 3}}, {1, 3}); }},
    {"team-spread-counter", [] {
       correct<spread_case<way::whole>, 2>("spread counter", {{1, 2}});
       correct<spread_case<way::split>, 2>("spread counter in two calls", {{1, 2}});
     }},
    {"team-inbox", [] { team_test<barrier_case<inbox>>("inbox", {{2, 1}, {2, 2}}, {2, 2}); }},
    {"team-hub", [] { team_test<barrier_case<hub>>("hub", {{2, 1}, {3, 1}}, {3, 2}); }},
    {"team-central", [] { team_test<barrier_case<central>>("central", {{2, 1}, {2, 2}}, {3, 1}); }},
    {"team-crowd", [] { correct<barrier_case<crowd>, 2>("crowd", {{2, 1}, {2, 2}}); }},
    {"team-dissemination", [] { correct<barrier_case<dissemination<2>>, 2>("dissemination", {{2, 1}, {3, 1}}); }},
    {"team-pull-dissemination", [] { correct<barrier_case<pull_dissemination<2>>, 2>("pull dissemination", {{2, 1}, {3, 1}}); }},
    {"team-push", [] { team_test<reduction_case<push>>("push", {{2, 1}, {2, 2}}, {2, 2}); }},
    {"team-pull", [] { correct<reduction_case<pull>, 2>("pull", {{2, 1}, {2, 2}}); }},
    {"flags-per-block", [] { peer_test<mgsync::peers::flags_per_block>("flags per block"); }},
    {"flags-unordered", [] {
       correct<peer_case<mgsync::peers::flags_unordered, false>>("flags without order", {{2, 1}, {3, 1}, {2, 2}});
       caught<peer_case<mgsync::peers::flags_unordered>>("flags without order that are to order", none, {2, 1});
     }},
    {"flags-of-block-0", [] { algorithm_test<peer_case<mgsync::peers::flags_of_block_0>>("flags of block 0", {system_store, system_wait}, {local_arrival, local_wait}); }},
    {"three-state", [] { peer_test<mgsync::peers::three_state>("a flag of three states"); }},
    {"data-with-epoch", [] {
       correct<reduction_case<mgsync::peers::data_with_epoch, false>>("data with its epoch", {{2, 1}, {3, 1}, {2, 2}});
       caught<reduction_case<mgsync::peers::data_with_epoch>>("data with its epoch that is to order", none, {2, 1});
     }},
    {"cas-mailbox", [] { peer_test<mgsync::peers::cas_mailbox>("a mailbox by compare and swap"); }},
    {"counter-per-peer", [] { peer_test<mgsync::peers::counter_per_peer>("a counter for each peer"); }},
    {"sum-to-zero", [] { peer_test<mgsync::peers::sum_to_zero>("counters that sum to zero"); }},
    {"sign-alternating", [] { peer_test<mgsync::peers::sign_alternating>("a counter whose sign alternates"); }},
    {"pull-of-peers", [] { peer_test<mgsync::peers::pull>("a flag that others read"); }},
    {"multimem", [] { peer_test<mgsync::peers::multimem>("one addition for all"); }},
    {"team-peers", [] {
       team_test<peer_case<mgsync::peers::flags_of_block_0>>("flags of block 0", {{2, 1}, {2, 2}}, {2, 2});
       correct<peer_case<mgsync::peers::flags_per_block>, 2>("flags per block", {{2, 1}, {3, 1}});
       correct<peer_case<mgsync::peers::cas_mailbox>, 2>("a mailbox by compare and swap", {{2, 1}, {3, 1}});
       correct<peer_case<mgsync::peers::sign_alternating>, 2>("a counter whose sign alternates", {{2, 1}, {3, 1}});
     }},
    {"peers-structure", [] {
       twin_caught<peer_case<one_flag_for_all_rounds>>("flags per block with one flag for all rounds", {3, 1});
       twin_caught<peer_case<block_0_alone>>("flags of block 0 that waits for no block", {2, 2});
       twin_caught<peer_case<two_states>>("a flag of two states", {3, 1});
       twin_caught<reduction_case<data_of_one_slot, false>>("data with its epoch in one slot", {3, 1});
       twin_caught<peer_case<letters_not_awaited>>("a mailbox whose letters are not awaited", {3, 1});
       twin_caught<peer_case<counted_by_one>>("a counter for each peer, one of which is looked at", {3, 1});
       twin_caught<peer_case<sum_of_one_sign>>("counters that sum to zero without one's own", {3, 1});
       twin_caught<peer_case<one_alternating_counter>>("one counter whose sign alternates", {3, 1});
       twin_caught<peer_case<read_before_written>>("a flag that others read, of the round before", {3, 1});
       twin_caught<peer_case<taken_off_again>>("one addition for all that is taken off again", {3, 1});
     }},
    {"structure", [] {
       structure_caught<arrival_left_out>("inbox that does not wait for one member");
       structure_caught<one_step_short>("dissemination one step short");
       structure_caught<one_flag_for_two_epochs>("inbox whose flag serves two epochs");
       structure_caught<counter_reset_too_early>("central whose counter is reset after the release");
     }},
};
// clang-format on

}  // namespace

// With a name: that test only.
int main(int count, char** words) {
  bool known = false;
  for (const auto& test : tests) {
    if (count >= 2 && std::strcmp(words[1], test.name) != 0) continue;
    known = true;
    test.run();
  }
  if (!known) std::printf("no test of that name\n");
  std::printf("%d failed\n", failures);
  return known && failures == 0 ? 0 : 1;
}
