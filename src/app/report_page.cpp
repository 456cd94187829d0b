#include "src/app/report_page.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "barriers/backend.hpp"
#include "mgsync/version.hpp"
#include "src/base/printable.hpp"
#include "src/base/units.hpp"
#include "src/results/comparison/comparison.hpp"
#include "src/results/comparison/fleet.hpp"
#include "src/results/files/anonymous.hpp"
#include "topology/reports/drawing.hpp"
#include "topology/reports/reports.hpp"

namespace mgsync {
namespace {

using report::page_section;

void append(evaluation& to, evaluation from) {
  std::move(from.sentences.begin(), from.sentences.end(), std::back_inserter(to.sentences));
  std::move(from.tables.begin(), from.tables.end(), std::back_inserter(to.tables));
  std::move(from.figures.begin(), from.figures.end(), std::back_inserter(to.figures));
  std::move(from.in_parts.begin(), from.in_parts.end(), std::back_inserter(to.in_parts));
}

std::string capitalized(std::string_view word) {
  std::string text(word);
  if (!text.empty()) text.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(text.front())));
  return text;
}

// Lists failed points one by one, and the others by their reason.
table endings_of(std::span<const result> results) {
  table t{{"endings", "What was not measured",
           "Failed: the subject itself is wrong or stuck. Waived: it cannot run here."},
          {"", "why", "points | >", "of"}};
  std::map<std::pair<result_status, std::string>, std::pair<std::size_t, std::set<std::string>>> by_reason;
  for (const auto& r : results) {
    if (r.status == result_status::measured) continue;
    if (r.status == result_status::failed) {
      t.add({to_string(r.status), r.reason, 1, name_of(r.point)}, short_key(r.point));
      continue;
    }
    auto& [count, names] = by_reason[{r.status, r.reason}];
    ++count;
    names.insert(subject_of(r.point));
  }
  const auto has = [&](result_status how) {
    return std::ranges::any_of(results, [how](const result& r) { return r.status == how; });
  };
  if (has(result_status::error))
    t.heading.caption +=
        " Error: measuring it was given up, as after a time-out, which shows nothing wrong with the subject.";
  if (has(result_status::interrupted))
    t.heading.caption += " Interrupted: the command ended meanwhile; what it had measured is shown.";
  for (const bool waived : {false, true})
    for (const auto& [why, of] : by_reason) {
      if ((why.first == result_status::waived) != waived) continue;
      std::vector<std::string> names(of.second.begin(), of.second.end());
      const auto more = names.size() > 6 ? fmt::format(" and {} more", names.size() - 6) : "";
      if (names.size() > 6) names.resize(6);
      t.add({to_string(why.first), why.second, of.first, fmt::format("{}{}", fmt::join(names, ", "), more)});
    }
  return t;
}

// A line of what this barrier is, as `mgsync list` has it; empty for one that this program does not have.
std::string_view summary_of(const point& one) {
  for (const auto* b : backends())
    if (b->name == one.subject)
      for (const auto& v : b->variants)
        if (v.name == one.variant) return v.summary;
  return "";
}

// What each barrier is that was measured, and how a program calls it where it can.
table meanings_of(std::span<const result> results) {
  table t{{"calls", "What the barriers are, and how a program calls them",
           "Where no call stands, a program cannot call the barrier as it was measured, or it failed here."},
          {"barrier", "what it is", "of", "call", "needs"}};
  std::map<std::string, const result*> by_name;
  for (const auto& r : results)
    if (r.point.study == default_study && r.has_metrics()) {
      auto& known = by_name[marked_subject_of(r)];
      const auto tells = [](const result& one) { return one.facts && one.verdict.passed; };
      if (known == nullptr || (tells(r) && !tells(*known))) known = &r;
    }
  for (const auto& [name, r] : by_name) {
    const auto fact = [of = r](std::string known_facts::*one) {
      return of->facts && of->verdict.passed ? (*of->facts).*one : "";
    };
    t.add({name, std::string(summary_of(r->point)), fact(&known_facts::maker), fact(&known_facts::call),
           fact(&known_facts::needs)});
  }
  return t;
}

// The changes of two files, as compare marks them.
std::optional<page_section> side_by_side(const std::vector<std::string>& names, bool anonymous) {
  auto before = read_result_file(names[0]), after = read_result_file(names[1]);
  if (anonymous) make_anonymous(before.document), make_anonymous(after.document);
  const auto compared = compare(std::span(&before.document, 1), std::span(&after.document, 1));
  if (compared.points.empty()) return std::nullopt;
  auto commands = measuring_commands(before.document);
  std::ranges::move(measuring_commands(after.document), std::back_inserter(commands));
  page_section s{"side-by-side", "Before and after", {}, std::move(commands), ""};
  table t{{"changes", "Every point of both files",
           "After over before: the median of all quotients of two batches, its 95 % interval wider by what a "
           "process as a whole is shifted by (4 %)."},
          {"result", "point", "metric", "before | .4g", "after | .4g", "after / before | .3f", "ci95 | .3f",
           "note"}};
  chart c{{"changes", "After over before",
           "Above 1: more than before. Bars: 95 % intervals with the margin of a process's own shift."},
          {"before, each in its own unit", true},
          {"after / before"},
          {}};
  std::map<std::string, curve> by_word;
  std::vector<const compared_point*> ordered;
  for (const auto& one : compared.points) ordered.push_back(&one);
  const auto place = [](const compared_point* one) {
    return one->what == change::worse ? 0 : one->what == change::improved ? 1 : 2;
  };
  std::stable_sort(ordered.begin(), ordered.end(), [&](auto* a, auto* b) { return place(a) < place(b); });
  for (const auto* one : ordered) {
    const std::string word(word_of(one->what, one->measured));
    t.add({word.empty() ? "no difference shown" : word, name_of(one->point), column_name(one->measured),
           one->base_median, one->new_median, one->has_ratio() ? table_entry(one->ratio) : std::nullopt,
           one->has_ratio() ? table_entry(range{one->low, one->high}) : std::nullopt,
           fmt::format("{}", fmt::join(one->notes, "; "))});
    if (!(one->base_median > 0) || !one->has_ratio()) continue;
    auto& curve = by_word[t.rows.back().front()];
    curve.name = t.rows.back().front();
    curve.dots = true;
    curve.points.push_back({one->base_median, one->ratio, one->low, one->high, {}, name_of(one->point), ""});
  }
  for (auto& [word, one] : by_word) c.curves.push_back(std::move(one));
  const auto count = [&](change what) {
    return std::count_if(compared.points.begin(), compared.points.end(),
                         [&](const auto& one) { return one.what == what; });
  };
  s.shown.sentences.push_back(fmt::format("From {} to {}: {} worse, {} better, {} without a difference "
                                          "shown, {} with too few batches to tell; {} lost their number.",
                                          names[0], names[1], count(change::worse), count(change::improved),
                                          count(change::not_shown), count(change::too_few),
                                          compared.lost.size()));
  for (auto& sentence : doubtful_sides(compared)) s.shown.sentences.push_back(sentence + ".");
  for (const auto& text : {likeness_of(before.document.machine, after.document.machine).difference,
                           software_difference(before.document.machine, after.document.machine,
                                               before.document.settings, after.document.settings)})
    if (!text.empty()) s.shown.sentences.push_back("What else differs: " + text + ".");
  if (!c.curves.empty()) s.shown.figures.emplace_back(std::move(c));
  s.shown.tables.push_back(std::move(t));
  return s;
}

std::vector<std::string> commands_of(const report_files& all, const reported_machine& m,
                                     std::string_view study) {
  std::vector<std::string> commands;
  for (std::size_t i = 0; i < m.results.size(); ++i)
    if (m.results[i].point.study == study && m.from[i] < all.measured.size())
      for (const auto& c : measuring_commands(all.measured[m.from[i]].document))
        if (std::ranges::find(commands, c) == commands.end()) commands.push_back(c);
  return commands;
}

// The sentences of evaluations that failed.
std::vector<std::string> failures_of(const std::vector<shown_study>& several) {
  std::vector<std::string> sentences;
  for (const auto& one : several)
    if (!one.failed.empty()) sentences.push_back(one.shown.sentences.front());
  return sentences;
}

// Adds the rows and sections of one machine to the page, its sentences to the verdict, and evaluations that
// threw also to `failed`.
void add_machine(report::page& p, const report_files& all, const reported_machine& m, std::size_t number,
                 bool alone, std::vector<std::string>& failed) {
  const auto prefix = fmt::format("m{}-", number);
  std::map<std::string, int> again;
  const auto add_row = [&](const result& r, std::size_t file, bool earlier) {
    const auto id = prefix + short_key(r.point);
    const int count = again[id]++;
    p.rows.push_back({&r, file, count == 0 ? id : fmt::format("{}-{}", id, count), earlier});
  };
  for (std::size_t i = 0; i < m.results.size(); ++i) add_row(m.results[i], m.from[i], false);
  for (std::size_t i = 0; i < m.earlier.size(); ++i) add_row(m.earlier[i], m.earlier_from[i], true);
  page_section found{prefix + "found", alone ? "" : m.title, {}, {}, prefix};
  auto evaluated = evaluate_all(m.results, m.earlier);
  for (auto& sentence : failures_of(evaluated)) {
    found.shown.sentences.push_back(sentence);
    failed.push_back(fmt::format("{}: {}", m.title, sentence));
  }
  for (auto& one : evaluated) {
    auto& shown = one.shown;
    // All sentences about barriers, and the first sentence of every other study; its others stand with its
    // figures.
    constexpr std::size_t most_of_a_study = 2;
    const auto first = !one.failed.empty()             ? std::size_t{0}
                       : one.of->name == default_study ? shown.sentences.size()
                                                       : std::min(shown.sentences.size(), most_of_a_study);
    const auto rest = shown.sentences.begin() + static_cast<std::ptrdiff_t>(first);
    std::vector<std::string> above(shown.sentences.begin(), rest);
    std::ranges::copy(above, std::back_inserter(found.shown.sentences));
    std::ranges::move(shown.in_parts, std::back_inserter(found.shown.in_parts));
    shown.sentences.erase(shown.sentences.begin(), rest);
    if (one.of->name == default_study && !shown.tables.empty()) {
      found.shown.tables.push_back(std::move(shown.tables.front()));
      shown.tables.erase(shown.tables.begin());
    }
    if (one.of->name == default_study) shown.add(meanings_of(m.results));
    p.sections.push_back({fmt::format("{}{}", prefix, one.of->name),
                          fmt::format("{}{}", capitalized(one.of->name), alone ? "" : ": " + m.title),
                          std::move(shown), commands_of(all, m, one.of->name), prefix, std::move(above)});
  }
  if (auto summary = summary_of(m.results); !summary.empty())
    found.shown.sentences.push_back(fmt::format("Of all studies together, {}.", summary));
  if (auto endings = endings_of(m.results); !endings.rows.empty())
    found.shown.tables.push_back(std::move(endings));
  // With several machines, the first sentence of each also stands at the top.
  if (!alone && !found.shown.sentences.empty())
    p.verdict.shown.sentences.push_back(fmt::format("{}: {}", m.title, found.shown.sentences.front()));
  if (alone) append(p.verdict.shown, std::move(found.shown)), p.verdict.rows = prefix;
  else
    p.sections.insert(std::find_if(p.sections.begin(), p.sections.end(),
                                   [&](const auto& s) { return s.id.starts_with(prefix); }),
                      std::move(found));
}

report::page_file file_of(const result_file& f) {
  const auto& d = f.document;
  report::page_file shown{one_line(f.name), measuring_commands(d), d.started, d.ended, d.machine, d.settings,
                          f.damage};
  if (!f.complete) shown.remarks.push_back("its command was cut short");
  if (!f.unfinished.empty())
    shown.remarks.push_back(fmt::format("{} {} samples but no result", counted(f.unfinished.size(), "point"),
                                        f.unfinished.size() == 1 ? "has" : "have"));
  return shown;
}

// "31 files, measured 2026-11-24 on 4 machines by 3 builds of mgsync": machines by their names and GPUs.
std::string subtitle_of(const report_files& all, std::size_t files) {
  std::set<std::string> days, machines, programs;
  for (const auto& f : all.measured) {
    const auto& m = f.document.machine;
    if (const auto day = f.document.started.substr(0, 10); !day.empty()) days.insert(day);
    std::vector<std::string> parts = m.hosts;
    for (const auto& gpu : m.gpus) parts.push_back(gpu.uuid);
    machines.insert(fmt::format("{}", fmt::join(parts, " ")));
    programs.insert(m.mgsync);
  }
  if (all.measured.empty()) return counted(files, "file");  // of machines, or of acceptances
  auto text = fmt::format("{}, measured {}", counted(all.measured.size(), "file"),
                          days.empty() ? "at unknown times" : fmt::format("{}", fmt::join(days, ", ")));
  if (machines.size() > 1) text += fmt::format(" on {}", counted(machines.size(), "machine"));
  if (programs.size() > 1) text += fmt::format(" by {} of mgsync", counted(programs.size(), "build"));
  return text;
}

// What acceptances found, with their first sentence in the verdict: whether the nodes are normal.
void add_acceptances(report::page& p, const std::vector<acceptance>& accepted) {
  fleet all;
  for (const auto& one : accepted) all.add(one);
  page_section s{"acceptances", "Acceptances", evaluate(all).shown, {}, ""};
  auto& said = p.verdict.shown.sentences;
  said.insert(said.begin(), s.shown.sentences.front());
  ++p.verdict.before_figure;
  std::ranges::copy(s.shown.in_parts, std::back_inserter(p.verdict.shown.in_parts));
  p.sections.push_back(std::move(s));
}

void add_drawings(report::page& p, const report_files& all) {
  if (!all.drawn.empty()) p.style_of_drawings = topology::style_of_pictures(".drawing ");
  for (const auto& machine : all.drawn)
    p.drawings.push_back(
        {topology::machine_title(machine), topology::write_svg(machine, false), "from " + machine.source});
}

}  // namespace

report::page page_of(const options& asked, const report_files& all, std::vector<std::string>& failed) {
  report::page p;
  p.written = fmt::format("mgsync {}", version_with_commit);
  std::vector<std::string> titles;
  for (const auto& m : all.machines) titles.push_back(m.title);
  for (const auto& m : all.drawn)
    if (titles.empty()) titles.push_back(topology::machine_title(m));
  p.title = fmt::format("Synchronization on {}", fmt::join(titles, "; "));
  p.subtitle = subtitle_of(all, asked.files.size());
  p.verdict = {"verdict", "", {}, {}, ""};
  if (all.measured.size() == 2 && all.machines.size() == 1) {
    std::vector<std::string> names{all.measured[0].name, all.measured[1].name};
    if (auto both = side_by_side(names, asked.anonymous)) p.sections.push_back(std::move(*both));
  }
  for (std::size_t i = 0; i < all.machines.size(); ++i)
    add_machine(p, all, all.machines[i], i + 1, all.machines.size() == 1, failed);
  if (!all.accepted.empty()) add_acceptances(p, all.accepted);
  else if (!all.machines.empty())
    p.verdict.shown.sentences.emplace_back(
        "Whether a node is normal is not judged here: mgsync accept measures and judges that, and mgsync "
        "compare "
        "--reference FILE --fail-slower 10% judges a file that was measured already.");
  add_drawings(p, all);
  for (const auto& f : all.measured) p.files.push_back(file_of(f));
  if (asked.anonymous)
    for (auto& f : p.files) f.name = std::filesystem::path(f.name).filename().string();
  return p;
}

}  // namespace mgsync
