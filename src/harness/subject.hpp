// What is timed, as the runner knows it: something that carries out orders and says what it saw. A barrier, a
// chain of instructions, a launch or a reduction is a subject by what its study makes of it; the harness
// knows none of them.
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
struct order {
  enum class purpose { time, check };
  purpose what = purpose::time;
  std::uint64_t count = 1;   // rounds | launches | links of a chain | repeats: what the method varies
  std::uint64_t units = 0;   // units of waiting in each of them
  double unit_us = 0;        // what a unit is asked to last
  std::uint64_t seed = 1;    // of whatever is random in a checking run
  std::string fault{};       // what is to go wrong, in the checker's words; empty: nothing
  std::uint32_t faulty = 0;  // the member, an index in the group, that it is to go wrong with
  bool operator==(const order&) const = default;
};
void fields(auto& way, order& o) {
  way.needs("what", o.what);
  way.needs("count", o.count);
  way.needs("units", o.units);
  way.needs("unit_us", o.unit_us);
  way.needs("seed", o.seed);
  way.needs("fault", o.fault);
  way.needs("faulty", o.faulty);
}

// How a run ended. stuck: a bounded wait gave up; aborted: asked to stop; wrong: it ran, and its result was
// not what it must be; died: its process or its GPU did not survive it; overdue: it went on, and for too
// long.
enum class ending { completed, aborted, stuck, wrong, died, overdue };

// What a run compared, and how much of it was not what it must be.
struct check_counts {
  std::uint64_t rounds = 0;    // or sums, products, stages: what was checked
  std::uint64_t compared = 0;  // comparisons made
  std::uint64_t wrong = 0;     // of those
  std::string example{};       // the first that was wrong, in a sentence; may be empty
};
void fields(auto& way, check_counts& c) {
  way.needs("rounds", c.rounds);
  way.needs("compared", c.compared);
  way.needs("wrong", c.wrong);
  way.needs("example", c.example);
}

// What all members saw in one run. A value that a method needs and does not find is its
// std::invalid_argument.
struct seen {
  order done;
  ending ended = ending::completed;
  std::string reason{};  // a sentence; empty when completed
  std::map<std::string, std::vector<double>>
      values{};                           // by name with its unit: "duration_us", "cycles", "bytes"
  std::optional<check_counts> checked{};  // where the run compared anything
  std::string outcome{};       // a word of the study's, of what may hang or fail: "held", "passed", "hung"
  std::string void_because{};  // why its figures mean nothing although it completed, in a sentence
  // What only the study's own checker understands, as a value: a recording, stamps, how a process ended.
  std::any own{};
  bool interrupted = false;  // somebody was asked to end; the run may have completed all the same
  double stopped_s = 0;      // so long somebody's process was stopped meanwhile (awake_clock)
};
// What a rank tells the others: what it was asked to do they know, and `own` is of its process.
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

// A value of timed runs that the runner itself looks at: the share of the run that others took from the
// member that lost most.
inline constexpr std::string_view taken_from_members = "taken";

class subject {
 public:
  virtual ~subject() = default;
  // Carries out one order on this process's members and returns when they have finished or were given up.
  // Collective over the ranks of the group. Never throws for what the subject did wrong: that is an ending.
  virtual seen run(const order&) = 0;
  // What all ranks saw of the run just made, the same on each of them, from what this one saw. Collective
  // over the job, also for ranks without members. What runs in one process has nothing to put together.
  virtual seen put_together(seen mine) { return mine; }
};

}  // namespace mgsync
