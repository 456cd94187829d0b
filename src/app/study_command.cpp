#include "src/app/study_command.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <ctime>
#include <filesystem>
#include <map>
#include <set>
#include <stdexcept>
#include <system_error>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "mgsync/version.hpp"
#include "src/app/early_end.hpp"
#include "src/app/progress_line.hpp"
#include "src/app/report_files.hpp"
#include "src/app/this_machine.hpp"
#include "src/base/closest_word.hpp"
#include "src/base/gpu_start.hpp"
#include "src/base/hosts.hpp"
#include "src/base/launcher.hpp"
#include "src/base/standard_streams.hpp"
#include "src/harness/runner.hpp"
#include "src/report/svg.hpp"
#include "src/report/text.hpp"
#include "src/results/atomic_file.hpp"

namespace mgsync {
namespace {

struct asked_study {
  std::vector<const study*> studies;
  options typed;
};

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

// What these studies vary, each name once; of several those that mean the same in every one that has it. An
// axis without a default asks a study for its answer, and not among others.
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

study_request request_for(const study& s, const asked_study& asked,
                          std::span<const topology::rank_view> views, const session* where = nullptr) {
  study_request request;
  request.where = where;
  request.ranks = views;
  request.with_cuda = with_cuda;
  request.planning = asked.typed.dry_run;
  const bool gpus = !views.front().seen.gpus.empty();
  if (asked.typed.device == "gpu" && !gpus) refuse_gpus(asked.typed, "no GPU is visible here");
  request.device = asked.typed.device != "host" && gpus && (with_cuda || asked.typed.device == "gpu")
                       ? topology::device::gpu
                       : topology::device::host;
  request.settle(s.axes, asked.typed.axes);
  return request;
}

int list_studies(std::span<const topology::rank_view> views) {
  for (const auto* s : studies()) {
    tell("{}: {}\n{}", s->name, s->summary, help_lines(s->axes));
    const auto points = s->points(request_for(*s, asked_study{}, views));
    const auto run =
        std::count_if(points.begin(), points.end(), [](const auto& m) { return m.waived.empty(); });
    tell("  Here {} of {} points can run.\n\n", run, points.size());
  }
  return 0;
}

std::vector<measurement> plan_of(const asked_study& asked, std::span<const topology::rank_view> views,
                                 const session* where = nullptr) {
  std::vector<measurement> all;
  std::set<std::string> known;  // a word may be typed twice
  for (const auto* s : asked.studies)
    for (auto& m : s->points(request_for(*s, asked, views, where)))
      if (known.insert(canonical_text(m.point)).second) all.push_back(std::move(m));
  if (all.empty())
    throw usage_error(fmt::format("these words together leave nothing to measure; accepted: what `mgsync "
                                  "study {} --help` lists, in other combinations",
                                  asked.studies.front()->name));
  return all;
}

// How long the points that can run will take, by study; of several studies each in a line.
std::string estimate(const asked_study& asked, std::span<const measurement> all) {
  std::string text;
  double seconds = 0;
  std::size_t points = 0;
  for (const auto* s : asked.studies) {
    const auto run = static_cast<std::size_t>(std::ranges::count_if(
        all, [s](const auto& m) { return m.waived.empty() && m.point.study == s->name; }));
    const double own = s->seconds_per_point * static_cast<double>(run);
    if (asked.studies.size() > 1)
      text += fmt::format("  {:<12}{:>5} points, about {:.0f} s\n", s->name, run, own);
    points += run;
    seconds += own;
  }
  return fmt::format("{} of {} points can run here, about {:.0f} s{}\n{}", points, all.size(), seconds,
                     text.empty() ? "" : ":", text);
}

// Every point, or a page of those that can run and the reasons of the others.
void print_plan(const asked_study& asked, std::span<const measurement> all) {
  constexpr std::size_t most_lines = 200;
  const bool every = asked.typed.verbose;
  std::vector<not_measured> waived;
  std::size_t run = 0;
  for (const auto& m : all) {
    if (!m.waived.empty()) waived.push_back({&m.point, m.waived});
    else ++run;
    if (every || (m.waived.empty() && run <= most_lines))
      tell("{:<8}{}{}\n", m.waived.empty() ? "run" : "waived", name_of(m.point),
           m.waived.empty() ? "" : ": " + m.waived);
  }
  if (!every && run > most_lines) tell("and {} more (--verbose lists each)\n", run - most_lines);
  if (!every) tell("{}", by_reason("waived", waived, all.size()));
  tell("{}", estimate(asked, all));
}

// Before anything is measured: the folder of --figures is there, and can be written.
void make_folder(const std::string& folder) {
  if (folder.empty()) return;
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed || !std::filesystem::is_directory(folder) || access(folder.c_str(), W_OK) != 0)
    throw usage_error(fmt::format("--figures {}: no folder here, or none that can be written; accepted: a "
                                  "folder that is there or can be made",
                                  folder));
}

using named_files = std::map<std::string, std::string>;  // what goes into the folder of --figures

// One picture that cannot be drawn costs no other.
void add_pictures(std::span<const figure> figures, named_files& files) {
  for (const auto& each : figures) try {
      files[heading_of(each).name + ".svg"] = report::to_svg(each);
    } catch (const std::invalid_argument& error) {
      say("mgsync: the figure {} cannot be drawn: {}\n", heading_of(each).name, error.what());
    }
}

void write_files(const std::string& folder, const named_files& files) {
  if (folder.empty()) return;
  for (const auto& [name, content] : files)
    write_file_atomically(std::filesystem::path(folder) / name, content);
}

// A timeline belongs to one result: its picture goes with it, and with the figures what else is attached to
// that result.
void attach_timelines(const study& s, std::vector<result>& results, named_files& files) {
  for (auto& r : results) {
    if (r.attachments.empty() || r.point.study != s.name) continue;
    const auto alone = shown_of(s, [&] { return s.evaluate(std::span(&r, 1)); });
    for (const auto& mine : alone.shown.figures) {
      const auto& name = heading_of(mine).name;
      const auto picture = files.find(name + ".svg");
      if (!std::holds_alternative<timeline>(mine) || picture == files.end()) continue;
      for (const auto& kept : r.attachments) files[fmt::format("{}.{}", name, kept.name)] = kept.content;
      r.attachments.push_back({"timeline.svg", "image/svg+xml", picture->second});
      break;
    }
  }
}

// What results say together, and the studies' figures. One that fails costs itself: `failed` becomes true.
evaluation evaluated(const asked_study& asked, std::vector<result>& results, named_files& files,
                     bool& failed) {
  evaluation everything;
  for (const auto* s : asked.studies) {
    if (s->evaluate == nullptr) continue;
    const auto one = shown_of(*s, [&] {
      auto made = s->evaluate(results);
      add_pictures(made.figures, files);
      return made;
    });
    const auto& e = one.shown;
    failed = failed || !one.failed.empty();
    attach_timelines(*s, results, files);
    everything.tables.insert(everything.tables.end(), e.tables.begin(), e.tables.end());
    everything.sentences.insert(everything.sentences.end(), e.sentences.begin(), e.sentences.end());
  }
  return everything;
}

// On rank 0: what failed, the files, and what it means. The documents are written first: figures can be drawn
// again from them. False: an evaluation failed.
bool report_on(const asked_study& asked, const runner& measured, std::vector<result> results,
               outputs& written) {
  for (const auto& r : results)
    if (r.status == result_status::failed || r.status == result_status::error)
      say("mgsync: {}: {}\n", name_of(r.point), r.reason);
  named_files files;
  bool failed = false;
  const auto everything = evaluated(asked, results, files, failed);
  written.note("time_spent", to_string(measured.spent()));
  written.replace(std::move(results));
  written.write(measured.interrupted() ? "interrupted" : "complete");
  write_files(asked.typed.figures, files);
  print_table(asked.typed, fmt::format("\n{}", report::to_text(everything)));
  return !failed;
}

int measure(const asked_study& asked, std::span<const topology::rank_view> views, communicator& job,
            watchdog& dog, outputs& written) {
  options settled = asked.typed;
  settled.max_time = std::chrono::seconds(1);
  settled.check = false;
  const auto now = static_cast<std::uint64_t>(std::chrono::system_clock::now().time_since_epoch().count());
  const std::uint64_t seed = std::stoull(
      job.broadcast(std::to_string(settled.seed.value_or(now % 1'000'000'007)), 0, "agreeing on the seed"));
  const session where(job, job, dog, settled.timeout);
  auto all = plan_of(asked, views, &where);
  know_facts(all, asked.typed.less_order);
  const bool speaks = job.rank() == 0;
  const auto machine = record_machine(settled, job, views);
  const auto started = job.broadcast(fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr))), 0,
                                     "agreeing on the start");
  if (job.rank() == 1) written.stand_by(settled, machine, seed, started);
  if (speaks) {
    make_folder(asked.typed.figures);
    written.open(settled, machine, seed, started);
    say("mgsync {} on {}{}: {}", machine.mgsync, machine.host,
        job.size() > 1 ? fmt::format(", {} ranks", job.size()) : "", estimate(asked, all));
  }
  progress_line line(speaks ? all.size() : 0);
  runner_events events;
  events.running = [&](const point& p, std::string_view what) {
    written.measuring(p);
    line.running(p, what);
  };
  events.idle = [&] { written.idle(); };
  events.finished = [&](const result& r) {
    written.add(r);
    line.finished();
  };
  runner measuring(job, dog,
                   {seed, settled.timeout, gpu_uuids(views[static_cast<std::size_t>(job.rank())].seen)},
                   written.store(), events);
  auto results = measuring.run(all);
  line.clear();
  auto code = static_cast<int>(exit_code_of(results));
  if (measuring.interrupted()) code = 128 + (signal_received() != 0 ? signal_received() : SIGTERM);
  if (speaks && !report_on(asked, measuring, std::move(results), written) && code == 0)
    code = static_cast<int>(exit_code::failure);
  return std::stoi(job.broadcast(std::to_string(code), 0, "agreeing on the exit code"));
}

// Several ranks measure one study, and only such as has members in ranks.
void must_fit_ranks(const asked_study& asked) {
  std::vector<std::string_view> in_ranks;
  for (const auto* s : studies())
    if (s->in_ranks) in_ranks.push_back(s->name);
  if (asked.studies.size() == 1 && asked.studies.front()->in_ranks) return;
  throw usage_error(fmt::format(
      "of the studies, only {} can be measured by several ranks: start {} without mpirun or srun",
      fmt::join(in_ranks, ", "), asked.studies.size() == 1 ? asked.studies.front()->name : "mgsync study"));
}

// Of `all`: an axis that each study has of its own, and one that asks for an answer.
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

// Files of results, where there will be none.
void refuse_documents(const options& typed) {
  for (const auto& [option, file] :
       {std::pair{"json", &typed.json}, {"csv", &typed.csv}, {"store", &typed.store}})
    if (!file->empty())
      throw usage_error(fmt::format("--{} {}: without a name the studies are listed, and nothing is measured "
                                    "that could be written there; accepted: the same without --{}",
                                    option, *file, option));
}

// The model's answer, which depends on no machine here. Signals end it as they end any program.
int tell_answer(const asked_study& asked) {
  const auto& typed = asked.typed;
  for (const auto option : typed.given)
    if (option != "json" && option != "figures")
      throw usage_error(
          fmt::format("--{}: a model answers, nothing is measured, and that option says nothing to it; "
                      "accepted beside the model's own options: --json, --figures",
                      option));
  prepare_files(typed);
  make_folder(typed.figures);
  const topology::rank_view nowhere;
  const auto answered =
      asked.studies.front()->answer(request_for(*asked.studies.front(), asked, {&nowhere, 1}));
  if (!typed.json.empty() && answered.document.empty())
    throw usage_error(
        fmt::format("--json {}: this answer is a file already, on stdout; accepted: the same without --json",
                    typed.json));
  must_not_write_over(typed, answered.read);
  named_files files;
  add_pictures(answered.figures, files);
  write_files(typed.figures, files);
  if (!typed.json.empty()) {
    nlohmann::ordered_json document{
        {"schema", nullptr}, {"command", typed.typed}, {"mgsync", version_with_commit}};
    document.update(nlohmann::ordered_json::parse(answered.document));
    write_json(typed, document.dump(2) + "\n");
  }
  print_table(typed, answered.text);
  return 0;
}

// The job: this process, or all ranks that the launcher started, each with its own GPU.
communicator start_job(const options& asked, const topology::machine& seen, watchdog& dog) {
  const launch told = read_launch();
  if (told.size.value_or(1) < 2) return communicator::single(asked.timeout);
  if (!told.under_mpi) must_meet(told, 1);
  if constexpr (with_cuda)
    if (!asked.dry_run)
      for (const int gpu : gpus_to_own(asked, told, seen)) start_gpu(gpu);
  auto job = communicator::world(asked.timeout, dog, asked.mpi_threads);
  must_meet(told, job.size());
  return job;
}

}  // namespace

bool is_study_command(std::span<const std::string> words) {
  return !words.empty() && words.front() == "study";
}

int study_command(std::span<const std::string> words, std::optional<communicator>& job,
                  std::optional<watchdog>& dog, outputs& written) {
  asked_study asked;
  if (words.size() > 1 && !words[1].starts_with("-")) asked.studies = studies_named(words[1]);
  const auto axes = axes_of(asked.studies);
  if (asked.studies.size() > 1) refuse_several_meanings(words, axes);
  asked.typed = parse_options(words, axes);
  if (asked.typed.anonymous) hide_host_name();
  if (asked.typed.command == command::version || asked.typed.command == command::help) {
    if (read_launch().first())
      tell("{}", asked.typed.command == command::version ? version_text() : help_text(command::study, axes));
    return 0;
  }
  if (asked.studies.empty()) {
    refuse_documents(asked.typed);
    if (!asked.typed.figures.empty())
      throw usage_error(
          "--figures: without a name the studies are listed; accepted: mgsync study NAME --figures FOLDER");
  }
  const bool several = read_launch().size.value_or(1) > 1;
  if (several) must_fit_ranks(asked);
  if (asked.studies.size() == 1 && asks_for_answer(*asked.studies.front(), asked.typed.axes))
    return tell_answer(asked);
  watch_over(dog, written);
  auto seen = look_around(asked.typed);
  job.emplace(start_job(asked.typed, seen, *dog));
  take_note_of_crashes();
  must_agree(asked.typed, *job);
  const auto views = gather_views(*job, std::move(seen));
  if (asked.studies.empty()) return list_studies(views);
  if (!asked.typed.dry_run) return measure(asked, views, *job, *dog, written);
  const auto all = plan_of(asked, views);
  if (job->rank() == 0) print_plan(asked, all);
  return 0;
}

}  // namespace mgsync
