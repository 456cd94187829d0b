// The barrier over nodes under Relacy, with three kinds of agents: workers, proxies, and a network that takes
// messages from any node to any other one in any order, though those of one node to another in theirs. That
// nobody leaves before all have come is looked at by the simulation's own order of events, as nodes share no
// memory; plain data is exchanged inside each node, and what the proxies carry between them.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

// After the standard headers: it redefines words that they use.
#include <relacy/relacy.hpp>

#include "tests/race/nodes_twins.hpp"
#include "tests/race/relacy_policy.hpp"
#include "tests/race/relacy_search.hpp"

namespace {

using namespace mgsync::algorithm;
using namespace mgsync::race;
using mgsync::race::nodes::message;
using rl::var;

constexpr std::uint64_t start = 0xfffffffeu;  // the low half of the epochs wraps in a test
constexpr unsigned rounds = 3;
constexpr unsigned most_nodes = 3, most_members = 2, most_workers = 4, most_steps = 2;

struct shape {
  unsigned nodes, members, blocks, proxies;
  unsigned workers() const { return nodes * members * blocks; }
  unsigned steps() const { return nodes - 1; }  // of two or three nodes, and as many as a shared counter has
  unsigned threads() const { return workers() + nodes * proxies + 1; }
};

// What is under way on one edge: a message and the one after it, in turn. `sent` is written by the proxy and
// read by the network; `arrived` by the network and the other proxy.
struct edge {
  struct place {
    relacy_pair epoch;
    var<std::uint64_t> carried;
    place() : epoch(start), carried(0) {}
  };
  place sent[2], arrived[2];
};

// The words of one test: constructed inside the simulation.
struct state {
  relacy_word words[most_nodes * most_members * (3 + most_members)];
  relacy_team teams[most_workers];
  var<unsigned> data[2][most_workers];
  var<std::uint64_t> carried[2][most_nodes * most_members];
  edge edges[most_members][most_nodes][most_steps];
  unsigned came[most_workers] = {};  // the order of events itself: no memory of the program
};

unsigned place_of(unsigned line, unsigned, unsigned) { return line; }

// What a node gives in a round: fresh, and the greatest one comes from another node each time.
std::uint64_t word_of(unsigned node, std::uint64_t epoch, unsigned nodes) {
  return epoch * 8 + (node + epoch) % nodes;
}

struct network {
  state& all;
  const shape& of;
  unsigned rail, node;
  std::uint64_t taken[most_steps] = {start, start};

  void send(unsigned to, unsigned step, const message& m) {
    auto& place = all.edges[rail][to][step].sent[m.epoch % 2];
    place.carried($) = m.carried;
    place.epoch($).store(m.epoch, rl::mo_release);
  }
  template <class F>
  void take(unsigned step, F f) {
    auto& place = all.edges[rail][node][step].arrived[(taken[step] + 1) % 2];
    const auto epoch = place.epoch($).load(rl::mo_acquire);
    if (epoch <= taken[step]) return;
    taken[step] = epoch;
    f(message{epoch, place.carried($)});
  }
  template <class Condition>
  bool wait_until(Condition holds) {
    rl::linear_backoff backoff;
    while (!holds()) backoff.yield($);
    return true;
  }
};

template <class Twin>
class rounds_over_nodes final : public scenario {
 public:
  rounds_over_nodes(shape s, weakness weakened) : of_(s), weakened_(weakened) {}

  void begin() override {
    all_ = std::construct_at(reinterpret_cast<state*>(bytes_));
    const across_nodes::lines lines{of_.members};
    for (unsigned m = 0; m < of_.nodes * of_.members; ++m)
      for (unsigned l = 0; l < lines.count(); ++l)
        all_->words[m * lines.count() + l]($).store(
            l == 0 ? counter_start(of_.blocks, static_cast<unsigned>(start)) : static_cast<unsigned>(start),
            rl::mo_relaxed);
    for (auto& slot : all_->data)
      for (auto& one : slot) one($) = 0;
    for (auto& slot : all_->carried)
      for (auto& one : slot) one($) = 0;
  }
  void end() override { std::destroy_at(all_); }

  void thread(unsigned self) override {
    const unsigned proxies = of_.nodes * of_.proxies;
    if (self < of_.workers()) work(self);
    else if (self < of_.workers() + proxies) serve(self - of_.workers());
    else deliver();
  }

 private:
  relacy_memory memory_of(unsigned node) {
    const unsigned words = across_nodes::lines{of_.members}.count();
    return {all_->words + node * of_.members * words, nullptr, words, 0, of_.members, place_of};
  }

  void work(unsigned self) {
    const unsigned of_node = of_.members * of_.blocks, node = self / of_node, first = node * of_node;
    relacy_lane lane{all_->teams[self], 0};
    relacy_policy<1> policy(weakened_, lane);
    auto memory = memory_of(node);
    const position at{(self - first) / of_.blocks, of_.members, self % of_.blocks, of_.blocks};
    for (unsigned round = 1; round <= rounds; ++round) {
      const auto epoch = start + round;
      auto* data = all_->data[round % 2];
      data[self]($) = round;
      all_->came[self] = round;
      RL_ASSERT(across_nodes::arrive_and_wait(policy, memory, at, of_.proxies, static_cast<unsigned>(epoch)));
      for (unsigned other = 0; other < of_.workers(); ++other) RL_ASSERT(all_->came[other] >= round);
      for (unsigned other = first; other < first + of_node; ++other) RL_ASSERT(data[other]($) == round);
      if (!Twin::carries) continue;
      const unsigned proxy = at.member * of_.proxies / of_.members;
      const auto got = static_cast<std::uint64_t>(all_->carried[round % 2][node * of_.proxies + proxy]($));
      RL_ASSERT(got == epoch * 8 + of_.nodes - 1);
    }
  }

  void serve(unsigned number) {
    const unsigned node = number / of_.proxies, rail = number % of_.proxies;
    relacy_lane lane{all_->teams[0], 0};
    relacy_policy<1> policy(weakened_, lane);
    network net{*all_, of_, rail, node};
    using proxy_of = typename Twin::template proxy<relacy_policy<1>, relacy_memory, network>;
    proxy_of proxy(memory_of(node), {node, of_.nodes, rail, of_.proxies, of_.members}, start);
    for (unsigned round = 1; round <= rounds; ++round) {
      const auto given = [&] {
        for (unsigned w = 0; w < of_.members * of_.blocks; ++w)
          RL_ASSERT(all_->data[round % 2][node * of_.members * of_.blocks + w]($) == round);
        return word_of(node, start + round, of_.nodes);
      };
      const auto carry = [&](std::uint64_t word) { all_->carried[round % 2][number]($) = word; };
      RL_ASSERT(proxy.pass(policy, net, start + round, given, carry));
    }
  }

  // Until everything that was said has arrived: which edge is next is for the schedule to choose.
  void deliver() {
    const unsigned steps = counts_all() ? of_.nodes - 1 : of_.nodes == 2 ? 1 : 2;
    const unsigned edges = of_.proxies * of_.nodes * steps;
    std::uint64_t done[most_members * most_nodes * most_steps];
    for (auto& one : done) one = start;
    rl::linear_backoff backoff;
    for (unsigned left = edges * rounds; left != 0;) {
      const unsigned first = rl::rand(edges);
      bool moved = false;
      for (unsigned i = 0; i < edges && !moved; ++i) {
        const unsigned which = (first + i) % edges;
        auto& on = all_->edges[which / (of_.nodes * steps)][which / steps % of_.nodes][which % steps];
        auto& from = on.sent[(done[which] + 1) % 2];
        const auto epoch = from.epoch($).load(rl::mo_acquire);
        if (epoch <= done[which]) continue;
        auto& to = on.arrived[epoch % 2];
        to.carried($) = static_cast<std::uint64_t>(from.carried($));
        to.epoch($).store(epoch, rl::mo_release);
        done[which] = epoch;
        left -= 1;
        moved = true;
      }
      if (!moved) backoff.yield($);
    }
  }
  static constexpr bool counts_all() { return std::is_same_v<Twin, nodes::shared_counter>; }

  shape of_;
  weakness weakened_;
  alignas(state) std::byte bytes_[sizeof(state)];
  state* all_ = nullptr;
};

int failures = 0;

template <class Twin>
void expect(bool should_hold, shape s, weakness weakened, const std::string& name) {
  rounds_over_nodes<Twin> program(s, weakened);
  const bool random = holds(program, s.threads(), search::random, 10'000);
  const bool both = random && (!should_hold || holds(program, s.threads(), search::context_bound, 10'000));
  const bool good = both == should_hold;
  if (!good) ++failures;
  std::printf("%s  %s, %u nodes of %ux%u with %u proxies: %s\n", good ? "ok  " : "FAIL", name.c_str(),
              s.nodes, s.members, s.blocks, s.proxies,
              both ? "no schedule violated it" : "violated in some schedule");
  std::fflush(stdout);
}

using enum weakness;

// clang-format off
const std::vector<std::pair<const char*, std::function<void()>>> tests = {
    {"leader", [] {
       expect<nodes::sound>(true, {2, 1, 1, 1}, none, "leader");
       expect<nodes::sound>(true, {3, 1, 1, 1}, none, "leader");
       expect<nodes::sound>(true, {2, 2, 1, 1}, none, "leader");
       expect<nodes::sound>(true, {2, 1, 2, 1}, none, "leader");
     }},
    {"rail", [] { expect<nodes::sound>(true, {2, 2, 1, 2}, none, "rail"); }},
    {"weakened", [] {
       expect<nodes::sound>(false, {2, 2, 1, 1}, system_store, "a relaxed system-store");
       expect<nodes::sound>(false, {2, 2, 1, 1}, system_wait, "a relaxed system-wait");
       expect<nodes::sound>(false, {2, 1, 2, 1}, local_arrival, "a relaxed local-arrival");
       expect<nodes::sound>(false, {2, 1, 2, 1}, local_release, "a relaxed local-release");
       expect<nodes::sound>(false, {2, 1, 2, 1}, local_wait, "a relaxed local-wait");
     }},
    {"released-early", [] { expect<nodes::released_early>(false, {3, 1, 1, 1}, none, "released-early"); }},
    {"stale-epoch", [] { expect<nodes::stale_epoch>(false, {2, 1, 1, 1}, none, "stale-epoch"); }},
    {"shared-counter", [] { expect<nodes::shared_counter>(false, {3, 1, 1, 1}, none, "shared-counter"); }},
};
// clang-format on

}  // namespace

// With a name: that test only.
int main(int count, char** words) {
  bool known = false;
  for (const auto& [name, run] : tests) {
    if (count >= 2 && std::strcmp(words[1], name) != 0) continue;
    known = true;
    run();
  }
  std::printf(known ? "%d failed\n" : "no test of that name\n", failures);
  return known && failures == 0 ? 0 : 1;
}
