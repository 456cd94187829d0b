// Who is held, and who may be absent (paper 000, section VIII): what one case is, what was seen of it, and
// what that means. Values only; no barrier, no process.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/enum_words.hpp"
#include "topology/group.hpp"

namespace mgsync::blocking {

// What the absent do instead of coming to the barrier.
enum class absence {
  nobody,       // all come: what a fresh process shows afterwards
  exit_before,  // they end before the others wait
  exit_late,    // they end while the others wait
  spin,         // they go on for ever
  elsewhere,    // they wait at another barrier
  late,         // they come after the others have waited
  drop,         // they sign off, where the barrier lets them
};

enum class outcome { held, passed, hung };  // passed and held; passed without holding; did not pass

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

// A barrier that is asked, and what is foretold of it. A prediction is a word of outcome, or empty: none is
// made.
struct method {
  std::string_view level;  // whose barrier: "thread", "member" (of an OpenMP team), "rank", "lane", ...
  std::string_view name;   // "std-barrier", "ours"
  topology::device device = topology::device::host;
  bool ours = false;                           // its waits end by themselves and name the absent
  bool members_are_those_who_make_it = false;  // the absent never were members (a coalesced group)
  bool any_place_counts = false;  // one object, whatever the place in the code: waiting elsewhere is arriving
  bool may_drop = false;
  bool has_forms = false;                 // predicated or a real branch, in the machine code
  std::string_view on_exit{}, on_spin{};  // what is foretold; spin: and elsewhere
  std::string_view on_spin_predicated{};  // where the code is predicated; empty: the same
  std::string_view paper{};  // "deadlock", "no deadlock" (paper 000, section VIII-B); empty: not in it
  std::string_view why{};    // half a sentence
};

std::span<const method> methods();
const method* find_method(std::string_view level, std::string_view name);

// Empty where nothing is foretold. `form`: "predicated", "branch" or empty.
std::string_view predicted(const method&, absence, std::string_view form);

// One case, as the parent tells it to the process that carries it out.
struct blocking_case {
  std::string level, method;
  absence how = absence::nobody;
  std::string who = "last";  // first, last, half (every other one)
  std::string form;          // "predicated", "branch"; empty where there is none
  unsigned members = 4;      // participants; of several GPUs: GPUs
  unsigned bound_ms = 500;   // how long all may wait once everybody has done what he does
  unsigned rounds = 0;       // above 0: part 1, does it hold everybody?
  std::uint64_t seed = 1;
  std::vector<int> gpus{};  // CUDA ordinals
  bool operator==(const blocking_case&) const = default;
};

std::vector<std::string> words_of(const blocking_case&);
// std::invalid_argument names the word that is none.
blocking_case case_from(std::span<const std::string> words);

bool is_absent(const blocking_case&, unsigned participant, unsigned participants);
std::vector<unsigned> absentees(const blocking_case&, unsigned participants);

// One participant's stamps in ns, of one clock; missing: it did not come that far.
struct participant {
  std::optional<std::int64_t> arrived{}, left{};
  std::optional<std::int64_t> acted{};  // the absent have begun what they do instead
};

// Part 1: rounds with the barrier and rounds without, the same otherwise.
struct holding {
  std::uint64_t rounds = 0, violations = 0, wrong_data = 0;  // wrong_data: reads of another round's
  std::uint64_t control_rounds = 0, control_violations = 0;
  std::uint64_t hung_in = 0;  // the round, from 1 on, in which nobody got through; nothing else is known then
  std::vector<double> begin{}, end{};  // of one round, by participant, from the first stamp on
  std::vector<double> control_begin{}, control_end{};
  std::string unit = "ns";
};

// What a case's process said.
struct case_seen {
  std::map<unsigned, participant> participants{};
  std::vector<unsigned> named{};  // whom our time-out named
  std::string ended_by{};         // "itself", "time-out", "bound", "trap", "guard"; empty: it did not say
  std::optional<holding> held{};
  std::map<std::string, std::string> found{};  // "toolkit", "architecture", "error", "waived", ...
};

case_seen case_seen_from(std::string_view output);

// Passed and held: nobody left before all had arrived who had to. Whoever has ended has not to; whoever lives
// and is a member has, and has not arrived while he spins or waits at another object. Nothing where the
// others never came, so that nothing was asked of the barrier.
std::optional<outcome> judge(const case_seen&, const blocking_case&, const method&);

}  // namespace mgsync::blocking
