// Overlapping teams under Relacy: what a member wrote ahead of one team's barrier is there for whoever comes
// behind another's that follows it, in every order of teams that their members share. Teams that have words
// in common must be caught, and so must each relaxed ordering.
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

// After the standard headers: it redefines words that they use.
#include <relacy/relacy.hpp>

#include "barriers/parts/algorithm/relay.hpp"
#include "tests/race/orders.hpp"
#include "tests/race/relacy_policy.hpp"
#include "tests/race/relacy_search.hpp"
#include "tests/race/team_plan.hpp"

namespace {

using namespace mgsync::algorithm;
using namespace mgsync::race;

constexpr unsigned start = 0xfffffffeu;  // the epochs wrap
constexpr unsigned most_workers = 4, most_steps = 8, most_teams = 4, most_members = 4;
constexpr unsigned words_of_part =
    2 + most_members;  // a counter, the counter of rounds in two calls, the inbox

unsigned place_of(unsigned line, unsigned offset, unsigned) {
  if (line >= relay_layout{}.split_of_all()) return 1;
  return line < relay_layout{}.inbox(0) ? 0 : 2 + offset;
}

class rounds_of_teams final : public scenario {
 public:
  // one_memory: all teams use the words of the first.
  rounds_of_teams(team_plan plan, weakness weakened, bool one_memory)
      : plan_(std::move(plan)), known_(plan_.knowledge()), weakened_(weakened), one_memory_(one_memory) {}

  void begin() override {
    all_ = std::construct_at(reinterpret_cast<state*>(bytes_));
    for (auto& team : all_->words)
      for (auto& part : team)
        for (unsigned w = 0; w < words_of_part; ++w)
          part[w]($).store(w == 0 ? counter_start(plan_.blocks, start) : w == 1 ? 0 : start, rl::mo_relaxed);
    for (auto& worker : all_->data)
      for (auto& one : worker) one($) = 0;
  }
  void end() override { std::destroy_at(all_); }

  void thread(unsigned self) override {
    const unsigned member = self / plan_.blocks;
    relacy_lane lane{all_->lanes[self], 0};
    relacy_policy<1> policy(weakened_, lane);
    std::array<unsigned, most_teams> epochs;
    epochs.fill(start);
    for (unsigned s = 0; s < plan_.steps.size(); ++s) {
      const unsigned team = plan_.steps[s], rank = plan_.rank(team, member);
      if (rank == team_plan::none) continue;
      all_->data[self][s]($) = s + 1;
      const auto members = static_cast<unsigned>(plan_.teams[team].size());
      relacy_memory memory{
          all_->words[one_memory_ ? 0 : team][0], nullptr, words_of_part, 0, members, place_of};
      relay<relacy_policy<1>, relacy_memory> barrier(
          policy, memory, position{rank, members, self % plan_.blocks, plan_.blocks}, relay_shape{1, 1});
      RL_ASSERT(barrier.arrive_and_wait(++epochs[team]));
      for (unsigned other = 0; other < plan_.workers(); ++other)
        if (const unsigned last = known_[s][member][other / plan_.blocks]; last != team_plan::none)
          RL_ASSERT(all_->data[other][last]($) == last + 1);
    }
  }

 private:
  struct state {
    relacy_word words[most_teams][most_members][words_of_part];
    relacy_team lanes[most_workers];
    rl::var<unsigned> data[most_workers][most_steps];
  };

  team_plan plan_;
  std::vector<std::vector<std::vector<unsigned>>> known_;
  weakness weakened_;
  bool one_memory_;
  alignas(state) std::byte bytes_[sizeof(state)];
  state* all_ = nullptr;
};

int failures = 0;

void expect(bool should_hold, const team_plan& plan, const std::string& name,
            weakness weakened = weakness::none, bool one_memory = false) {
  rounds_of_teams program(plan, weakened, one_memory);
  const bool random = holds(program, plan.workers(), search::random, 10'000);
  const bool both = random && (!should_hold || holds(program, plan.workers(), search::context_bound, 10'000));
  if (both != should_hold) ++failures;
  std::printf("%s  %s: %s\n", both == should_hold ? "ok  " : "FAIL", name.c_str(),
              both ? "no schedule violated it" : "violated in some schedule");
  std::fflush(stdout);
}

team_plan chain(std::vector<unsigned> steps) { return {3, 1, {{0, 1}, {1, 2}}, std::move(steps)}; }

const std::vector<std::pair<const char*, std::function<void()>>> tests = {
    {"chain",
     [] {
       expect(true, chain({0, 1, 0, 1}), "teams {0,1} and {1,2} in turns");
       expect(true, chain({0, 0, 1, 1, 0}), "each twice");
       expect(true, chain({1, 0, 0, 1}), "the other first");
     }},
    {"ring",
     [] {
       const std::vector<std::vector<unsigned>> ring{{0, 1}, {1, 2}, {2, 0}};
       expect(true, {3, 1, ring, {0, 1, 2, 0, 1, 2}}, "a ring of three teams");
       expect(true, {3, 1, ring, {2, 1, 0, 0, 2, 1}}, "a ring in other turns");
       expect(true, {3, 1, {{0, 1}, {1, 2}, {0, 1, 2}}, {0, 2, 1, 0, 2}}, "pairs and all three");
       expect(true, {4, 1, {{0, 1}, {2, 3}, {1, 2}}, {0, 1, 2, 1, 0}}, "pairs apart, and one between them");
     }},
    {"blocks",
     [] {
       expect(true, {2, 2, {{0, 1}, {0}, {1, 0}}, {0, 1, 2, 0}}, "teams of members of two blocks");
     }},
    {"weakened",
     [] {
       expect(false, chain({0, 1}), "a relaxed system-store", weakness::system_store);
       expect(false, chain({0, 1}), "a relaxed system-wait", weakness::system_wait);
       expect(false, {2, 2, {{0, 1}, {0}}, {1, 0}}, "a relaxed local-arrival", weakness::local_arrival);
     }},
    {"one-memory",
     [] {
       expect(false, chain({0, 1, 0, 1}), "two teams with words in common", weakness::none, true);
     }},
};

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
