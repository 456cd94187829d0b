#include "src/app/commands.hpp"

#include <algorithm>
#include <functional>
#include <span>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/app/reference_files.hpp"
#include "src/base/comma_list.hpp"
#include "src/base/errors.hpp"
#include "src/base/standard_streams.hpp"
#include "src/base/units.hpp"
#include "src/harness/study.hpp"
#include "src/results/comparison/comparison.hpp"
#include "src/results/comparison/node_check.hpp"
#include "src/results/files/result_file.hpp"
#include "src/results/frame/pivot_table.hpp"
#include "src/results/frame/selection.hpp"

namespace mgsync {
namespace {

constexpr double default_node_limit = 0.1;  // of --reference without --fail-slower

// "a.json,b.json": several files, each of a process of its own.
std::vector<result_file> read_side(std::string_view side, const std::string& list, const std::string& where) {
  std::vector<result_file> files;
  for (const auto name : split_at_commas(list)) {
    if (name.empty())
      throw usage_error(
          fmt::format("{} is '{}': a file name is empty; accepted: a.json or a.json,b.json", side, list));
    files.push_back(read_result_file(std::string(name)));
    auto& results = files.back().document.results;
    know_facts(studies(), results, false);
    if (!where.empty()) results = selected(std::move(results), where);
  }
  return files;
}

void introduce(std::string_view side, const std::vector<result_file>& files, bool tables_only) {
  for (const auto& file : files) {
    const auto& machine = file.document.machine;
    if (!tables_only)
      tell("{:<5} {} ({}, mgsync {}, {})\n", side, one_line(file.name), machine.host, machine.mgsync,
           file.document.started);
    for (const auto& sentence : file.damage) say("mgsync: {}\n", sentence);
    if (!file.complete) tell("note: {} is not complete: its command was cut short\n", one_line(file.name));
  }
}

std::vector<json_document> documents_of(std::vector<result_file>& files) {
  std::vector<json_document> documents;
  for (auto& file : files) documents.push_back(std::move(file.document));
  return documents;
}

// Calls it with every two files of both sides, the earlier one first.
void of_every_two(const std::vector<result_file>& base, const std::vector<result_file>& now,
                  const std::function<void(const result_file&, const result_file&)>& tell_of) {
  std::vector<const result_file*> all;
  for (const auto* side : {&base, &now})
    for (const auto& file : *side) all.push_back(&file);
  for (std::size_t i = 0; i < all.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) tell_of(*all[j], *all[i]);
}

// Throws usage_error where a file is named twice, as it is not the result of two processes.
void refuse_a_file_twice(const std::vector<result_file>& base, const std::vector<result_file>& now) {
  of_every_two(base, now, [](const auto& one, const auto& other) {
    if (one.name == other.name)
      throw usage_error(fmt::format("{} is named twice: name files of runs of their own", other.name));
  });
}

int judge(const comparison& compared, double limit, bool allow_missing, const std::vector<result_file>& now) {
  auto violations = gate_violations(compared, {limit, allow_missing});
  const auto points = violations.size();
  for (const auto& file : now)
    if (!file.damage.empty())
      violations.push_back(fmt::format("{} is damaged: that a point failed may stand in what was skipped",
                                       one_line(file.name)));
  std::vector<std::string> by;
  if (points > 0) by.push_back(counted(points, "point"));
  if (violations.size() > points) by.push_back(counted(violations.size() - points, "damaged file"));
  const auto shut = fmt::format("SHUT by {}", fmt::join(by, " and "));
  tell("\ngate --fail-slower {:.4g}%: {}\n", 100 * limit, violations.empty() ? "passed" : shut);
  for (const auto& sentence : violations) tell("  {}\n", sentence);
  for (const auto& sentence : doubtful_sides(compared))
    tell("  {}: measure again on a quiet machine\n", sentence);
  if (const auto chance = worse_by_chance(compared, limit); chance > 0)
    tell("  {}: several files a side, each of a process of its own, decide\n", words_by_chance(chance));
  if (const auto open = undecided(compared, limit); open > 0)
    tell("  {} not shown to be slower may be so by more than that: the interval is wide\n",
         counted(open, "point"));
  return static_cast<int>(violations.empty() ? exit_code::success : exit_code::gate_shut);
}

// Why these files may be incomplete; empty: they are complete.
std::string doubt_of(const std::vector<result_file>& files) {
  for (const auto& file : files) {
    if (!file.damage.empty()) return file.name + " is damaged";
    if (!file.complete) return fmt::format("the command that wrote {} was cut short", file.name);
  }
  return "";
}

int judge_this_node(const comparison& compared, double limit, const std::string& doubt) {
  const auto found = judge_node(compared, limit, doubt);
  tell("\n{}\n", found.sentence);
  for (const auto& sentence : found.violations) tell("  {}\n", sentence);
  for (const auto& sentence : doubtful_sides(compared))
    tell("  {}: measure again on a quiet machine\n", sentence);
  switch (found.what) {
  case node_state::normal: return static_cast<int>(exit_code::success);
  case node_state::not_normal: return static_cast<int>(exit_code::gate_shut);
  case node_state::cannot_be_told: break;
  }
  return static_cast<int>(exit_code::all_waived);
}

// The reference of the same kind of machine that has most points in common with these results. One that is
// itself of a run that is judged says nothing of it.
std::vector<result_file> reference_for(const std::vector<result_file>& judged) {
  const auto& now = judged.front();
  auto known = references_for(now.document.machine, now.name);
  if (known.alike.empty()) throw usage_error(known.why_none);
  std::erase_if(known.alike, [&](const result_file& file) {
    return std::ranges::any_of(judged,
                               [&](const auto& f) { return are_of_one_run(file.document, f.document); });
  });
  if (known.alike.empty())
    throw usage_error(
        fmt::format("{} is itself the reference for this kind of machine: there is none of another run "
                    "to hold it against; accepted: results of another run",
                    now.name));
  const auto in_common = [&](const result_file& file) {
    return compare(std::span(&file.document, 1), std::span(&now.document, 1)).points.size();
  };
  std::vector<result_file> best;
  std::size_t most = 0;
  for (auto& file : known.alike) {
    const auto common = in_common(file);
    if (!best.empty() && common <= most) continue;
    most = common;
    best.clear();
    best.push_back(std::move(file));
  }
  return best;
}

// Of files that are no two measurements, which a comparison takes them for.
void tell_of_one_run(const std::vector<result_file>& base, const std::vector<result_file>& now) {
  of_every_two(base, now, [](const auto& one, const auto& other) {
    if (are_of_one_run(one.document, other.document))
      tell("note: {} and {} are of the same run\n", one_line(one.name), one_line(other.name));
  });
}

}  // namespace

int compare_command(const options& asked) {
  auto now = read_side("NEW", asked.files.back(), asked.where);
  auto base = asked.reference ? reference_for(now) : read_side("BASE", asked.files.front(), asked.where);
  refuse_a_file_twice(base, now);
  const auto allowed = asked.across.value_or(asked.reference ? across::hosts : across::nothing);
  const auto& reference = base.front();
  for (const auto* side : {&base, &now})
    for (const auto& file : *side)
      refuse_unless_alike(reference.document.machine, reference.name, file.document.machine, file.name,
                          allowed);
  const bool tables_only = !asked.pivot.by.empty();
  introduce("BASE", base, tables_only);
  introduce("NEW", now, tables_only);
  if (!tables_only) tell_of_one_run(base, now);
  for (const auto& text : {likeness_of(reference.document.machine, now.front().document.machine).difference,
                           software_difference(reference.document.machine, now.front().document.machine,
                                               reference.document.settings, now.front().document.settings)})
    if (!text.empty() && !tables_only) tell("note: {}\n", text);
  const auto doubt = doubt_of(now);
  const auto compared = compare(documents_of(base), documents_of(now), asked.noise);
  if (asked.reference) {
    auto of_both = compared;  // points of one side only are counted, not listed
    of_both.only_base.clear();
    of_both.only_new.clear();
    if (!compared.points.empty() || !compared.lost.empty())
      tell("\n{}", format_comparison(of_both, asked.listed()));
    return judge_this_node(compared, asked.fail_slower.value_or(default_node_limit), doubt);
  }
  if (compared.points.empty() && compared.lost.empty())
    throw usage_error(
        fmt::format("{} and {} have no measured point in common: measure the same members, shapes and "
                    "backends in both",
                    asked.files.front(), asked.files.back()));
  if (tables_only)
    tell("{}", asked.pivot.by == "subject" ? table_by_subject(compared, asked.fail_slower.value_or(0))
                                           : table_by(ratios_of(compared), asked.pivot));
  else tell("\n{}", format_comparison(compared, asked.listed()));
  return asked.fail_slower ? judge(compared, *asked.fail_slower, asked.allow_missing, now) : 0;
}

}  // namespace mgsync
