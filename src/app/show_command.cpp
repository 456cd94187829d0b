#include "src/app/commands.hpp"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <set>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/app/recording_page.hpp"
#include "src/app/report_files.hpp"
#include "src/base/comma_list.hpp"
#include "src/base/errors.hpp"
#include "src/base/standard_streams.hpp"
#include "src/base/units.hpp"
#include "src/harness/outputs.hpp"
#include "src/report/svg.hpp"
#include "src/report/text.hpp"
#include "src/report/timeline_text.hpp"
#include "src/results/files/atomic_file.hpp"
#include "src/results/files/packed_text.hpp"
#include "src/results/files/result_file.hpp"
#include "src/results/frame/pivot_table.hpp"
#include "src/results/frame/results_table.hpp"
#include "src/results/frame/selection.hpp"

namespace mgsync {
namespace {

// For an incomplete file: how the command that wrote it ended, and how many points lack samples or a result.
std::string what_is_missing(const result_file& shown) {
  const auto count = [](std::size_t points, std::string_view verb) {
    return fmt::format("{} {}", counted(points, "point"), verb);
  };
  const auto have = [](std::size_t points) { return points == 1 ? "has" : "have"; };
  const auto cut_short =
      static_cast<std::size_t>(std::ranges::count_if(shown.document.results, [](const result& r) {
        return r.status == result_status::interrupted || r.status == result_status::error;
      }));
  std::string text = fmt::format("not complete: its command ended early ({})", shown.document.ended);
  if (!shown.unfinished.empty())
    text += fmt::format("; {} samples but no result",
                        count(shown.unfinished.size(), have(shown.unfinished.size())));
  if (cut_short != 0) text += fmt::format("; {} fewer samples, or none", count(cut_short, have(cut_short)));
  return text + "\n";
}

constexpr std::string_view accepted = "a file of --json or --store, or a recording (mgsync/timeline.hpp)";
constexpr std::size_t most_stamps = 200;  // of the table; the picture has all

int show_recording(std::string_view text, const std::string& name) {
  const auto recorded = recording_from_json(text, name);
  const auto picture = picture_of(recorded, name);
  tell("{}\n{}", report::to_text(picture, terminal_at(STDOUT_FILENO)), to_text(durations_of(picture)));
  if (recorded.events.size() <= most_stamps) tell("\n{}", event_table(recorded));
  else
    tell("\n{} stamps of {}: --figure {} --svg FILE draws them, and mgsync report {} --html FILE a page\n",
         recorded.events.size(), counted(recorded.workers.size(), recorded.worker_word), figure_of_recordings,
         one_line(name));
  return 0;
}

void write_figure(const options& asked, const std::string& picture) {
  if (asked.svg.empty() || asked.svg == "-") tell("{}", picture);
  else write_file_atomically(asked.svg, picture);
}

// The evaluations of all studies of the given files, whatever their machines.
std::vector<shown_study> evaluations_of(const options& asked) {
  auto all = read_report_files(asked.files, across::machines, asked.less_order);
  say_damage(all);
  std::vector<result> results;
  std::vector<result> earlier;
  for (auto& m : all.machines) {
    std::move(m.results.begin(), m.results.end(), std::back_inserter(results));
    std::move(m.earlier.begin(), m.earlier.end(), std::back_inserter(earlier));
  }
  if (!asked.where.empty()) {
    results = selected(std::move(results), asked.where);
    earlier.clear();
  }
  auto shown = evaluate_all(results, earlier);
  for (const auto& one : shown)
    if (!one.failed.empty()) say("mgsync: {}\n", one.shown.sentences.front());
  return shown;
}

}  // namespace

int show_results(const options& asked) {
  const auto& name = asked.files.front();
  const auto text = read_text(name, accepted);
  if (is_recording(text)) {
    if (asked.files.size() > 1 || !asked.where.empty() || !asked.pivot.by.empty())
      throw usage_error(
          fmt::format("{} is a recording; accepted: it alone, and --figure {}", name, figure_of_recordings));
    return show_recording(text, name);
  }
  auto shown = result_file_of(name, text);
  auto& document = shown.document;
  auto missing = shown.complete ? "" : what_is_missing(shown);
  for (const auto& sentence : shown.damage) say("mgsync: {}\n", sentence);
  if (!shown.damage.empty())
    missing += fmt::format(
        "damaged: lines of {} were skipped, and what they said is missing here: that a point failed, too\n",
        one_line(asked.files.front()));
  const auto tell_apart = [&](result_file& one) {  // the points of several files
    if (asked.files.size() > 1)
      for (auto& r : one.document.results) r.point.set("file", one.name);
  };
  tell_apart(shown);
  for (std::size_t i = 1; i < asked.files.size(); ++i) {
    auto more = read_result_file(asked.files[i]);
    for (const auto& sentence : more.damage) say("mgsync: {}\n", sentence);
    tell_apart(more);
    std::move(more.document.results.begin(), more.document.results.end(),
              std::back_inserter(document.results));
  }
  know_facts(studies(), document.results, asked.less_order);
  const auto code = static_cast<int>(!shown.damage.empty() && document.results.empty() ? exit_code::failure
                                                                                       : exit_code::success);
  if (!asked.where.empty()) document.results = selected(std::move(document.results), asked.where);
  if (!asked.pivot.by.empty()) {
    tell("{}", asked.pivot.by == "shape" ? table_by_shape(document.results)
                                         : table_by(document.results, asked.pivot));
    return code;
  }
  tell("{} ({}, {})\n{}{}{}", fmt::join(measuring_commands(document), "\n"), document.machine.host,
       document.started, format_table(document.results, asked.listed(), terminal_at(STDOUT_FILENO)),
       format_notes(document.machine), missing);
  // Each study's evaluation of its own results, as the measuring command printed it.
  for (const auto& one : evaluate_all(document.results))
    if (std::ranges::any_of(document.results, [&](const result& r) { return r.point.study == one.of->name; }))
      tell("\n{}", report::to_text(one.shown, terminal_at(STDOUT_FILENO)));
  return code;
}

int show_tables(const options& asked) {
  if (asked.tables == "files") {
    tell("{}", to_markdown(made_by(asked.files)));
    return 0;
  }
  const auto shown = evaluations_of(asked);
  const auto words = split_at_commas(asked.tables);
  std::string text;
  for (const auto word : words) {
    std::set<std::string> names{"files", "sentences"};
    bool found = word == "sentences";
    for (const auto& study : shown) {
      if (word == "sentences")
        for (const auto& sentence : study.shown.sentences)
          text += fmt::format("{}\n\n", markdown_words(sentence));
      for (const auto& t : study.shown.tables) {
        names.insert(t.heading.name);
        if (t.heading.name != word) continue;
        found = true;
        text += fmt::format("{}\n\n{}\n{}", markdown_words(t.heading.title), to_markdown(t),
                            t.heading.caption.empty() ? "" : markdown_words(t.heading.caption) + "\n\n");
      }
    }
    if (!found)
      throw usage_error(
          fmt::format("--tables has '{}'; of these files accepted: {}", word, fmt::join(names, ", ")));
  }
  tell("{}", text);
  return 0;
}

int show_figure(const options& asked) {
  prepare_files(asked, asked.files);
  // A recording is a file, and no pipe, which can be read only once.
  if (const auto& name = asked.files.front(); asked.figure == figure_of_recordings &&
                                              asked.files.size() == 1 &&
                                              std::filesystem::is_regular_file(name))
    if (const auto text = read_text(name, accepted); is_recording(text)) {
      write_figure(asked, report::to_svg(picture_of(recording_from_json(text, name), name)));
      return 0;
    }
  const auto shown = evaluations_of(asked);
  std::vector<std::string> names;
  for (const auto& study : shown)
    for (const auto& one : study.shown.figures) {
      if (heading_of(one).name == asked.figure) {
        try {
          write_figure(asked, report::to_svg_beside(one, study.shown.figures));
        } catch (const std::invalid_argument& error) {
          throw usage_error(
              fmt::format("--figure {}: it cannot be drawn of these files: {}", asked.figure, error.what()));
        }
        return 0;
      }
      names.push_back(heading_of(one).name);
    }
  throw usage_error(fmt::format("--figure is '{}'; of these files accepted: {}", asked.figure,
                                names.empty() ? "nothing, they give no figure"
                                              : fmt::format("{}", fmt::join(names, ", "))));
}

}  // namespace mgsync
