// What a host thread does in a run: timed, recorded and checked rounds of one worker (docs/method.md, "Is it
// a barrier?"). host_crew runs it for the barriers of this program, <mgsync/check.hpp> for a user's. C++17,
// standard library only.
// Pass takes the worker through the barrier once: `bool operator()()`, which returns false if it was given
// up. It may also have `std::optional<std::pair<std::uint32_t, std::uint32_t>> wrong_result()`, the expected
// and the seen value of the last pass where they differ; and told(), which returns an object that exchanges
// messages about departures between members that share no memory, or nullptr: its left(round, member of the
// late worker) is called after the worker's pass, who_left(round, patience) before its arrival, finish()
// after a check.
#pragma once

#include <sched.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <thread>
#include <type_traits>
#include <utility>

#include "barriers/parts/round_loop/phase_check.hpp"
#include "src/base/cycle_counter.hpp"

// The positive control and a broken barrier race on the board on purpose: that is what the check is there to
// see.
#if defined(__SANITIZE_THREAD__)
#define MGSYNC_RACES_ON_PURPOSE __attribute__((no_sanitize("thread")))
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define MGSYNC_RACES_ON_PURPOSE __attribute__((no_sanitize("thread")))
#endif
#endif
#ifndef MGSYNC_RACES_ON_PURPOSE
#define MGSYNC_RACES_ON_PURPOSE
#endif

namespace mgsync::round_loop {

// What one worker publishes: a heartbeat (rounds arrived at), two phases and two payloads, and what another
// pushes to it; each in lines of its own.
struct alignas(128) worker_page {
  using payload_slot = std::uint32_t[payload_lines * words_per_line];
  alignas(128) std::uint64_t arrived;
  alignas(128) std::uint32_t phase[2][words_per_line];
  alignas(128) payload_slot payload[2];
  alignas(128) payload_slot pushed[2];
  alignas(128) float ordinary;  // check_ordinary() alone
};

// One run of one worker: plain values, since a user's shared object gets the same struct
// (<mgsync/check.hpp>).
struct host_run {
  static constexpr std::uint32_t no_fault = 0, arrive_early = 1, never_arrive = 2;

  std::uint32_t rounds;
  std::uint32_t start_rounds;   // timed and recorded runs: so many rounds of the barrier precede them
  std::uint32_t self, workers;  // the caller's number among those that it is checked against
  std::uint32_t blocks;         // workers of a member
  std::uint32_t seed;
  worker_page* const* pages;  // of the workers; nullptr: of another host, and never read
  std::uint64_t rounds_done;  // on this object before this run
  std::uint64_t work_ns;      // between timed rounds
  std::uint32_t fault;
  std::uint32_t fault_worker;
  std::uint32_t fault_round;
  std::uint32_t yields;          // 1: more threads than hardware threads
  std::uint32_t crowd;           // threads that take turns on a hardware thread
  std::uint32_t* abort;          // not 0: give up
  void (*timing_begins)(void*);  // if not null, called right before the timed rounds
  void* context;                 // for it
};

struct host_passage {
  std::uint64_t arrived, left;  // by the cycle counter
};

struct host_findings {
  std::uint64_t elapsed_ns;  // of the timed or recorded rounds
  std::uint64_t observations, violations;
  std::uint64_t far_violations;  // of these: between members of different hosts
  std::uint32_t given_up;        // 1: a pass was given up
  // The first violation.
  std::uint32_t round, reader, offender, expected, seen;
  const char* what;
};

// How long a member in a long hold waits for a message that somebody left without it: several times the
// latency of a message between nodes.
inline constexpr std::chrono::nanoseconds message_patience = std::chrono::microseconds(200);

// Rounds of the barrier itself that precede the timed ones: the last is the start barrier, the others warm
// the caches.
inline constexpr std::uint32_t start_rounds = 16;

namespace host_loop {

template <class Pass, class = void>
struct has_result : std::false_type {};
template <class Pass>
struct has_result<Pass, std::void_t<decltype(std::declval<Pass&>().wrong_result())>> : std::true_type {};
template <class Pass, class = void>
struct tells_departures : std::false_type {};
template <class Pass>
struct tells_departures<Pass, std::void_t<decltype(std::declval<Pass&>().told())>> : std::true_type {};

inline void arrive(worker_page& mine, std::uint64_t round) {
  __atomic_store_n(&mine.arrived, round, __ATOMIC_RELAXED);
}

inline void hold(const host_run& run, std::chrono::nanoseconds how_long) {
  if (how_long.count() == 0) return;
  const auto until = std::chrono::steady_clock::now() + how_long;
  while (std::chrono::steady_clock::now() < until)
    if (run.yields != 0) sched_yield();
}

inline bool aborted(const host_run& run) { return __atomic_load_n(run.abort, __ATOMIC_RELAXED) != 0; }

// Keeps the late worker of a round back until all others that it sees have arrived, and then long enough for
// them to leave, if they do. Gives up waiting after a while: somebody may be stuck.
inline void come_last(const host_run& run, std::uint64_t arrivals, std::uint32_t round) {
  constexpr auto longest = std::chrono::milliseconds(20);
  const auto until = std::chrono::steady_clock::now() + longest;
  for (unsigned w = 0; w < run.workers; ++w) {
    const worker_page* other = w == run.self ? nullptr : run.pages[w];
    if (other == nullptr) continue;
    while (__atomic_load_n(&other->arrived, __ATOMIC_RELAXED) < arrivals) {
      if (std::chrono::steady_clock::now() > until || aborted(run)) return;
      if (run.yields != 0) sched_yield();
    }
  }
  hold(run, std::chrono::nanoseconds(hold_ns_of(round) * run.crowd));
}

// The two places of what a worker writes in a phase: its own page, and that of the worker it pushes to.
// nullptr: out of reach.
struct written {
  worker_page::payload_slot* at[2];
  static constexpr const char* word[2] = {"payload", "pushed payload"};
};
inline written written_by(const host_run& run, unsigned worker, std::uint32_t phase) {
  worker_page* const own = run.pages[worker];
  if (own == nullptr) return {};
  worker_page* const holder = run.workers < 2 ? nullptr : run.pages[push_target(worker, run.workers, phase)];
  return {{&own->payload[phase & 1], holder == nullptr ? nullptr : &holder->pushed[phase & 1]}};
}

MGSYNC_RACES_ON_PURPOSE inline void publish(const host_run& run, std::uint32_t phase) {
  for (worker_page::payload_slot* to : written_by(run, run.self, phase).at)
    for (unsigned w = 0; to != nullptr && w < payload_lines * words_per_line; w += words_per_line / 2)
      static_cast<volatile std::uint32_t*>(*to)[w] = payload_word(phase, run.self, w);
  static_cast<volatile std::uint32_t*>(run.pages[run.self]->phase[phase & 1])[0] = phase;
}

MGSYNC_RACES_ON_PURPOSE inline void touch_payload(const host_run& run, std::uint32_t phase,
                                                  std::uint32_t round) {
  if (run.workers < 2) return;
  for (const worker_page::payload_slot* from :
       written_by(run, payload_target(run.self, run.workers, round), phase).at)
    for (unsigned w = 0; from != nullptr && w < payload_lines * words_per_line; w += words_per_line)
      (void)static_cast<const volatile std::uint32_t*>(*from)[w];
}

// `round` is counted over the object's life.
inline void note(const host_run& run, host_findings& found, std::uint32_t round, unsigned reader,
                 unsigned offender, std::uint32_t expected, std::uint32_t seen, const char* what) {
  if (found.violations++ != 0) return;
  found.round = round - static_cast<std::uint32_t>(run.rounds_done);
  found.reader = reader;
  found.offender = offender;
  found.expected = expected;
  found.seen = seen;
  found.what = what;
}

MGSYNC_RACES_ON_PURPOSE inline void read_others(const host_run& run, std::uint32_t phase, std::uint32_t round,
                                                host_findings& found) {
  if (run.workers < 2) return;
  const unsigned reads = read_count(run.workers);
  const auto turn = reading_of(run.seed, run.self, run.workers, round);
  for (unsigned i = 0; i < reads; ++i) {
    const unsigned target = read_target(turn, run.self, run.workers, i);
    const worker_page* other = run.pages[target];
    if (other == nullptr) continue;
    ++found.observations;
    const std::uint32_t seen = static_cast<const volatile std::uint32_t*>(other->phase[phase & 1])[0];
    if (seen != phase) note(run, found, round, run.self, target, phase, seen, "phase");
  }
  const written those = written_by(run, turn.payload_of, phase);
  for (unsigned place = 0; place < 2; ++place)
    for (unsigned w = 0; those.at[place] != nullptr && w < payload_lines * words_per_line;
         w += words_per_line / 2) {
      ++found.observations;
      const std::uint32_t expected = payload_word(phase, turn.payload_of, w);
      const std::uint32_t seen = static_cast<const volatile std::uint32_t*>(*those.at[place])[w];
      if (seen != expected)
        note(run, found, round, run.self, turn.payload_of, expected, seen, written::word[place]);
    }
}

// Looks for messages about departures: one about a round that this worker has not arrived at is a violation.
template <class Pass>
void listen(const host_run& run, Pass& pass, std::uint32_t round, std::uint32_t phase, bool delayed,
            host_findings& found) {
  if constexpr (tells_departures<Pass>::value) {
    auto* told = pass.told();
    if (told == nullptr) return;
    ++found.observations;
    const auto who = told->who_left(phase, delayed ? message_patience : std::chrono::nanoseconds(0));
    if (!who) return;
    ++found.far_violations;
    note(run, found, round, *who * run.blocks, run.self, phase, phase - 1, "arrival");
  }
}

// The worker whose arrival a check delays at this round of the object's life.
inline unsigned delayed_worker(const host_run& run, std::uint32_t round) {
  return run.fault == host_run::arrive_early && arrives_early(round)
             ? run.fault_worker
             : late_worker(run.seed, round, run.workers);
}

// Whether the fault to inject keeps this worker from arriving at this round. It then waits for the others to
// give up.
inline bool missed(const host_run& run, std::uint64_t round) {
  if (run.fault != host_run::never_arrive || run.fault_worker != run.self || run.fault_round != round)
    return false;
  while (!aborted(run)) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return true;
}

// One round that nobody checks, the `i`th of this run. False: given up.
template <class Pass>
bool pass_once(const host_run& run, std::uint64_t i, Pass& pass) {
  arrive(*run.pages[run.self], run.rounds_done + i + 1);
  return pass();
}

// The rounds before the timed ones. False: given up.
template <class Pass>
bool start(const host_run& run, Pass& pass) {
  for (std::uint32_t i = 0; i < run.start_rounds; ++i)
    if (missed(run, i) || !pass_once(run, i, pass)) return false;
  if (run.timing_begins != nullptr) run.timing_begins(run.context);
  return true;
}

using clock = std::chrono::steady_clock;
inline std::uint64_t ns_since(clock::time_point begin) {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(clock::now() - begin).count());
}

template <class Pass>
bool time(const host_run& run, Pass& pass, host_findings& found) {
  if (!start(run, pass)) return false;
  std::uint64_t round = run.rounds_done + run.start_rounds;
  worker_page& mine = *run.pages[run.self];
  const auto work = std::chrono::nanoseconds(run.work_ns);
  const auto begin = clock::now();
  for (std::uint32_t i = 0; i < run.rounds; ++i) {
    if (work.count() != 0) hold(run, work);
    arrive(mine, ++round);
    if (!pass()) return false;
  }
  found.elapsed_ns = ns_since(begin);
  return true;
}

// Like time(), but reads the cycle counter before and after each round and keeps the last rounds in a ring of
// `kept` elements, a power of two.
template <class Pass>
bool record(const host_run& run, Pass& pass, host_passage* ring, std::uint32_t kept, host_findings& found) {
  constexpr auto late_stamp =
      std::chrono::microseconds(50);  // of a positive control: others have left by then
  if (!start(run, pass)) return false;
  std::uint64_t round = run.rounds_done + run.start_rounds;
  worker_page& mine = *run.pages[run.self];
  const bool early = run.fault == host_run::arrive_early && run.fault_worker == run.self;
  const auto work = std::chrono::nanoseconds(run.work_ns);
  const auto begin = clock::now();
  for (std::uint32_t i = 0; i < run.rounds; ++i) {
    auto& slot = ring[i & (kept - 1)];
    if (work.count() != 0) hold(run, work);
    arrive(mine, ++round);
    slot.arrived = cycles_now();
    if (!pass()) return false;
    if (early) {
      hold(run, late_stamp);
      slot.arrived = cycles_now();
    }
    slot.left = cycles_now();
  }
  found.elapsed_ns = ns_since(begin);
  return true;
}

template <class Pass>
bool check(const host_run& run, Pass& pass, host_findings& found) {
  const bool control = run.fault == host_run::arrive_early && run.fault_worker == run.self;
  for (std::uint32_t i = 0; i < run.rounds; ++i) {
    const auto round = static_cast<std::uint32_t>(run.rounds_done + i);
    const std::uint32_t phase = round + start_phase;
    const bool early = control && arrives_early(round);
    const bool late = late_worker(run.seed, round, run.workers) == run.self;
    if (late) come_last(run, run.rounds_done + i + 1, round);
    hold(run, std::chrono::nanoseconds(skew_unit_ns) * skew(run.seed, round, run.self));
    if (missed(run, i)) return false;
    if (!early) {
      listen(run, pass, round, phase, late && holds_long(round), found);
      publish(run, phase);
    }
    touch_payload(run, phase, round);
    if (!pass_once(run, i, pass)) return false;
    if constexpr (has_result<Pass>::value) {
      ++found.observations;
      if (const auto wrong = pass.wrong_result())
        note(run, found, round, run.self, run.self, wrong->first, wrong->second, "sum");
    }
    if constexpr (tells_departures<Pass>::value)
      if (auto* told = pass.told()) told->left(phase, delayed_worker(run, round) / run.blocks);
    if (early) {
      hold(run, std::chrono::nanoseconds(long_hold_ns));
      listen(run, pass, round, phase, true, found);
      publish(run, phase);
    } else {
      read_others(run, phase, round, found);
    }
  }
  if constexpr (tells_departures<Pass>::value)
    if (auto* told = pass.told()) told->finish();
  return true;
}

// What a worker writes in a round of check_ordinary().
inline float ordinary_value(std::uint32_t round, std::uint32_t worker) {
  return static_cast<float>(mix(round, worker) % (1u << 20));
}

// One round of three passages: reads `theirs` after the first, and again after the third, when its owner has
// written it after the second. The compiler may merge the two loads unless the barrier forbids it: no store
// to a word of another type comes between them. ThreadSanitizer finds the accesses ordered only where the
// barrier orders them.
template <class Pass>
__attribute__((always_inline)) inline bool read_around(Pass& pass, float value, float* __restrict mine,
                                                       const float* theirs, float& before, float& after) {
  if (!pass()) return false;
  const float first = *theirs;
  if (!pass()) return false;
  *mine = value;
  if (!pass()) return false;
  after = *theirs;
  before = first;
  return true;
}

template <class Pass>
bool check_ordinary(const host_run& run, Pass& pass, host_findings& found) {
  for (std::uint32_t i = 0; i < run.rounds; ++i) {
    const auto round = static_cast<std::uint32_t>(run.rounds_done + i);
    const unsigned of = run.workers < 2 ? run.self : payload_target(run.self, run.workers, round);
    worker_page& mine = *run.pages[run.self];
    hold(run, std::chrono::nanoseconds(skew_unit_ns) * skew(run.seed, round, run.self));
    arrive(mine, run.rounds_done + i + 1);
    float before = 0, after = 0;
    if (!read_around(pass, ordinary_value(round + 1, run.self), &mine.ordinary, &run.pages[of]->ordinary,
                     before, after))
      return false;
    found.observations += 2;
    const auto look = [&](float expected, float seen) {
      if (seen != expected)
        note(run, found, round, run.self, of, static_cast<std::uint32_t>(expected),
             static_cast<std::uint32_t>(seen), "ordinary");
    };
    look(round == 0 ? 0 : ordinary_value(round, of), before);
    look(ordinary_value(round + 1, of), after);
  }
  return true;
}

}  // namespace host_loop
}  // namespace mgsync::round_loop
