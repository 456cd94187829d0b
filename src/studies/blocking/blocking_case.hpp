// Who is held by a barrier, and who may be absent from it (paper 000, section VIII): what one case is, what
// was seen of it, and what that means. Plain values; no barrier, no process.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/base/enum_words.hpp"
#include "topology/group.hpp"

namespace mgsync::blocking {

// What the absent do instead of coming to the barrier.
enum class absence {
  nobody,       // all come: shows that a fresh process works
  exit_before,  // they end before the others wait
  exit_late,    // they end while the others wait
  spin,         // they spin for ever
  elsewhere,    // they wait at another barrier
  late,         // they come after the others have waited
  drop,         // they leave the barrier for good (as arrive_and_drop), where it lets them
};

enum class outcome { held, passed, hung };  // passed once all had arrived; passed before; did not pass

}  // namespace mgsync::blocking

namespace mgsync {
template <>
struct enum_words<blocking::absence> {
  static constexpr std::pair<blocking::absence, std::string_view> list[] = {
      {blocking::absence::nobody, "nobody"},
      {blocking::absence::exit_before, "exit-before"},
      {blocking::absence::exit_late, "exit-late"},
      {blocking::absence::spin, "spin"},
      {blocking::absence::elsewhere, "elsewhere"},
      {blocking::absence::late, "late"},
      {blocking::absence::drop, "drop"}};
};
template <>
struct enum_words<blocking::outcome> {
  static constexpr std::pair<blocking::outcome, std::string_view> list[] = {
      {blocking::outcome::held, "held"},
      {blocking::outcome::passed, "passed"},
      {blocking::outcome::hung, "hung"}};
};
}  // namespace mgsync

namespace mgsync::blocking {

// A barrier under test, and the predictions for it. A prediction is a word of outcome; empty: there is none.
struct method {
  std::string_view level;  // its participants: "thread", "member" (of an OpenMP team), "rank", "lane", ...
  std::string_view name;   // "std-barrier", "ours"
  topology::device device = topology::device::host;
  bool ours = false;                           // its waits time out and name the absent
  bool members_are_those_who_make_it = false;  // the absent are no members (a coalesced group)
  bool any_place_counts = false;  // one object for every place in the code: waiting elsewhere is arriving
  bool may_drop = false;
  bool has_forms = false;                 // the machine code has a predicated form and one with a branch
  std::string_view on_exit{}, on_spin{};  // predictions; on_spin also for absence::elsewhere
  std::string_view on_spin_predicated{};  // in the predicated form; empty: the same
  std::string_view paper{};  // "deadlock", "no deadlock" (paper 000, section VIII-B); empty: not in it
  std::string_view why{};    // the reason for the predictions, half a sentence
};

// In the order of their levels.
std::span<const method> methods();
const method* find_method(std::string_view level, std::string_view name);

// The predicted outcome; empty where there is no prediction. `form`: "predicated", "branch" or empty.
std::string_view predicted(const method&, absence, std::string_view form);

// One case. The parent passes it as JSON to the process that carries it out.
struct blocking_case {
  std::string level, method;
  absence how = absence::nobody;
  std::string who = "last";  // first, last, half (every other one)
  std::string form;          // "predicated", "branch"; empty where there is none
  unsigned members = 4;      // how many participants; for several GPUs, how many GPUs
  unsigned bound_ms = 500;   // how long waits may last once everybody has begun what it does
  unsigned rounds = 0;       // above 0: part 1, the rounds that ask whether the barrier holds everybody
  std::uint64_t seed = 1;
  std::vector<int> gpus{};           // CUDA ordinals
  std::vector<std::string> turns{};  // files to be locked, in this order, before anything runs on the GPUs
  bool operator==(const blocking_case&) const = default;
};
void fields(auto& way, blocking_case& c) {
  way.needs("level", c.level);
  way.needs("method", c.method);
  way.needs("how", c.how);
  way.needs("who", c.who);
  way("form", c.form);
  way.needs("members", c.members);
  way.needs("bound_ms", c.bound_ms);
  way.needs("rounds", c.rounds);
  way.needs("seed", c.seed);
  way("gpus", c.gpus);
  way("turns", c.turns);
}

// Throws usage_error, naming what is wrong.
blocking_case case_from(std::string_view json);

bool is_absent(const blocking_case&, unsigned participant, unsigned participants);
std::vector<unsigned> absentees(const blocking_case&, unsigned participants);

// One participant's stamps on a common clock: ns on the host, tickets of a counter on GPUs; missing: it did
// not get that far.
struct participant {
  std::optional<std::int64_t> arrived{}, left{};
  std::optional<std::int64_t> acted{};  // when an absent one began what it does instead
  bool operator==(const participant&) const = default;
};
void fields(auto& way, participant& p) {
  way("arrived", p.arrived);
  way("left", p.left);
  way("acted", p.acted);
}

// Part 1: rounds with the barrier, and otherwise equal rounds without it (the control).
struct holding {
  std::uint64_t rounds = 0, violations = 0, wrong_data = 0;  // wrong_data: reads of a slot of another round
  std::uint64_t control_rounds = 0, control_violations = 0;
  std::uint64_t hung_in = 0;  // the round, from 1 on, that hung; else 0. All other values are then unknown
  std::vector<double> begin{}, end{};  // one round by participant, from its first stamp on
  std::vector<double> control_begin{}, control_end{};
  std::string unit = "ns";
  bool operator==(const holding&) const = default;
};
void fields(auto& way, holding& h) {
  way.needs("rounds", h.rounds);
  way.needs("violations", h.violations);
  way.needs("wrong_data", h.wrong_data);
  way.needs("control_rounds", h.control_rounds);
  way.needs("control_violations", h.control_violations);
  way.needs("hung_in", h.hung_in);
  way.needs("begin", h.begin);
  way.needs("end", h.end);
  way.needs("control_begin", h.control_begin);
  way.needs("control_end", h.control_end);
  way.needs("unit", h.unit);
}

// What was seen of a case. Its processes say it on stdout, a part on each line, as JSON.
struct case_seen {
  std::vector<participant> participants{};
  std::vector<unsigned> named{};  // absent ones that the time-out of our barrier named
  std::string ended_by{};         // "itself", "time-out", "bound", "trap", "guard"; empty: not reported
  std::optional<holding> held{};
  double waited_s = 0;                         // for its turn
  std::map<std::string, std::string> found{};  // "toolkit", "architecture", "error", "waived", ...
  bool operator==(const case_seen&) const = default;
};
void fields(auto& way, case_seen& s) {
  way("participants", s.participants);
  way("named", s.named);
  way("ended_by", s.ended_by);
  way("held", s.held);
  if (s.waited_s != 0) way("waited_s", s.waited_s);
  way("found", s.found);
}

// All parts put together. A line that is no such part (of a library, or cut off when its process was killed)
// is left out.
case_seen case_seen_from(std::string_view output);

// The outcome. Held means that nobody left before all members had arrived, not counting those that have
// ended. A member that is alive and spins, or waits at another object, has not arrived. Nothing where the
// others never came, so that the barrier was not tested.
std::optional<outcome> judge(const case_seen&, const blocking_case&, const method&);

}  // namespace mgsync::blocking
