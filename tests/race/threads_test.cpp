// Every algorithm on real threads, 1 to 8 of them: plain data written before the barrier and read after it,
// epochs that wrap. Without arguments all must hold, and ThreadSanitizer (preset tsan) must stay silent. With
// `weaken ALGORITHM WHAT` one ordering is relaxed: the values are right all the same on x86, and
// ThreadSanitizer must report the race.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "barriers/parts/algorithm/all_reduce.hpp"
#include "barriers/parts/algorithm/carrier.hpp"
#include "barriers/parts/algorithm/central.hpp"
#include "barriers/parts/algorithm/crowd.hpp"
#include "barriers/parts/algorithm/dissemination.hpp"
#include "barriers/parts/algorithm/host_policy.hpp"
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
#include "tests/race/thread_policy.hpp"

namespace {

using namespace mgsync::algorithm;
using namespace mgsync::race;

constexpr std::uint32_t start = 0xffffffe0u;  // the epochs wrap after 32 rounds
constexpr std::uint32_t rounds = 60;

struct shape {
  unsigned members, blocks;
};
constexpr shape shapes[] = {{1, 1}, {2, 1}, {3, 1}, {5, 1}, {8, 1}, {1, 2},
                            {1, 5}, {1, 8}, {2, 2}, {3, 2}, {2, 4}, {7, 1}};

// A case says how much memory a member needs, its first values, and how a worker passes the barrier once.
template <class Algorithm>
struct barrier_case {
  static unsigned lines(unsigned members) { return layout{members}.lines(); }
  static void first_values(const host_lines& memory, unsigned member, shape s) {
    const layout at{s.members};
    for (unsigned l = 0; l < at.lines(); ++l) memory.line(member, l) = start;
    memory.line(member, at.arrivals()) = counter_start(s.blocks, start);
    memory.line(member, at.center()) = counter_start(s.members, start);
    memory.line(member, at.crowd()) = counter_start(s.members * s.blocks, start);
  }
  template <class P>
  static bool pass(P& policy, host_lines& memory, const position& at, std::uint32_t epoch) {
    return Algorithm::arrive_and_wait(policy, memory, at, epoch);
  }
};

// A barrier of another project.
template <class Form>
struct peer_case {
  static unsigned lines(unsigned) { return Form::all_lines(); }
  static void first_values(const host_lines& memory, unsigned member, shape s) {
    const auto image = mgsync::peers::image_of<Form>(s.members, s.blocks, start);
    std::copy(image.begin(), image.end(), &memory.line(member, 0));
  }
  template <class P>
  static bool pass(P& policy, host_lines& memory, const position& at, std::uint32_t epoch) {
    multicast<host_lines> lines{memory, at.members};
    return Form::arrive_and_wait(policy, lines, at, epoch);
  }
};

template <class Algorithm>
struct reduction_case {
  static unsigned lines(unsigned members) { return reduction_layout{members}.lines(); }
  static void first_values(const host_lines& memory, unsigned member, shape s) {
    const reduction_layout at{s.members};
    for (unsigned l = 0; l < at.lines(); ++l) memory.pair_line(member, l) = pack(start, 0);
    memory.line(member, at.arrivals()) = counter_start(s.blocks, start);
    memory.line(member, at.running_sum()) = 0;
    memory.line(member, at.sum_before()) = 0;
  }
  template <class P>
  static bool pass(P& policy, host_lines& memory, const position& at, std::uint32_t epoch) {
    const std::uint32_t worker = at.member * at.blocks + at.block;
    const std::uint32_t workers = at.members * at.blocks;
    std::uint32_t total = 0;
    return Algorithm::all_reduce(policy, memory, at, epoch, epoch * (2 * worker + 1), total) &&
           total == epoch * workers * workers;
  }
};

// Symmetric memory as pairs, one behind the other.
struct host_pairs {
  std::uint32_t* const* parts;
  std::uint64_t& pair_at(unsigned member, unsigned index) const {
    return reinterpret_cast<std::uint64_t*>(parts[member])[index];
  }
};
// Values of 64 bits, of blocks in groups of three where there are more than `MostDirect`. Their sum is of
// floating-point numbers that depends on the order: all are to see the same bits.
template <unsigned MostDirect>
struct carrier_case {
  static constexpr unsigned most_members = 8, most_blocks = 8, copies = 2;
  static carried_values places(unsigned blocks) {
    return {.blocks = blocks, .lanes = 1, .spacing = 5, .most_direct = MostDirect, .group = 3};
  }
  using memory_type = carrier_memory<const host_pairs>;
  static unsigned pairs() { return memory_type::pairs_of(places(most_blocks), most_members, copies); }
  static unsigned lines(unsigned) { return pairs() * 8 / line_bytes + 1; }
  static void first_values(const host_lines& memory, unsigned member, shape) {
    for (unsigned i = 0; i < pairs(); ++i) host_pairs{memory.parts}.pair_at(member, i) = pack(start, 0);
  }
  // What a carrier makes of the values of all blocks.
  static double expected(const position& at, std::uint32_t epoch) {
    std::vector<double> of_members;
    const unsigned group = at.blocks > MostDirect ? 3 : at.blocks;
    for (unsigned m = 0; m < at.members; ++m) {
      std::vector<double> of_groups;
      for (unsigned b = 0; b < at.blocks; ++b)
        if (b % group == 0) of_groups.push_back(value(m * at.blocks + b, epoch));
        else of_groups.back() += value(m * at.blocks + b, epoch);
      of_members.push_back(of_groups[0]);
      for (unsigned g = 1; g < of_groups.size(); ++g) of_members.back() += of_groups[g];
    }
    for (unsigned m = 1; m < at.members; ++m) of_members[0] += of_members[m];
    return of_members[0];
  }
  static double value(unsigned worker, std::uint32_t epoch) { return 1.0 / (worker + 3 + epoch % 64); }
  template <class P>
  static bool pass(P& policy, host_lines& memory, const position& at, std::uint32_t epoch) {
    const host_pairs pairs{memory.parts};
    const memory_type places_of_block{pairs, places(most_blocks), most_members, copies, at};
    carrier<P, const memory_type> carries(policy, places_of_block, places(at.blocks), at);
    const unsigned turn = 1 - carries.last_turn();
    double sum = value(at.member * at.blocks + at.block, epoch);
    const auto nothing = [] {};
    return carries.carry(
               epoch, turn, sum, [](double a, double b) { return a + b; }, nothing, nothing) != 0 &&
           sum == expected(at, epoch);
  }
};

// How a case passes: in one call, or every other round in two.
enum class way { whole, split };

template <class Barrier>
bool pass_once(Barrier& barrier, way how, std::uint32_t epoch) {
  if (how == way::whole || epoch % 2 == 0) return barrier.arrive_and_wait(epoch);
  barrier.arrive(epoch);
  return barrier.await(epoch);
}

template <unsigned Counters, unsigned Replicas, way How = way::whole>
struct relay_case {
  static unsigned lines(unsigned) { return relay_layout{}.lines(); }
  static void first_values(const host_lines& memory, unsigned member, shape s) {
    const relay_layout at{};
    for (unsigned r = 0; r < Replicas; ++r)
      for (unsigned from = 0; from < s.members; ++from) memory.word(member, at.inbox(r), from) = start;
    for (unsigned k = 0; k < Counters; ++k)
      memory.word(member, at.counter(k), 0) = counter_start(share_of(k, s.blocks, Counters), start);
  }
  template <class P>
  static bool pass(P& policy, host_lines& memory, const position& at, std::uint32_t epoch) {
    auto barrier = make(policy, memory, at);
    return pass_once(barrier, How, epoch);
  }
  template <class P>
  static relay<P, host_lines> make(P& policy, host_lines& memory, const position& at) {
    return {policy, memory, at, relay_shape{Counters, Replicas}};
  }
};

template <way How>
struct spread_case {
  static unsigned lines(unsigned) { return spread_layout{}.lines(); }
  static void first_values(const host_lines& memory, unsigned member, shape s) {
    const spread_layout at{};
    for (unsigned copy = 0; copy < 2; ++copy)
      for (unsigned k = 0; k < 2; ++k)
        memory.word(member, at.counter(copy, k), 0) = counter_start(share_of(k, s.blocks, 2), start);
  }
  template <class P>
  static bool pass(P& policy, host_lines& memory, const position& at, std::uint32_t epoch) {
    auto barrier = make(policy, memory, at);
    return pass_once(barrier, How, epoch);
  }
  template <class P>
  static spread_counter<P, host_lines> make(P& policy, host_lines& memory, const position& at) {
    return {policy, memory, at, spread_shape{2, 2, 0}};
  }
};

// One worker's rounds. Returns how many values were wrong; a barrier given up counts as one.
template <class Case, class P>
unsigned work(P& policy, host_lines memory, const position& at, std::uint32_t* data) {
  unsigned wrong = 0;
  const unsigned workers = at.members * at.blocks;
  for (std::uint32_t round = 1; round <= rounds; ++round) {
    std::uint32_t* slot = data + round % 2 * workers;
    slot[at.member * at.blocks + at.block] = round;
    if (!Case::pass(policy, memory, at, start + round)) return wrong + 1;
    for (unsigned other = 0; other < workers; ++other)
      if (slot[other] != round) ++wrong;
  }
  return wrong;
}

template <class Case, class P>
unsigned run(shape s, const std::function<P()>& make_policy) {
  const std::size_t part = Case::lines(s.members) * (line_bytes / sizeof(std::uint64_t));
  std::vector<std::uint64_t> memory(part * s.members);
  std::vector<std::uint32_t*> parts;
  for (unsigned m = 0; m < s.members; ++m)
    parts.push_back(reinterpret_cast<std::uint32_t*>(&memory[m * part]));
  const host_lines lines{parts.data()};
  for (unsigned m = 0; m < s.members; ++m) Case::first_values(lines, m, s);
  const unsigned workers = s.members * s.blocks;
  std::vector<std::uint32_t> data(2 * workers);
  std::vector<unsigned> wrong(workers);
  std::vector<std::thread> threads;
  for (unsigned w = 0; w < workers; ++w)
    threads.emplace_back([&, w] {
      P policy = make_policy();
      wrong[w] =
          work<Case>(policy, lines, position{w / s.blocks, s.members, w % s.blocks, s.blocks}, data.data());
    });
  unsigned total = 0;
  for (unsigned w = 0; w < workers; ++w) {
    threads[w].join();
    total += wrong[w];
  }
  return total;
}

std::uint32_t given_up = 0;

// What the program runs: bounded, and with a yield, since the threads may be more than the cores.
host_policy shipped() { return host_policy(host_limits{std::chrono::seconds(60), &given_up, true, nullptr}); }

struct algorithm_test {
  std::string_view name;
  std::function<unsigned(shape)> run;
  std::function<unsigned(shape, weakness)> run_weakened;
  unsigned most_members = 8;
};

template <class Case>
unsigned run_weakened(shape s, weakness weakened) {
  return run<Case, thread_policy>(s, [&] { return thread_policy(weakened); });
}

// An algorithm that runs on host members, and one that so far runs on GPU members only.
template <class Case>
algorithm_test on_hosts(std::string_view name) {
  return {name, [](shape s) { return run<Case, host_policy>(s, shipped); }, run_weakened<Case>};
}
template <class Case>
algorithm_test on_gpus(std::string_view name, unsigned most_members = 8) {
  return {name, [](shape s) { return run_weakened<Case>(s, weakness::none); }, run_weakened<Case>,
          most_members};
}

const std::vector<algorithm_test> tests = {
    on_hosts<barrier_case<inbox>>("inbox"),
    on_hosts<barrier_case<hub>>("hub"),
    on_hosts<barrier_case<central>>("central"),
    on_hosts<barrier_case<crowd>>("crowd"),
    on_hosts<barrier_case<dissemination<2>>>("dissemination"),
    on_hosts<barrier_case<dissemination<4>>>("dissemination-4"),
    on_hosts<barrier_case<pull_dissemination<2>>>("pull-dissemination"),
    on_hosts<barrier_case<pull_dissemination<8>>>("pull-dissemination-8"),
    on_hosts<reduction_case<push>>("push"),
    on_hosts<reduction_case<pull>>("pull"),
    on_hosts<peer_case<mgsync::peers::flags_per_block>>("flags-per-block"),
    on_hosts<peer_case<mgsync::peers::flags_of_block_0>>("flags-of-block-0"),
    on_hosts<peer_case<mgsync::peers::three_state>>("three-state"),
    on_hosts<peer_case<mgsync::peers::cas_mailbox>>("cas-mailbox"),
    on_hosts<peer_case<mgsync::peers::counter_per_peer>>("counter-per-peer"),
    on_hosts<peer_case<mgsync::peers::sum_to_zero>>("sum-to-zero"),
    on_hosts<peer_case<mgsync::peers::sign_alternating>>("sign-alternating"),
    on_hosts<peer_case<mgsync::peers::pull>>("pull-of-peers"),
    on_hosts<peer_case<mgsync::peers::multimem>>("multimem"),
    on_gpus<relay_case<1, 1>>("relay"),
    on_gpus<relay_case<2, 2>>("relay-spread"),
    on_gpus<relay_case<1, 1, way::split>>("relay-split"),
    on_gpus<relay_case<2, 2, way::split>>("relay-spread-split"),
    on_gpus<spread_case<way::whole>>("spread-counter", 1),
    on_gpus<spread_case<way::split>>("spread-counter-split", 1),
    on_gpus<carrier_case<8>>("carrier"),
    on_gpus<carrier_case<1>>("carrier-groups"),
};

// An arrival waits for nobody: one thread arrives for all workers, one after the other, then waits for all.
template <class Case>
unsigned arrive_alone(shape s) {
  const std::size_t part = Case::lines(s.members) * (line_bytes / sizeof(std::uint64_t));
  std::vector<std::uint64_t> memory(part * s.members);
  std::vector<std::uint32_t*> parts;
  for (unsigned m = 0; m < s.members; ++m)
    parts.push_back(reinterpret_cast<std::uint32_t*>(&memory[m * part]));
  host_lines lines{parts.data()};
  for (unsigned m = 0; m < s.members; ++m) Case::first_values(lines, m, s);
  thread_policy policy(weakness::none);
  unsigned wrong = 0;
  for (std::uint32_t epoch = start + 1; epoch != start + rounds; ++epoch) {
    for (unsigned w = 0; w < s.members * s.blocks; ++w)
      Case::make(policy, lines, position{w / s.blocks, s.members, w % s.blocks, s.blocks}).arrive(epoch);
    for (unsigned w = 0; w < s.members * s.blocks; ++w)
      if (!Case::make(policy, lines, position{w / s.blocks, s.members, w % s.blocks, s.blocks}).await(epoch))
        ++wrong;
  }
  return wrong;
}

int run_all() {
  int failures = 0;
  for (const auto& test : tests) {
    unsigned wrong = 0;
    for (const auto& s : shapes)
      if (s.members <= test.most_members) wrong += test.run(s);
    std::printf("%s  %s: %u wrong values\n", wrong == 0 ? "ok  " : "FAIL", std::string(test.name).c_str(),
                wrong);
    std::fflush(stdout);
    if (wrong != 0) ++failures;
  }
  unsigned wrong = 0;
  for (const auto& s : shapes) {
    wrong += arrive_alone<relay_case<1, 1>>(s) + arrive_alone<relay_case<2, 2>>(s);
    if (s.members == 1) wrong += arrive_alone<spread_case<way::split>>(s);
  }
  std::printf("%s  an arrival waits for nobody: %u wrong\n", wrong == 0 ? "ok  " : "FAIL", wrong);
  if (wrong != 0) ++failures;
  return failures == 0 ? 0 : 1;
}

// Members exchange by system orders, blocks of a member by local ones: two of each show every weakness.
int run_one_weakened(std::string_view algorithm, std::string_view what) {
  const auto which = std::find(weakness_names.begin(), weakness_names.end(), what);
  for (const auto& test : tests)
    if (test.name == algorithm && which != weakness_names.end()) {
      const auto weakened = static_cast<weakness>(which - weakness_names.begin());
      return test.run_weakened({test.most_members == 1 ? 1u : 2u, 2}, weakened) == 0 ? 0 : 1;
    }
  std::printf("no algorithm '%s' or no weakness '%s'\n", std::string(algorithm).c_str(),
              std::string(what).c_str());
  return 2;
}

}  // namespace

int main(int count, char** words) {
  if (count == 4 && std::string_view(words[1]) == "weaken") return run_one_weakened(words[2], words[3]);
  return run_all();
}
