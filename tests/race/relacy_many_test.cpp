// A relay whose members have words in several lines, and whose lanes poll several of them, under Relacy: a
// line has two words here, so that three members fill more than one.
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

#include "tests/race/many_relay.hpp"
#include "tests/race/orders.hpp"
#include "tests/race/relacy_policy.hpp"
#include "tests/race/relacy_search.hpp"

namespace {

using namespace mgsync::algorithm;
using namespace mgsync::race;

constexpr unsigned start = 0xfffffffeu;  // the epochs wrap
constexpr unsigned rounds = 3, words_of_a_line = 2, most_members = 6;
constexpr unsigned words_of_part = 1 + most_members;  // a counter, then the inbox, line by line

unsigned place_of(unsigned line, unsigned offset, unsigned) {
  const unsigned first = relay_layout{}.inbox(0);
  return line < first ? 0 : 1 + (line - first) / 2 * words_of_a_line + offset;
}

template <unsigned Lanes>
class rounds_of_many final : public scenario {
 public:
  rounds_of_many(unsigned members, unsigned blocks, weakness weakened)
      : members_(members), blocks_(blocks), weakened_(weakened) {}

  void begin() override {
    all_ = std::construct_at(reinterpret_cast<state*>(bytes_));
    for (auto& part : all_->words)
      for (unsigned w = 0; w < words_of_part; ++w)
        part[w]($).store(w == 0 ? counter_start(blocks_, start) : start, rl::mo_relaxed);
    for (auto& slot : all_->data)
      for (auto& one : slot) one($) = 0;
  }
  void end() override { std::destroy_at(all_); }

  void thread(unsigned self) override {
    const unsigned block = self / Lanes, workers = members_ * blocks_ * Lanes;
    relacy_lane lane{all_->teams[block], self % Lanes};
    relacy_policy<Lanes> policy(weakened_, lane);
    relacy_memory memory{all_->words[0], nullptr, words_of_part, 0, members_, place_of};
    typename many_relay<most_members, words_of_a_line>::template relay<relacy_policy<Lanes>, relacy_memory>
        barrier(policy, memory, position{block / blocks_, members_, block % blocks_, blocks_},
                relay_shape{1, 1});
    for (unsigned round = 1; round <= rounds; ++round) {
      auto* const slot = all_->data[round % 2];
      slot[self]($) = round;
      RL_ASSERT(barrier.arrive_and_wait(start + round));
      for (unsigned other = 0; other < workers; ++other) RL_ASSERT(slot[other]($) == round);
    }
  }

 private:
  struct state {
    relacy_word words[most_members][words_of_part];
    relacy_team teams[most_members];
    rl::var<unsigned> data[2][12];
  };

  unsigned members_, blocks_;
  weakness weakened_;
  alignas(state) std::byte bytes_[sizeof(state)];
  state* all_ = nullptr;
};

int failures = 0;

template <unsigned Lanes>
void expect(bool should_hold, unsigned members, unsigned blocks, weakness weakened = weakness::none) {
  rounds_of_many<Lanes> program(members, blocks, weakened);
  const unsigned threads = members * blocks * Lanes;
  const bool random = holds(program, threads, search::random, 10'000);
  const bool both = random && (!should_hold || holds(program, threads, search::context_bound, 10'000));
  if (both != should_hold) ++failures;
  std::printf("%s  %u members of %u, teams of %u, %s: %s\n", both == should_hold ? "ok  " : "FAIL", members,
              blocks, Lanes, std::string(weakness_names[static_cast<std::size_t>(weakened)]).c_str(),
              both ? "no schedule violated it" : "violated in some schedule");
  std::fflush(stdout);
}

using enum weakness;

const std::vector<std::pair<const char*, std::function<void()>>> tests = {
    {"one-lane",
     [] {
       expect<1>(true, 3, 1);
       expect<1>(true, 5, 1);
       expect<1>(true, 3, 2);
     }},
    {"two-lanes",
     [] {
       expect<2>(true, 3, 1);
       expect<2>(true, 4, 1);
     }},
    {"weakened",
     [] {
       expect<1>(false, 3, 1, system_store);
       expect<1>(false, 3, 1, system_wait);
       expect<1>(false, 3, 2, local_arrival);
       expect<2>(false, 3, 2, team_barrier);
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
