#include "src/studies/blocking/blocking_evaluation.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/results/frame/frame.hpp"
#include "src/studies/blocking/blocking_case.hpp"

namespace mgsync::blocking {
namespace {

std::string detail(const result& r, const std::string& key) {
  const auto found = r.verdict.details.find(key);
  return found == r.verdict.details.end() ? "" : found->second;
}

auto is_about(std::string_view question) {
  return [question](const result& r) {
    return r.point.study == "blocking" && r.point.word("question") == question;
  };
}
bool has_any_outcome(const result& r) { return !detail(r, "outcome").empty(); }
auto has_outcome(std::string_view word) {
  return [word](const result& r) { return detail(r, "outcome") == word; };
}

// The key of a row: one barrier in one form, with a number of participants (lanes, warps, blocks, GPUs).
struct asked_barrier {
  std::ptrdiff_t place;  // in methods(), so that levels ascend
  std::string level, name, form;
  int members;
  auto operator<=>(const asked_barrier&) const = default;

  const method* known() const { return find_method(level, name); }
};

asked_barrier barrier_of(const result& r) {
  const auto all = methods();
  const auto found = std::ranges::find_if(
      all, [&](const method& m) { return m.level == r.point.word("level") && m.name == r.point.subject; });
  return {found - all.begin(), r.point.word("level"), r.point.subject, r.point.word("form"),
          static_cast<int>(r.point.number("participants").value_or(r.point.members))};
}

std::string name_of(const asked_barrier& b) {
  return b.form.empty() ? b.name : fmt::format("{} ({})", b.name, b.form);
}

std::optional<absence> how_of(const result& r) { return from_word<absence>(r.point.word("how")); }

using cells = std::map<absence, frame<result>>;

std::map<asked_barrier, cells> cases_by_barrier(std::span<const result> all) {
  std::map<asked_barrier, cells> found;
  for (const auto& [barrier, some] : by(where(all, is_about("absent"), has_any_outcome, how_of), barrier_of))
    found[barrier] = by(some, [](const result& r) { return *how_of(r); });
  return found;
}

std::string word_of_case(const result& r) {
  auto word = detail(r, "outcome");
  const auto by = detail(r, "ended_by");
  if (word == "hung")
    word += by == "time-out" ? ", names them" : by == "launcher" ? ", ended by the launcher" : "";
  else if (by == "bound") word += ", then hung";
  return word;
}

// The text of a cell: one word where all results agree, whoever is absent; otherwise each word with who was
// absent.
std::string cell_of(const cells& row, absence how) {
  const auto* here = at(row, how);
  if (here == nullptr) return "-";
  std::vector<std::string> parts;
  const auto words = by(*here, word_of_case);
  for (const auto& [word, some] : words) {
    std::vector<std::string> names;
    for (const auto* r : some) names.push_back(r->point.word("who"));
    parts.push_back(words.size() == 1 ? word : fmt::format("{}: {}", fmt::join(names, ", "), word));
  }
  return fmt::format("{}", fmt::join(parts, "; "));
}

bool all_are(const cells& row, absence how, std::string_view word) {
  const auto* here = at(row, how);
  return here != nullptr && first(*here, std::not_fn(has_outcome(word))) == nullptr;
}

bool any_is(const cells& row, absence how, std::string_view word) {
  const auto* here = at(row, how);
  return here != nullptr && first(*here, has_outcome(word)) != nullptr;
}

// What a user may rely on, as far as the cells were measured.
std::pair<std::string, std::string> advice(const method* known, const cells& row) {
  struct kind {
    absence how;
    std::string_view who;
  };
  constexpr kind kinds[] = {{absence::exit_before, "who ended before"},
                            {absence::exit_late, "who ends meanwhile"},
                            {absence::drop, "who signs off"},
                            {absence::spin, "who goes on"},
                            {absence::elsewhere, "who waits elsewhere"}};
  std::vector<std::string> may, may_not;
  for (const auto& [how, who] : kinds) {
    if (!row.contains(how)) continue;
    const bool counts = how == absence::elsewhere && known != nullptr && known->any_place_counts;
    if (all_are(row, how, "held"))
      may.push_back(counts ? "who waits for the same barrier at another place" : std::string(who));
    else
      may_not.push_back(any_is(row, how, "passed") ? fmt::format("{} (nobody waits for him)", who)
                                                   : std::string(who));
  }
  if (any_is(row, absence::late, "hung")) may_not.push_back("who only comes late");
  return {may.empty() ? "nobody" : fmt::format("{}", fmt::join(may, ", ")),
          may_not.empty() ? "nobody" : fmt::format("{}", fmt::join(may_not, ", "))};
}

// The point that a row's key is of: of several results, the first.
std::string source_of(const cells& row) { return short_key(row.begin()->second.front()->point); }

// Who may be absent: one row for both forms of a barrier where they say the same.
table table_for_users(const std::map<asked_barrier, cells>& cases) {
  table t{
      {"who-may-be-absent", "Who may be absent",
       "Of what was tried here: each case in a process of its own, which a time-out ends where it hangs."},
      {"level", "barrier", "this may be absent", "this may not", "why"}};
  for (const auto& [barrier, row] : cases) {
    const auto* known = barrier.known();
    const auto [may, may_not] = advice(known, row);
    const bool has_before = !t.rows.empty() && !barrier.form.empty();
    auto before = has_before ? t.rows.back() : std::vector<std::string>();
    t.add({barrier.level, name_of(barrier), may, may_not, known != nullptr ? known->why : ""},
          source_of(row));
    if (!has_before || !before[1].starts_with(barrier.name + " (")) continue;
    before[1] = name_of(barrier);
    if (before != t.rows.back()) continue;
    t.rows.pop_back(), t.sources.pop_back();
    t.rows.back()[1] = barrier.name;
  }
  return t;
}

// What becomes of the others while some stay away, beside what was foretold.
table table_of_outcomes(const std::map<asked_barrier, cells>& cases) {
  table t{{"outcomes", "What becomes of the others while some stay away (000, section VIII)",
           "held: they passed, and nobody before all who had to come; passed: without holding; hung: "
           "they did not pass."},
          {"level", "barrier", "of | >", "exit before", "exit late", "spin", "elsewhere", "late", "drop",
           "foretold: exit", "spin"}};
  for (const auto& [barrier, row] : cases) {
    std::vector<table_entry> entries{barrier.level, name_of(barrier), barrier.members};
    using enum absence;
    for (const auto how : {exit_before, exit_late, spin, elsewhere, late, drop})
      entries.push_back(cell_of(row, how));
    const auto* known = barrier.known();
    for (const auto how : {exit_before, spin})
      entries.push_back(known != nullptr ? predicted(*known, how, barrier.form) : "");
    t.add(entries, source_of(row));
  }
  return t;
}

// Adds every outcome that was not predicted, with what it depends on.
void add_findings(std::span<const result> all, evaluation& e) {
  table t{{"findings", "Findings: what was not foretold",
           "With another form of the source, toolkit or architecture it may be otherwise."},
          {"level", "barrier", "absent", "what they do", "finding", "built with", "architecture"}};
  for (const auto& r : all) {
    if (r.point.study != "blocking" || detail(r, "finding").empty()) continue;
    auto with = detail(r, "toolkit");
    for (const auto* key : {"runtime", "library"})
      if (const auto more = detail(r, key); !more.empty()) with += ", " + more;
    t.add({r.point.word("level"), name_of(barrier_of(r)), r.point.word("who"), r.point.word("how"),
           detail(r, "finding"), with, detail(r, "architecture")},
          short_key(r.point));
  }
  e.add(std::move(t));
}

// Compares with the paper, which gives deadlock or none for whole levels, but not what the absent did:
// compared are cases in which they ended.
void add_paper(const std::map<asked_barrier, cells>& cases, evaluation& e) {
  table t{{"paper", "The paper's cells (000, section VIII-B): those who ended before being absent", ""},
          {"level", "barrier", "V100, P100 (CUDA 10)", "here", "as there"}};
  for (const auto& [barrier, row] : cases) {
    const auto* known = barrier.known();
    if (known == nullptr || known->paper.empty() || !row.contains(absence::exit_before)) continue;
    const bool deadlock = known->paper == "deadlock";
    const bool all_hung = all_are(row, absence::exit_before, "hung");
    const bool as_there = deadlock ? all_hung : !any_is(row, absence::exit_before, "hung");
    t.add({barrier.level, name_of(barrier), deadlock ? "deadlock" : "none",
           all_hung                                     ? "hung"
           : all_are(row, absence::exit_before, "held") ? "held"
                                                        : cell_of(row, absence::exit_before),
           as_there ? "yes" : "no: a finding"},
          short_key(row.at(absence::exit_before).front()->point));
  }
  e.add(std::move(t));
}

void add_staircase(const result& r, bool control, evaluation& e) {
  const char* const begin = control ? "control_begin" : "begin";
  const auto &begins = r.numbers(begin), &ends = r.numbers(control ? "control_end" : "end");
  if (begins.empty() || begins.size() != ends.size()) return;
  const auto barrier = barrier_of(r);
  timeline t;
  const std::string of =
      fmt::format("{}-{}{}{}", barrier.level, barrier.name, barrier.form.empty() ? "" : "-", barrier.form);
  t.heading = {
      fmt::format("staircase-{}{}", of, control ? "-control" : ""),
      fmt::format("{} of level {}{}", name_of(barrier), barrier.level, control ? ", left out" : ""),
      control ? "The same code without the barrier: each leaves as soon as it comes (000, figures 17 and 18)."
              : "One round: from each participant's arrival until it has left. Held: nobody leaves "
                "before the last arrives (000, figures 17 and 18)."};
  t.unit = r.quantities.find(begin)->second.unit;
  for (std::size_t i = 0; i < begins.size(); ++i)
    t.tracks.push_back({fmt::format("{} {}", barrier.level, i),
                        {{control ? "no barrier" : "at the barrier", begins[i], ends[i]}}});
  e.figures.push_back(std::move(t));
}

void add_holding(std::span<const result> all, evaluation& e) {
  table t{{"holds", "Does it hold everybody? (000, figures 17 and 18)",
           "A violation: somebody left before the last arrived. The control is the same code without the "
           "barrier, and must violate in more than 99 % of its rounds."},
          {"level", "barrier", "of | >", "rounds | .0f", "violations | .0f", "at most, per round | .1e",
           "wrong data | .0f", "control violates | .2f %", "verdict"}};
  for (const auto* each : where(all, is_about("holds"), has_any_outcome)) {
    const auto& r = *each;
    const auto barrier = barrier_of(r);
    const auto whole = [&r](const char* name) {
      const auto number = r.number(name);
      return number ? table_entry(*number) : missing{""};
    };
    t.add({barrier.level, name_of(barrier), barrier.members, whole("rounds"), whole("violations"),
           r.number("violations") == 0.0 ? r.verdict.bound : std::nullopt, whole("wrong_data"),
           ratio(r.number("control_violations").value_or(0), r.number("control_rounds")),
           r.verdict.control_flagged ? detail(r, "outcome") : "void"},
          short_key(r.point));
    add_staircase(r, false, e);
    add_staircase(r, true, e);
  }
  e.add(std::move(t));
}

}  // namespace

evaluation evaluate(std::span<const result> all) {
  evaluation e;
  add_holding(all, e);
  const auto by_barrier = cases_by_barrier(all);
  e.add(table_for_users(by_barrier));
  e.add(table_of_outcomes(by_barrier));
  add_findings(all, e);
  add_paper(by_barrier, e);
  const auto cases = where(all, is_about("absent"), has_any_outcome);
  const auto seconds = [](const result& r) { return r.number("duration").value_or(0); };
  const auto worked = [](const result& r) { return detail(r, "afterwards") == "works"; };
  if (!cases.empty())
    e.sentences.push_back(fmt::format("What somebody's absence does was tried in {} cases: each came to an "
                                      "outcome, in {:.1f} s at most, and "
                                      "after {} of them a fresh process worked.",
                                      cases.size(), std::max(0.0, seconds(*most(cases, seconds))),
                                      where(cases, worked).size()));
  return e;
}

}  // namespace mgsync::blocking
