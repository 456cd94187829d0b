#include "src/app/study_command.hpp"

#include <unistd.h>

#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "mgsync/version.hpp"
#include "src/app/advise_command.hpp"
#include "src/app/help.hpp"
#include "src/app/listed_points.hpp"
#include "src/app/surroundings.hpp"
#include "src/app/this_machine.hpp"
#include "src/base/closest_word.hpp"
#include "src/base/launcher.hpp"
#include "src/base/standard_streams.hpp"
#include "src/report/svg.hpp"
#include "src/report/text.hpp"
#include "topology/findings.hpp"

namespace mgsync {
namespace {

std::vector<const study*> studies_named(const std::string& name) {
  if (name == "all") return {studies().begin(), studies().end()};
  std::vector<std::string_view> names{"all"};
  for (const auto* s : studies()) {
    if (s->name == name) return {s};
    names.push_back(s->name);
  }
  const auto meant = closest(name, names);
  throw usage_error(fmt::format("there is no study '{}'{}; accepted: {}", name,
                                meant ? fmt::format(" (did you mean '{}'?)", *meant) : "",
                                fmt::join(names, ", ")));
}

// The axes of these studies, each name once. With several studies, only axes that mean the same in all of
// them that have it, and none with asks_model.
std::vector<const axis_declaration*> axes_of(std::span<const study* const> several) {
  std::vector<const axis_declaration*> all;
  const auto same_everywhere = [several](const axis_declaration& axis) {
    return std::ranges::all_of(several, [&](const study* s) {
      return std::ranges::all_of(
          s->axes, [&](const auto* other) { return other->name != axis.name || *other == axis; });
    });
  };
  for (const auto* s : several)
    for (const auto* axis : s->axes)
      if (same_everywhere(*axis) && !(several.size() > 1 && axis->asks_model) &&
          std::ranges::find(all, axis->name, &axis_declaration::name) == all.end())
        all.push_back(axis);
  return all;
}

// Why the GPUs of these ranks, if any, cannot be measured; empty: they can.
std::string why_no_gpus(const options& asked, std::span<const topology::rank_view> views) {
  std::size_t gpus = 0, visible = 0;
  for (const auto& v : views) {
    gpus += v.seen.gpus.size();
    visible += topology::visible_gpus(v.seen).size();
  }
  if (gpus == 0) return "no GPU is visible here";
  // --dry-run can plan for the GPUs of a machine description without CUDA.
  const bool planned_only = asked.dry_run && !views.front().seen.is_this_machine;
  if (!with_cuda && !planned_only) return "this mgsync was built without CUDA";
  return visible == 0 ? "CUDA shows none of them" : "";
}

int list_studies(campaign_request request, std::span<const topology::rank_view> views) {
  request.planning = true;
  for (const auto* s : studies()) {
    const auto points = s->points(request_for(*s, request, views));
    const auto run = std::ranges::count_if(points, [](const auto& m) { return m.waived.empty(); });
    tell("{}: {}\n{}  Here {} of {} points can run.\n\n", s->name, s->summary, help_lines(s->axes), run,
         points.size());
  }
  return 0;
}

// Throws usage_error unless several ranks were asked to measure one study whose members may be spread over
// ranks.
void must_fit_ranks(std::span<const study* const> asked) {
  std::vector<std::string_view> in_ranks;
  for (const auto* s : studies())
    if (s->in_ranks) in_ranks.push_back(s->name);
  if (asked.size() == 1 && asked.front()->in_ranks) return;
  throw usage_error(
      fmt::format("of the studies, only {} can be measured by several ranks: start {} without mpirun or srun",
                  fmt::join(in_ranks, ", "), asked.size() == 1 ? asked.front()->name : "mgsync study"));
}

// Throws usage_error for an option that one of the studies refuses, and for a profile all of whose options it
// refuses.
void must_be_used(const options& typed, std::span<const study* const> asked) {
  for (const auto* s : asked) {
    const auto refused = [s](const typed_option& one) { return !why_refused(*s, one.option).empty(); };
    if (!typed.profile.empty() && std::ranges::all_of(typed.profile, refused)) {
      const auto* const name = typed.given.contains("quick") ? "quick" : "full";
      throw usage_error(fmt::format("mgsync study {} does not take --{}: {}; accepted: the same without --{}",
                                    s->name, name, why_refused(*s, typed.profile.front().option), name));
    }
  }
  for (const auto& [option, word] : typed.given)
    for (const auto* s : asked)
      if (const auto why = why_refused(*s, option); !why.empty())
        throw usage_error(
            fmt::format("mgsync study {} does not take --{}: {}; accepted: the same without --{}", s->name,
                        option, why, option));
}

// For `mgsync study all`: throws usage_error for an axis that means different things in different studies, or
// asks for a model's answer.
void refuse_several_meanings(std::span<const std::string> words, declared_axes offered) {
  for (const auto& word : words) {
    if (!word.starts_with("--")) continue;
    std::string name = word.substr(2, word.find('=') - 2);
    std::ranges::replace(name, '-', '_');
    if (std::ranges::find(offered, name, &axis_declaration::name) != offered.end()) continue;
    std::vector<std::string_view> owners;
    for (const auto* s : studies())
      if (std::ranges::find(s->axes, name, &axis_declaration::name) != s->axes.end())
        owners.push_back(s->name);
    if (!owners.empty())
      throw usage_error(fmt::format("{} is asked of one study at a time; accepted in place of all: {}",
                                    word.substr(0, word.find('=')), fmt::join(owners, ", ")));
  }
}

// Throws usage_error for files of results where nothing is measured.
void refuse_documents(const options& typed) {
  std::map<std::string_view, std::string> files{{"json", typed.json}, {"store", typed.store}};
  files.insert(typed.forms.begin(), typed.forms.end());
  for (const auto& [option, file] : files)
    if (!file.empty())
      throw usage_error(fmt::format("--{} {}: without a name the studies are listed, and nothing is measured "
                                    "that could be written there; accepted: the same without --{}",
                                    option, file, option));
}

// Prints the model's answer, which needs no knowledge of this machine. Signals have their default action
// meanwhile.
int tell_answer(const study& asked, const options& typed) {
  for (const auto& [option, word] : typed.given)
    if (option != "json" && option != "csv" && option != "figures")
      throw usage_error(
          fmt::format("--{}: a model answers, nothing is measured, and that option says nothing to it; "
                      "accepted beside the model's own options: --json, --csv, --figures",
                      option));
  prepare_files(typed);
  const topology::rank_view nowhere;
  campaign_request request;
  request.axes = typed.axes;
  const auto answered = asked.answer(request_for(asked, request, {&nowhere, 1}));
  if (!typed.json.empty() && answered.document == nullptr)
    throw usage_error(fmt::format(
        "--json {}: this answer has no JSON form; accepted: the same without --json", typed.json));
  if (answered.csv.empty() && typed.given.contains("csv"))
    throw usage_error("--csv: this answer has no rows; accepted: the same without --csv");
  output_request out = typed;
  for (const auto& each : answered.written) out.forms[each.option] = each.file;
  prepare_files(out, answered.read);
  named_files files;
  for (const auto& each : answered.figures)
    files[heading_of(each).name + ".svg"] = report::to_svg_beside(each, answered.figures);
  write_figures(typed, files);
  if (!typed.json.empty()) {
    nlohmann::ordered_json document{
        {"schema", nullptr}, {"command", typed.typed}, {"mgsync", version_with_commit}};
    document.update(*answered.document);
    write_json(typed, document.dump(2) + "\n");
  }
  write_form(typed, "csv", answered.csv);
  for (const auto& each : answered.written) write_form(out, each.option, each.text);
  print_table(out, answered.text);
  return 0;
}

void refuse_without_study(const options& typed) {
  refuse_documents(typed);
  if (!typed.profile.empty())
    throw usage_error("--quick and --full: without a name the studies are listed, and nothing is measured; "
                      "accepted: mgsync study NAME --quick");
  if (!typed.figures.empty())
    throw usage_error(
        "--figures: without a name the studies are listed; accepted: mgsync study NAME --figures FOLDER");
}

// Throws usage_error for --topology without --dry-run, as only this machine can be measured.
void refuse_description(const options& typed) {
  if (!typed.topology_file.empty() && !typed.dry_run)
    throw usage_error(fmt::format("--topology {}: what is measured is the machine that mgsync runs on, and "
                                  "not one that a file describes; accepted: --dry-run, which plans for that "
                                  "one, mgsync list, mgsync topology",
                                  typed.topology_file));
}

}  // namespace

const presentation as_text_and_svg{
    [](const evaluation& e) { return report::to_text(e, terminal_at(STDOUT_FILENO)); },
    report::to_svg_beside};

std::vector<const study*> studies_asked(std::span<const std::string> arguments) {
  const auto words = plain_words(arguments);
  const auto is = [&](std::string_view command) { return !words.empty() && words.front() == command; };
  if (words.empty() || is("measure") || is("list") || is("help")) return studies_named(point{}.study);
  return is("study") && words.size() > 1 ? studies_named(words[1]) : std::vector<const study*>{};
}

std::vector<const axis_declaration*> axes_asked(std::span<const study* const> several,
                                                std::span<const std::string> arguments) {
  if (const auto words = plain_words(arguments); !words.empty() && words.front() == "advise")
    return {advise_axes().begin(), advise_axes().end()};
  auto axes = axes_of(several);
  if (several.size() > 1) refuse_several_meanings(arguments, axes);
  return axes;
}

campaign_request campaign_of(const options& asked, std::span<const study* const> studies,
                             const communicator& job, std::span<const topology::rank_view> views) {
  campaign_request request;
  const auto why = why_no_gpus(asked, views);
  if (asked.device == "gpu" && !why.empty()) refuse_gpus(asked, why);
  request.device = asked.device != "host" && why.empty() ? topology::device::gpu : topology::device::host;
  const bool here = std::ranges::any_of(
      views, [](const auto& v) { return !v.seen.gpus.empty() || !v.seen.unseen_gpus.empty(); });
  if (asked.device != "host" && here) request.not_gpus = why;
  request.studies.assign(studies.begin(), studies.end());
  request.axes = asked.axes;
  if (!asked.points.empty()) request.sweeps = sweeps_of_file(asked.points);
  request.settings = asked;
  request.seed = asked.seed;
  request.less_order = asked.less_order;
  request.out = asked;
  request.with_cuda = with_cuda;
  request.planning = asked.dry_run;
  request.machine = record_machine(asked, job, views);
  request.surroundings = surroundings();
  request.shown = as_text_and_svg;
  return request;
}

std::optional<int> without_measuring(const options& asked, std::span<const study* const> studies) {
  if (studies.empty()) refuse_without_study(asked);
  if (read_launch().size.value_or(1) > 1) must_fit_ranks(studies);
  if (studies.size() == 1 && asks_for_answer(*studies.front(), asked.axes))
    return tell_answer(*studies.front(), asked);
  must_be_used(asked, studies);
  refuse_description(asked);
  return std::nullopt;
}

int measure_command(const options& asked, std::span<const study* const> studies, communicator& job,
                    topology::machine mine, watchdog& dog, outputs& written) {
  const auto views = gather_views(job, std::move(mine));
  const auto request = campaign_of(asked, studies, job, views);
  if (studies.empty()) return list_studies(request, views);
  if (!asked.dry_run) return measure(request, job, views, dog, written);
  let_signals_end();
  const auto text = plan_text(request, views);
  if (job.rank() == 0) tell("{}", text);
  return 0;
}

}  // namespace mgsync
