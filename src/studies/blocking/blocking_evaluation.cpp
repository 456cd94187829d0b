#include "src/studies/blocking/blocking_evaluation.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

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
bool has_outcome(const result& r) { return !detail(r, "outcome").empty(); }

// A row of the table: one barrier in one form, at one number of participants (lanes, warps, blocks, GPUs).
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

using cells = std::map<absence, std::vector<const result*>>;

// The barriers in the order of the table of methods, so that levels go up.
std::vector<std::pair<asked_barrier, cells>> cases_by_barrier(std::span<const result> all) {
  std::map<asked_barrier, cells> found;
  for (const auto& r : all)
    if (is_about(r, "absent") && has_outcome(r))
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

// One word where all agree, whoever is absent; else each with who was.
std::string cell_of(const std::vector<const result*>& here) {
  std::map<std::string, std::vector<std::string>> who;
  for (const auto* r : here) who[word_of_case(*r)].push_back(r->point.word("who"));
  std::vector<std::string> parts;
  for (const auto& [word, names] : who)
    parts.push_back(who.size() == 1 ? word : fmt::format("{}: {}", fmt::join(names, ", "), word));
  return fmt::format("{}", fmt::join(parts, "; "));
}

std::string cell_of(const cells& row, absence how) {
  const auto found = row.find(how);
  return found == row.end() ? "-" : cell_of(found->second);
}

bool all_are(const cells& row, std::initializer_list<absence> hows, std::string_view word) {
  return std::all_of(hows.begin(), hows.end(), [&](absence how) {
    const auto found = row.find(how);
    return found != row.end() && std::all_of(found->second.begin(), found->second.end(),
                                             [&](const result* r) { return detail(*r, "outcome") == word; });
  });
}

bool any_is(const cells& row, absence how, std::string_view word) {
  const auto found = row.find(how);
  return found != row.end() && std::any_of(found->second.begin(), found->second.end(),
                                           [&](const result* r) { return detail(*r, "outcome") == word; });
}

// What a user may rely on, from the cells that were asked.
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
    if (all_are(row, {how}, "held"))
      may.push_back(counts ? "who waits for the same barrier at another place" : std::string(who));
    else
      may_not.push_back(any_is(row, how, "passed") ? fmt::format("{} (nobody waits for him)", who)
                                                   : std::string(who));
  }
  if (any_is(row, absence::late, "hung")) may_not.push_back("who only comes late");
  return {may.empty() ? "nobody" : fmt::format("{}", fmt::join(may, ", ")),
          may_not.empty() ? "nobody" : fmt::format("{}", fmt::join(may_not, ", "))};
}

void add_outcomes(std::span<const result> all, evaluation& e) {
  const auto rows = cases_by_barrier(all);
  if (rows.empty()) return;
  table users{{"who-may-be-absent", "Who may be absent",
               "Of what was tried here; docs/studies/blocking.md says how."},
              {"level", "barrier", "this may be absent", "this may not", "why"},
              {}};
  table outcomes{{"outcomes", "What becomes of the others while some stay away (000, section VIII)",
                  "held: they passed, and nobody before all who had to come; passed: without holding; hung: "
                  "they did not pass."},
                 {"level", "barrier", "of", "exit before", "exit late", "spin", "elsewhere", "late", "drop",
                  "foretold: exit", "spin"},
                 {},
                 {false, false, true}};
  for (const auto& [barrier, row] : rows) {
    const auto* known = find_method(barrier.level, barrier.name);
    const auto [may, may_not] = advice(known, row);
    const auto source = short_key(row.begin()->second.front()->point);  // of several, the first
    // Once where both forms say the same.
    std::vector<std::string> cells_of_users{barrier.level, name_of(barrier), may, may_not,
                                            std::string(known != nullptr ? known->why : "")};
    auto same = cells_of_users;
    if (!users.rows.empty()) same[1] = users.rows.back()[1];
    if (!users.rows.empty() && users.rows.back() == same && same[1].starts_with(barrier.name + " (")) {
      users.rows.back()[1] = barrier.name;
    } else {
      users.rows.push_back(std::move(cells_of_users));
      users.sources.push_back(source);
    }
    outcomes.sources.push_back(source);
    const auto foretold = [known, form = barrier.form](absence how) {
      return std::string(known != nullptr ? predicted(*known, how, form) : "");
    };
    outcomes.rows.push_back({barrier.level, name_of(barrier), fmt::format("{}", barrier.members),
                             cell_of(row, absence::exit_before), cell_of(row, absence::exit_late),
                             cell_of(row, absence::spin), cell_of(row, absence::elsewhere),
                             cell_of(row, absence::late), cell_of(row, absence::drop),
                             foretold(absence::exit_before), foretold(absence::spin)});
  }
  e.tables.push_back(std::move(users));
  e.tables.push_back(std::move(outcomes));
}

// Every cell that was not foretold, with what its verdict depends on.
void add_findings(std::span<const result> all, evaluation& e) {
  table t{{"findings", "Findings: what was not foretold",
           "A verdict belongs to source form, toolkit and architecture."},
          {"level", "barrier", "absent", "what they do", "finding", "built with", "architecture"},
          {}};
  for (const auto& r : all) {
    if (r.point.study != "blocking" || detail(r, "finding").empty()) continue;
    auto with = detail(r, "toolkit");
    for (const auto* key : {"runtime", "library"})
      if (const auto more = detail(r, key); !more.empty()) with += ", " + more;
    t.sources.push_back(short_key(r.point));
    t.rows.push_back({r.point.word("level"), name_of(barrier_of(r)), r.point.word("who"), r.point.word("how"),
                      detail(r, "finding"), with, detail(r, "architecture")});
  }
  if (!t.rows.empty()) e.tables.push_back(std::move(t));
}

// The paper says deadlock or none, of whole levels; it does not say what the absent did: those that ended are
// compared.
void add_paper(std::span<const result> all, evaluation& e) {
  table t{{"paper", "The paper's cells (000, section VIII-B): those who ended before being absent", ""},
          {"level", "barrier", "V100, P100 (CUDA 10)", "here", "as there"},
          {}};
  for (const auto& [barrier, row] : cases_by_barrier(all)) {
    const auto* known = find_method(barrier.level, barrier.name);
    if (known == nullptr || known->paper.empty() || !row.contains(absence::exit_before)) continue;
    const bool deadlock = known->paper == "deadlock";
    const bool as_there =
        deadlock ? all_are(row, {absence::exit_before}, "hung") : !any_is(row, absence::exit_before, "hung");
    const auto here = all_are(row, {absence::exit_before}, "hung")   ? "hung"
                      : all_are(row, {absence::exit_before}, "held") ? "held"
                                                                     : cell_of(row, absence::exit_before);
    t.sources.push_back(short_key(row.at(absence::exit_before).front()->point));
    t.rows.push_back({barrier.level, name_of(barrier), deadlock ? "deadlock" : "none", here,
                      as_there ? "yes" : "no: a finding"});
  }
  if (!t.rows.empty()) e.tables.push_back(std::move(t));
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
          {"level", "barrier", "of", "rounds", "violations", "at most, per round", "wrong data",
           "control violates", "verdict"},
          {},
          {false, false, true, true, true, true, true, true, false}};
  for (const auto& r : all) {
    if (!is_about(r, "holds") || !has_outcome(r)) continue;
    const auto barrier = barrier_of(r);
    const auto whole = [&r](const char* name) {
      const auto number = r.number(name);
      return number ? fmt::format("{:.0f}", *number) : std::string();
    };
    const double control = r.number("control_rounds").value_or(0);
    t.sources.push_back(short_key(r.point));
    t.rows.push_back(
        {barrier.level, name_of(barrier), fmt::format("{}", barrier.members), whole("rounds"),
         whole("violations"),
         r.number("violations") == 0.0 && r.verdict.bound ? fmt::format("{:.1e}", *r.verdict.bound) : "-",
         whole("wrong_data"),
         control > 0 ? fmt::format("{:.2f} %", 100 * r.number("control_violations").value_or(0) / control)
                     : "-",
         r.verdict.control_flagged ? detail(r, "outcome") : "void"});
    add_staircase(r, false, e);
    add_staircase(r, true, e);
  }
  if (!t.rows.empty()) e.tables.push_back(std::move(t));
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
    if (is_about(r, "absent") && has_outcome(r)) {
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
