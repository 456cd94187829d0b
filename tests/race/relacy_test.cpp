// Every algorithm under Relacy, which explores interleavings and the stale values that C++11 allows: correct ones must
// pass, and every ordering or structure that matters, weakened, must be caught.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

// After the standard headers: it redefines words that they use.
#include <relacy/relacy.hpp>

#include "barriers/algorithm/all_reduce.hpp"
#include "barriers/algorithm/central.hpp"
#include "barriers/algorithm/dissemination.hpp"
#include "barriers/algorithm/hub.hpp"
#include "barriers/algorithm/inbox.hpp"
#include "tests/race/orders.hpp"
#include "tests/race/structural_twins.hpp"

namespace {

using namespace mgsync::algorithm;
using mgsync::race::weakness;

template <weakness Weak>
class relacy_policy {
 public:
  using word = rl::atomic<unsigned>;
  using pair = rl::atomic<unsigned long long>;

  unsigned load_acquire_local(word& w) { return w($).load(rl::mo_acquire); }
  unsigned load_acquire_system(word& w) { return w($).load(rl::mo_acquire); }
  unsigned load_relaxed_local(word& w) { return w($).load(rl::mo_relaxed); }
  void store_relaxed_local(word& w, unsigned v) { w($).store(v, rl::mo_relaxed); }
  void add_relaxed_local(word& w, unsigned v) { w($).fetch_add(v, rl::mo_relaxed); }
  void store_release_local(word& w, unsigned v) { w($).store(v, order(weakness::local_release, rl::mo_release)); }
  unsigned add_acq_rel_local(word& w, unsigned v) {
    return w($).fetch_add(v, order(weakness::local_arrival, rl::mo_acq_rel));
  }
  unsigned add_acq_rel_system(word& w, unsigned v) {
    return w($).fetch_add(v, order(weakness::system_add, rl::mo_acq_rel));
  }
  // The real thing, a fence and a relaxed store: Relacy knows fences.
  void fence_release_system() {
    if (Weak != weakness::system_store) rl::atomic_thread_fence(rl::mo_acq_rel, $);
  }
  void store_fenced_system(word& w, unsigned v) { w($).store(v, rl::mo_relaxed); }
  void store_pair_release_local(pair& w, unsigned long long v) {
    w($).store(v, order(weakness::local_release, rl::mo_release));
  }
  void store_pair_fenced_system(pair& w, unsigned long long v) { w($).store(v, rl::mo_relaxed); }

  void sync() {}
  bool sync_and(bool ok) { return ok; }
  bool in_team() { return true; }
  bool leader() { return true; }
  template <class T>
  T broadcast(T v) {
    return v;
  }
  bool all(bool ok) { return ok; }
  unsigned sum(unsigned v) { return v; }
  template <class F>
  void for_each(unsigned n, F f) {
    for (unsigned i = 0; i < n; ++i) f(i);
  }

  bool wait_local(word& w, unsigned epoch) { return wait(w, epoch, order(weakness::local_wait, rl::mo_acquire)); }
  bool wait_system(word& w, unsigned epoch) { return wait(w, epoch, order(weakness::system_wait, rl::mo_acquire)); }
  bool wait_pair_local(pair& w, unsigned epoch, std::uint64_t& seen) {
    return wait_pair(w, epoch, seen, order(weakness::local_wait, rl::mo_acquire));
  }
  bool wait_pair_system(pair& w, unsigned epoch, std::uint64_t& seen) {
    return wait_pair(w, epoch, seen, order(weakness::system_wait, rl::mo_acquire));
  }

 private:
  static rl::memory_order order(weakness weakened, rl::memory_order full) {
    return Weak == weakened ? rl::mo_relaxed : full;
  }
  static bool wait(word& w, unsigned epoch, rl::memory_order how) {
    rl::linear_backoff backoff;
    while (!reached(w($).load(how), epoch)) backoff.yield($);
    return true;
  }
  static bool wait_pair(pair& w, unsigned epoch, std::uint64_t& seen, rl::memory_order how) {
    rl::linear_backoff backoff;
    for (;;) {
      seen = w($).load(how);
      if (reached(epoch_of(seen), epoch)) return true;
      backoff.yield($);
    }
  }
};

constexpr unsigned start = 0xfffffffeu;  // the epochs of a test wrap
constexpr unsigned rounds = 3;

// A barrier algorithm or a reduction, called alike.
// `words` and `pairs` are how many lines of either kind it uses: each costs Relacy time in every schedule.
template <class Algorithm>
struct barrier_case {
  using lines = layout;
  static constexpr unsigned words(unsigned members) { return 3 + members + 3; }
  static constexpr unsigned pairs(unsigned) { return 1; }
  template <class P, class M>
  static void pass(P& p, M& memory, const place& at, unsigned epoch) {
    RL_ASSERT(Algorithm::arrive_and_wait(p, memory, at, epoch));
  }
};
template <class Algorithm>
struct reduction_case {
  using lines = reduction_layout;
  static constexpr unsigned words(unsigned) { return 3; }
  static constexpr unsigned pairs(unsigned members) { return 5 + 2 * members; }
  template <class P, class M>
  static void pass(P& p, M& memory, const place& at, unsigned epoch) {
    const unsigned worker = at.member * at.blocks + at.block;
    const unsigned workers = at.members * at.blocks;
    std::uint32_t total = 0;
    RL_ASSERT(Algorithm::all_reduce(p, memory, at, epoch, epoch * (2 * worker + 1), total));
    RL_ASSERT(total == epoch * workers * workers);
  }
};

// Every worker writes plain data before the barrier and reads everybody's after it; Relacy reports any race on it.
template <class Case, unsigned Members, unsigned Blocks, weakness Weak>
struct suite : rl::test_suite<suite<Case, Members, Blocks, Weak>, Members * Blocks> {
  static constexpr unsigned word_lines = Case::words(Members);
  static constexpr unsigned pair_lines = Case::pairs(Members);

  struct memory {
    suite* owner;
    rl::atomic<unsigned>& line(unsigned member, unsigned index) { return owner->words[member][index]; }
    rl::atomic<unsigned long long>& pair_line(unsigned member, unsigned index) { return owner->pairs[member][index]; }
  };

  rl::atomic<unsigned> words[Members][word_lines];
  rl::atomic<unsigned long long> pairs[Members][pair_lines];
  rl::var<unsigned> data[2][Members * Blocks];

  void before() {
    const typename Case::lines lines{Members};
    for (unsigned m = 0; m < Members; ++m) {
      for (unsigned l = 0; l < word_lines; ++l) {
        unsigned value = start;
        if (l == lines.arrivals()) value = counter_start(Blocks, start);
        if constexpr (requires { lines.center(); }) {
          if (l == lines.center()) value = counter_start(Members, start);
        } else {
          if (l == lines.running_sum() || l == lines.sum_before()) value = 0;
        }
        words[m][l]($).store(value, rl::mo_relaxed);
      }
      for (unsigned l = 0; l < pair_lines; ++l) pairs[m][l]($).store(pack(start, 0), rl::mo_relaxed);
    }
    for (auto& slot : data)
      for (auto& d : slot) d($) = 0;
  }

  void thread(unsigned self) {
    relacy_policy<Weak> policy;
    memory shared{this};
    const place at{self / Blocks, Members, self % Blocks, Blocks};
    for (unsigned round = 1; round <= rounds; ++round) {
      auto& slot = data[round % 2];
      slot[self]($) = round;
      Case::pass(policy, shared, at, start + round);
      for (unsigned other = 0; other < Members * Blocks; ++other) RL_ASSERT(slot[other]($) == round);
    }
  }
};

enum class search { random, bounded };

template <class Suite>
bool holds(search how, unsigned iterations) {
  rl::test_params params;
  params.iteration_count = iterations;
  params.execution_depth_limit = 20'000;
  params.context_bound = 2;
  params.search_type = how == search::random ? rl::random_scheduler_type : rl::fair_context_bound_scheduler_type;
  std::ostringstream quiet;
  params.output_stream = &quiet;
  params.progress_stream = &quiet;
  return rl::simulate<Suite>(params);
}

int failures = 0;

void expect(bool passed, bool should_pass, const std::string& name) {
  const bool good = passed == should_pass;
  if (!good) ++failures;
  std::printf("%s  %s: %s\n", good ? "ok  " : "FAIL", name.c_str(),
              passed ? "no schedule violated it" : "violated in some schedule");
}

template <class Case, unsigned Members, unsigned Blocks>
void correct(const std::string& name) {
  const std::string shape = name + " " + std::to_string(Members) + "x" + std::to_string(Blocks);
  expect(holds<suite<Case, Members, Blocks, weakness::none>>(search::random, 5'000), true, shape + " random");
  if (Members * Blocks <= 3)
    expect(holds<suite<Case, Members, Blocks, weakness::none>>(search::bounded, 20'000), true, shape + " bounded");
}

template <class Case>
void all_shapes(const std::string& name) {
  correct<Case, 2, 1>(name);
  correct<Case, 3, 1>(name);
  correct<Case, 2, 2>(name);
  correct<Case, 3, 2>(name);
}

template <class Case, unsigned Blocks, weakness Weak>
void caught(const std::string& name) {
  expect(holds<suite<Case, 2, Blocks, Weak>>(search::random, 5'000), false,
         name + " with a relaxed " + std::string(mgsync::race::weakness_names[static_cast<std::size_t>(Weak)]));
}

template <class Case>
void structure_caught(const std::string& name) {
  expect(holds<suite<Case, 3, 1, weakness::none>>(search::random, 5'000), false, name);
}

using inbox_case = barrier_case<inbox>;
using hub_case = barrier_case<hub>;
using central_case = barrier_case<central>;
using dissemination_case = barrier_case<dissemination<2>>;
using push_case = reduction_case<push>;
using pull_case = reduction_case<pull>;

struct named_test {
  const char* name;
  std::function<void()> run;
};

const std::vector<named_test> tests = {
    {"inbox",
     [] {
       all_shapes<inbox_case>("inbox");
       caught<inbox_case, 1, weakness::system_store>("inbox");
       caught<inbox_case, 1, weakness::system_wait>("inbox");
       caught<inbox_case, 2, weakness::local_arrival>("inbox");
     }},
    {"hub",
     [] {
       all_shapes<hub_case>("hub");
       caught<hub_case, 1, weakness::system_store>("hub");
       caught<hub_case, 1, weakness::system_wait>("hub");
       caught<hub_case, 2, weakness::local_arrival>("hub");
       caught<hub_case, 2, weakness::local_release>("hub");
       caught<hub_case, 2, weakness::local_wait>("hub");
     }},
    {"central",
     [] {
       all_shapes<central_case>("central");
       caught<central_case, 1, weakness::system_store>("central");
       caught<central_case, 1, weakness::system_wait>("central");
       caught<central_case, 1, weakness::system_add>("central");
       caught<central_case, 2, weakness::local_arrival>("central");
     }},
    {"dissemination",
     [] {
       all_shapes<dissemination_case>("dissemination");
       all_shapes<barrier_case<dissemination<4>>>("dissemination radix 4");
       caught<dissemination_case, 1, weakness::system_store>("dissemination");
       caught<dissemination_case, 1, weakness::system_wait>("dissemination");
       caught<dissemination_case, 2, weakness::local_arrival>("dissemination");
       caught<dissemination_case, 2, weakness::local_release>("dissemination");
       caught<dissemination_case, 2, weakness::local_wait>("dissemination");
     }},
    {"push",
     [] {
       all_shapes<push_case>("push");
       caught<push_case, 1, weakness::system_store>("push");
       caught<push_case, 1, weakness::system_wait>("push");
       caught<push_case, 2, weakness::local_arrival>("push");
     }},
    {"pull",
     [] {
       all_shapes<pull_case>("pull");
       caught<pull_case, 1, weakness::system_store>("pull");
       caught<pull_case, 1, weakness::system_wait>("pull");
       caught<pull_case, 2, weakness::local_arrival>("pull");
       caught<pull_case, 2, weakness::local_release>("pull");
       caught<pull_case, 2, weakness::local_wait>("pull");
     }},
    {"structure",
     [] {
       using namespace mgsync::race;
       structure_caught<barrier_case<arrival_left_out>>("inbox that does not wait for one member");
       structure_caught<barrier_case<one_step_short>>("dissemination one step short");
       structure_caught<barrier_case<one_flag_for_two_epochs>>("inbox whose flag serves two epochs");
       structure_caught<barrier_case<counter_reset_too_early>>("central whose counter is reset after the release");
     }},
};

}  // namespace

int main(int count, char** words) {
  for (const auto& test : tests)
    if (count < 2 || std::strcmp(words[1], test.name) == 0) test.run();
  std::printf("%d failed\n", failures);
  return failures == 0 ? 0 : 1;
}
