// Overlapping teams on threads, in all orders that their members share: each team is a relay with words of
// its own, as the library makes them. ThreadSanitizer (preset tsan) must stay silent; with `weaken WHAT` one
// ordering is relaxed, and it must report the race.
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "barriers/parts/algorithm/relay.hpp"
#include "tests/race/team_plan.hpp"
#include "tests/race/thread_policy.hpp"

namespace {

using namespace mgsync::algorithm;
using namespace mgsync::race;

constexpr std::uint32_t start = 0xfffffff8u;  // the epochs wrap
constexpr unsigned words_of_a_line = line_bytes / sizeof(std::uint32_t);

// The words of one team: a part for each of its members.
class team_words {
 public:
  team_words(unsigned members, unsigned blocks, const relay_shape& shape) {
    const relay_layout lines{};
    parts_.resize(members, std::vector<std::uint32_t>(lines.lines() * words_of_a_line));
    for (auto& part : parts_) {
      addresses_.push_back(part.data());
      for (unsigned k = 0; k < shape.counters; ++k)
        part[lines.counter(k) * words_of_a_line] = counter_start(share_of(k, blocks, shape.counters), start);
      for (unsigned r = 0; r < shape.replicas; ++r)
        for (unsigned from = 0; from < members; ++from) part[lines.inbox(r) * words_of_a_line + from] = start;
    }
  }
  host_lines lines() const { return {addresses_.data()}; }

 private:
  std::vector<std::vector<std::uint32_t>> parts_;
  std::vector<std::uint32_t*> addresses_;
};

// Returns how many values were wrong.
unsigned run(const team_plan& plan, const relay_shape& shape, weakness weakened) {
  std::vector<team_words> words;
  for (const auto& team : plan.teams)
    words.emplace_back(static_cast<unsigned>(team.size()), plan.blocks, shape);
  const auto known = plan.knowledge();
  std::vector<std::vector<std::uint32_t>> data(plan.workers(), std::vector<std::uint32_t>(plan.steps.size()));
  std::vector<unsigned> wrong(plan.workers());
  const auto work = [&](unsigned worker) {
    const unsigned member = worker / plan.blocks, block = worker % plan.blocks;
    std::vector<std::uint32_t> epochs(plan.teams.size(), start);
    thread_policy policy(weakened);
    for (unsigned s = 0; s < plan.steps.size(); ++s) {
      const unsigned team = plan.steps[s], rank = plan.rank(team, member);
      if (rank == team_plan::none) continue;
      data[worker][s] = s + 1;
      auto lines = words[team].lines();
      relay<thread_policy, host_lines> barrier(
          policy, lines, position{rank, static_cast<unsigned>(plan.teams[team].size()), block, plan.blocks},
          shape);
      if (!barrier.arrive_and_wait(++epochs[team])) ++wrong[worker];
      for (unsigned other = 0; other < plan.workers(); ++other)
        if (const unsigned last = known[s][member][other / plan.blocks];
            last != team_plan::none && data[other][last] != last + 1)
          ++wrong[worker];
    }
  };
  std::vector<std::thread> threads;
  for (unsigned w = 0; w < plan.workers(); ++w) threads.emplace_back(work, w);
  for (auto& t : threads) t.join();
  return std::accumulate(wrong.begin(), wrong.end(), 0u);
}

std::vector<unsigned> repeated(const std::vector<unsigned>& order, unsigned times) {
  std::vector<unsigned> steps;
  for (unsigned i = 0; i < times; ++i) steps.insert(steps.end(), order.begin(), order.end());
  return steps;
}

int failures = 0;

void expect_none(unsigned wrong, const std::string& what) {
  std::printf("%s  %s: %u wrong values\n", wrong == 0 ? "ok  " : "FAIL", what.c_str(), wrong);
  std::fflush(stdout);
  if (wrong != 0) ++failures;
}

// All orders of three pairs that form a ring, and of the three together.
void in_all_orders(unsigned blocks, const relay_shape& shape, const std::string& name) {
  std::vector<unsigned> order{0, 1, 2, 3};
  unsigned wrong = 0, orders = 0;
  do {
    wrong += run({3, blocks, {{0, 1}, {1, 2}, {2, 0}, {0, 1, 2}}, repeated(order, 6)}, shape, weakness::none);
    ++orders;
  } while (std::next_permutation(order.begin(), order.end()));
  expect_none(wrong, std::to_string(orders) + " orders of overlapping teams, " + name);
}

// Sequences by chance, of teams that overlap, of some that do not, and of one twice.
void by_chance() {
  std::mt19937 chance(42);
  unsigned wrong = 0;
  for (int i = 0; i < 20; ++i) {
    team_plan plan{
        4, 1 + static_cast<unsigned>(i) % 2, {{0, 1}, {1, 2}, {2, 3}, {0, 1, 2, 3}, {1, 2}, {3, 0}, {2}}, {}};
    for (int s = 0; s < 60; ++s) plan.steps.push_back(chance() % 7);
    wrong += run(plan, {1, 1}, weakness::none);
  }
  expect_none(wrong, "20 sequences by chance");
}

int run_weakened(std::string_view what) {
  const auto which = std::find(weakness_names.begin(), weakness_names.end(), what);
  if (which == weakness_names.end()) return 2;
  return run({3, 2, {{0, 1}, {1, 2}}, repeated({0, 1}, 6)}, {1, 1},
             static_cast<weakness>(which - weakness_names.begin())) == 0
             ? 0
             : 1;
}

}  // namespace

int main(int count, char** words) {
  if (count == 3 && std::string_view(words[1]) == "weaken") return run_weakened(words[2]);
  in_all_orders(1, {1, 1}, "one block each");
  in_all_orders(2, {1, 1}, "two blocks each");
  in_all_orders(2, {2, 2}, "two blocks each, counters and inboxes spread");
  by_chance();
  return failures == 0 ? 0 : 1;
}
