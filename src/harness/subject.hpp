// A subject, as the runner knows it: something that carries out orders and reports what happened. Studies
// implement it for barriers, chains of instructions, launches and reductions, which the harness does not
// know.
#pragma once

#include <any>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/fields.hpp"

namespace mgsync {

// What one run is to do. Methods and checkers write orders, subjects carry them out.
struct run_order {
  enum class purpose { time, check };
  purpose what = purpose::time;
  std::uint64_t count = 1;   // rounds | launches | links of a chain | repeats: what the method varies
  std::uint64_t units = 0;   // how long each of them waits, in units of unit_us
  double unit_us = 0;        // the wanted duration of a unit
  std::uint64_t seed = 1;    // of the random numbers of a checking run
  std::string fault{};       // the fault to inject, for positive controls, named by the checker; empty: none
  std::uint32_t faulty = 0;  // the member, as its index in the group, that gets the fault
  bool operator==(const run_order&) const = default;
};
void fields(auto& way, run_order& o) {
  way.needs("what", o.what);
  way.needs("count", o.count);
  way.needs("units", o.units);
  way.needs("unit_us", o.unit_us);
  way.needs("seed", o.seed);
  way.needs("fault", o.fault);
  way.needs("faulty", o.faulty);
}

// How a run ended. stuck: a bounded wait gave up; aborted: asked to stop; wrong: it ran, but its result was
// wrong; died: its process or its GPU crashed; overdue: it made progress, but took too long.
enum class ending { completed, aborted, stuck, wrong, died, overdue };

// How much a run compared, and how much of that was wrong.
struct check_counts {
  std::uint64_t rounds = 0;    // rounds, sums, products or stages that were checked
  std::uint64_t compared = 0;  // comparisons made
  std::uint64_t wrong = 0;     // comparisons that failed
  std::string example{};       // a sentence about the first that failed; may be empty
};
void fields(auto& way, check_counts& c) {
  way.needs("rounds", c.rounds);
  way.needs("compared", c.compared);
  way.needs("wrong", c.wrong);
  way.needs("example", c.example);
}

// What one run showed. A method throws std::invalid_argument where a value that it needs is missing.
struct seen {
  run_order done;
  ending ended = ending::completed;
  std::string reason{};  // a sentence; empty when completed
  std::map<std::string, std::vector<double>>
      values{};                           // by name with its unit: "duration_us", "cycles", "bytes"
  std::optional<check_counts> checked{};  // where the run compared anything
  std::string
      outcome{};  // for subjects that may hang or fail, one of the study's words: "held", "passed", "hung"
  std::string void_because{};  // a sentence that says why its values are void although it completed
  // Data for the study's own checker alone: a recording, time stamps, how a process ended.
  std::any own{};
  bool interrupted = false;  // somebody was asked to end; the run may have completed all the same
  double stopped_s = 0;      // seconds for which a process was stopped during the run (awake_clock)
};
// The fields that ranks exchange: `done` is known to all of them, and `own` stays in its process.
void fields(auto& way, seen& s) {
  way.needs("ended", s.ended);
  way.needs("reason", s.reason);
  way.needs("values", s.values);
  way.needs("checked", s.checked);
  way.needs("outcome", s.outcome);
  way.needs("void_because", s.void_because);
  way.needs("interrupted", s.interrupted);
  way.needs("stopped_s", s.stopped_s);
}

// The name of the one value of timed runs that the runner itself reads: the largest share of the run for
// which any member was preempted.
inline constexpr std::string_view taken_from_members = "taken";

class subject {
 public:
  virtual ~subject() = default;
  // Carries out one order on this process's members and returns when they have finished or were given up.
  // Collective over the ranks of the group. Never throws for what the subject did wrong: that is an ending.
  virtual seen run(const run_order&) = 0;
  // Combines what each rank saw of the last run, and returns the same on all of them. Collective over the
  // whole job, including ranks without members. A subject of a single process needs no override.
  virtual seen put_together(seen mine) { return mine; }
};

}  // namespace mgsync
