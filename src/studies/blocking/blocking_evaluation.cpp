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

bool is_about(const result& r, std::string_view question) {
  return r.point.study == "blocking" && r.point.word("question") == question;
}
bool has_any_outcome(const result& r) { return !detail(r, "outcome").empty(); }
auto has_outcome(std::string_view word) {
  return [word](const result& r) { return detail(r, "outcome") == word; };
}

// The key of a row: one barrier in one form, with a number of participants (lanes, warps, blocks, GPUs).
struct asked_barrier {
  std::string level, name, form;
  int members;
  auto operator<=>(const asked_barrier&) const = default;
};

asked_barrier barrier_of(const result& r) {
  return {r.point.word("level"), r.point.subject, r.point.word("form"),
          static_cast<int>(r.point.number("participants").value_or(r.point.members))};
}

std::string name_of(const asked_barrier& b) {
  return b.form.empty() ? b.name : fmt::format("{} ({})", b.name, b.form);
}

using cells = std::map<absence, frame<result>>;

// The cases of each barrier, in the order of methods(), so that levels ascend.
std::vector<std::pair<asked_barrier, cells>> cases_by_barrier(std::span<const result> all) {
  std::map<asked_barrier, cells> found;
  for (const auto& r : all)
    if (is_about(r, "absent") && has_any_outcome(r))
      if (const auto how = from_word<absence>(r.point.word("how"))) found[barrier_of(r)][*how].push_back(&r);
  std::vector<std::pair<asked_barrier, cells>> ordered(found.begin(), found.end());
  const auto place = [](const asked_barrier& b) {
    const auto known = methods();
    return std::find_if(known.begin(), known.end(),
                        [&](const method& m) { return m.level == b.level && m.name == b.name; }) -
           known.begin();
  };
  std::stable_sort(ordered.begin(), ordered.end(),
                   [&](const auto& a, const auto& b) { return place(a.first) < place(b.first); });
  return ordered;
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
std::string cell_of(const frame<result>& here) {
  std::map<std::string, std::vector<std::string>> who;
  for (const auto* r : here) who[word_of_case(*r)].push_back(r->point.word("who"));
  std::vector<std::string> parts;
  for (const auto& [word, names] : who)
    parts.push_back(who.size() == 1 ? word : fmt::format("{}: {}", fmt::join(names, ", "), word));
  return fmt::format("{}", fmt::join(parts, "; "));
}

std::string cell_of(const cells& row, absence how) {
  const auto* here = at(row, how);
  return here == nullptr ? "-" : cell_of(*here);
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

// Adds one row for both forms of a barrier where they say the same.
void add_user(const asked_barrier& barrier, const method* known,
              const std::pair<std::string, std::string>& may_and_not, const std::string& source,
              table& users) {
  users.add({barrier.level, name_of(barrier), may_and_not.first, may_and_not.second,
             known != nullptr ? known->why : ""},
            source);
  if (users.rows.size() < 2 || !name_of(barrier).starts_with(barrier.name + " (")) return;
  auto same = users.rows.back();
  auto& before = users.rows[users.rows.size() - 2];
  same[1] = before[1];
  if (same != before || !before[1].starts_with(barrier.name + " (")) return;
  before[1] = barrier.name;
  users.rows.pop_back();
  users.sources.pop_back();
}

void add_outcomes(std::span<const result> all, evaluation& e) {
  const auto rows = cases_by_barrier(all);
  if (rows.empty()) return;
  table users{{"who-may-be-absent", "Who may be absent",
               "Of what was tried here; docs/studies/blocking.md says how."},
              {"level", "barrier", "this may be absent", "this may not", "why"}};
  table outcomes{{"outcomes", "What becomes of the others while some stay away (000, section VIII)",
                  "held: they passed, and nobody before all who had to come; passed: without holding; hung: "
                  "they did not pass."},
                 {"level", "barrier", "of | >", "exit before", "exit late", "spin", "elsewhere", "late",
                  "drop", "foretold: exit", "spin"}};
  for (const auto& [barrier, row] : rows) {
    const auto* known = find_method(barrier.level, barrier.name);
    const auto source = short_key(row.begin()->second.front()->point);  // of several results, the first
    add_user(barrier, known, advice(known, row), source, users);
    const auto foretold = [known, form = barrier.form](absence how) {
      return known != nullptr ? predicted(*known, how, form) : "";
    };
    outcomes.add({barrier.level, name_of(barrier), barrier.members, cell_of(row, absence::exit_before),
                  cell_of(row, absence::exit_late), cell_of(row, absence::spin),
                  cell_of(row, absence::elsewhere), cell_of(row, absence::late), cell_of(row, absence::drop),
                  foretold(absence::exit_before), foretold(absence::spin)},
                 source);
  }
  e.add(std::move(users));
  e.add(std::move(outcomes));
}

// Adds every outcome that was not predicted, with what it depends on.
void add_findings(std::span<const result> all, evaluation& e) {
  table t{{"findings", "Findings: what was not foretold",
           "A verdict belongs to source form, toolkit and architecture."},
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
void add_paper(std::span<const result> all, evaluation& e) {
  table t{{"paper", "The paper's cells (000, section VIII-B): those who ended before being absent", ""},
          {"level", "barrier", "V100, P100 (CUDA 10)", "here", "as there"}};
  for (const auto& [barrier, row] : cases_by_barrier(all)) {
    const auto* known = find_method(barrier.level, barrier.name);
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
  t.heading = {fmt::format("staircase-{}{}", of, control ? "-control" : ""),
               fmt::format("{} of level {}{}", name_of(barrier), barrier.level, control ? ", left out" : ""),
               control
                   ? "The same code without the barrier: each leaves when he comes (000, figures 17 and 18)."
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
  for (const auto& r : all) {
    if (!is_about(r, "holds") || !has_any_outcome(r)) continue;
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
  add_outcomes(all, e);
  add_findings(all, e);
  add_paper(all, e);
  std::size_t cases = 0, works = 0;
  double longest = 0;
  for (const auto& r : all)
    if (is_about(r, "absent") && has_any_outcome(r)) {
      ++cases;
      works += detail(r, "afterwards") == "works";
      longest = std::max(longest, r.number("duration").value_or(0));
    }
  if (cases > 0)
    e.sentences.push_back(fmt::format(
        "{} cases, each with an outcome, the longest {:.1f} s; a fresh process afterwards worked in {}.",
        cases, longest, works));
  return e;
}

}  // namespace mgsync::blocking
