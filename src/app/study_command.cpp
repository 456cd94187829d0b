#include "src/app/study_command.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <ctime>
#include <filesystem>
#include <sstream>

#include <boost/program_options.hpp>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "mgsync/version.hpp"
#include "src/app/progress_line.hpp"
#include "src/app/this_machine.hpp"
#include "src/base/comma_list.hpp"
#include "src/base/gpu_start.hpp"
#include "src/base/launcher.hpp"
#include "src/harness/runner.hpp"
#include "src/report/svg.hpp"
#include "src/report/text.hpp"
#include "src/results/atomic_file.hpp"

namespace mgsync {
namespace {

namespace po = boost::program_options;

struct asked_study {
  std::vector<const study*> studies;
  std::map<std::string, std::vector<std::string>, std::less<>> words;  // of axes, as typed
  std::string device = "auto";
  bool dry_run = false;
  bool help = false;
  std::string figures;  // a folder
  options files;        // --json, --csv, --store, --resume, --seed, --timeout
};

std::vector<std::string> words_of(std::string_view list) {
  const auto words = split_at_commas(list);
  return {words.begin(), words.end()};
}

std::string option_of(std::string_view axis) {
  std::string name(axis);
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

std::string names_of_studies() {
  std::vector<std::string_view> names;
  for (const auto* s : studies()) names.push_back(s->name);
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string described(const axis_declaration& axis) {
  return fmt::format("{} ({}accepted: {})", axis.help, axis.defaults.empty() ? "" : fmt::format("default {}; ", axis.defaults), axis.accepted);
}

po::options_description common_options() {
  po::options_description all("Options");
  all.add_options()("device", po::value<std::string>()->value_name("WHAT"), "auto, host or gpu: whose members are measured")(
      "dry-run", "print the points and measure nothing")("json", po::value<std::string>()->value_name("FILE"), "write the results as JSON (- for stdout)")(
      "csv", po::value<std::string>()->value_name("FILE"), "write a row per point (- for stdout)")(
      "store", po::value<std::string>()->value_name("FILE"), "append every sample to this file as it is measured")(
      "resume", "continue where the store ends")("figures", po::value<std::string>()->value_name("DIR"), "write the figures as SVG into this folder, and what is attached to results of a timeline")(
      "seed", po::value<std::uint64_t>()->value_name("N"), "seed of the random order of measuring [taken from the clock; the result records it]")(
      "timeout", po::value<double>()->value_name("SECONDS"), "how long one run may last (default 30)")("help,h", "this text");
  return all;
}

po::options_description axis_options(std::span<const study* const> of) {
  po::options_description all("Axes");
  for (const auto* s : of)
    for (const auto& axis : s->axes) {
      const auto name = option_of(axis.name);
      if (all.find_nothrow(name, false) != nullptr) continue;
      all.add_options()(name.c_str(), po::value<std::string>()->value_name("LIST"),
                        described(axis).c_str());
    }
  return all;
}

std::vector<const study*> studies_named(const std::string& name) {
  if (name == "all") return {studies().begin(), studies().end()};
  for (const auto* s : studies())
    if (s->name == name) return {s};
  throw usage_error(fmt::format("there is no study '{}'; accepted: all, {}", name, names_of_studies()));
}

asked_study parse(std::span<const std::string> words) {
  asked_study asked;
  asked.files.typed = fmt::format("mgsync {}", fmt::join(words, " "));
  if (words.size() > 1 && !words[1].starts_with("-")) asked.studies = studies_named(words[1]);
  const std::vector<std::string> rest(words.begin() + (asked.studies.empty() ? 1 : 2), words.end());
  const auto common = common_options(), axes = axis_options(asked.studies);
  po::options_description all;
  all.add(axes).add(common);
  try {
    const auto parsed = po::command_line_parser(rest).options(all).positional({}).style(
        po::command_line_style::default_style & ~po::command_line_style::allow_guessing).run();
    po::variables_map given;
    po::store(parsed, given);
    const auto text = [&](const char* name) { return given.count(name) != 0 ? given[name].as<std::string>() : std::string(); };
    asked.help = given.count("help") != 0;
    asked.dry_run = given.count("dry-run") != 0;
    asked.files.json = text("json");
    asked.files.csv = text("csv");
    asked.files.store = text("store");
    asked.files.resume = given.count("resume") != 0;
    asked.figures = text("figures");
    if (given.count("device") != 0) asked.device = text("device");
    if (given.count("seed") != 0) asked.files.seed = given["seed"].as<std::uint64_t>();
    if (given.count("timeout") != 0) {
      const double seconds = given["timeout"].as<double>();
      if (!(seconds > 0)) throw usage_error("--timeout is a number of seconds above 0");
      asked.files.timeout = std::chrono::nanoseconds(static_cast<std::int64_t>(seconds * 1e9));
    }
    for (const auto& option : axes.options())
      if (given.count(option->long_name()) != 0) {
        std::string name = option->long_name();
        std::replace(name.begin(), name.end(), '-', '_');
        asked.words[name] = words_of(given[option->long_name()].as<std::string>());
      }
  } catch (const po::error& error) {
    std::vector<std::string> names;
    for (const auto* part : {&axes, &common})
      for (const auto& option : part->options()) names.push_back("--" + option->long_name());
    throw usage_error(fmt::format("{}; accepted here: {}", error.what(), fmt::join(names, ", ")));
  }
  if (asked.device != "auto" && asked.device != "host" && asked.device != "gpu")
    throw usage_error(fmt::format("--device is '{}'; accepted: auto, host, gpu", asked.device));
  if (asked.files.resume && asked.files.store.empty()) throw usage_error("--resume continues a store: name it with --store FILE");
  return asked;
}

study_request request_for(const study& s, const asked_study& asked, std::span<const topology::rank_view> views, const session* where = nullptr) {
  study_request request;
  request.where = where;
  request.ranks = views;
  request.with_cuda = with_cuda;
  request.planning = asked.dry_run;
  const bool gpus = !views.front().seen.gpus.empty();
  if (asked.device == "gpu" && !gpus) throw usage_error("--device is 'gpu', and no GPU is visible here; accepted: host, or auto");
  request.device = asked.device != "host" && gpus && (with_cuda || asked.device == "gpu") ? topology::device::gpu : topology::device::host;
  for (const auto& axis : s.axes) {
    const auto typed = asked.words.find(axis.name);
    request.words[std::string(axis.name)] = typed != asked.words.end() ? typed->second : words_of(axis.defaults);
  }
  return request;
}

int list_studies(std::span<const topology::rank_view> views) {
  for (const auto* s : studies()) {
    fmt::print("{:<12} {}\n", s->name, s->summary);
    for (const auto& axis : s->axes) fmt::print("  --{:<18} {}\n", option_of(axis.name), described(axis));
    if (s->points == nullptr) {
      fmt::print("  measured by mgsync itself\n");
      continue;
    }
    const auto points = s->points(request_for(*s, asked_study{}, views));
    const auto run = std::count_if(points.begin(), points.end(), [](const auto& m) { return m.waived.empty(); });
    fmt::print("  here: {} of {} points can run\n", run, points.size());
  }
  return 0;
}

std::vector<measurement> plan_of(const asked_study& asked, std::span<const topology::rank_view> views, const session* where = nullptr) {
  std::vector<measurement> all;
  for (const auto* s : asked.studies) {
    if (s->points == nullptr) {
      if (asked.studies.size() == 1)
        throw usage_error(fmt::format("the study {} is mgsync's own command: mgsync --backend all", s->name));
      continue;
    }
    for (auto& m : s->points(request_for(*s, asked, views, where))) all.push_back(std::move(m));
  }
  return all;
}

void print_plan(std::span<const measurement> all) {
  std::size_t run = 0;
  for (const auto& m : all) {
    fmt::print("{:<8}{}{}\n", m.waived.empty() ? "run" : "waived", name_of(m.point), m.waived.empty() ? "" : ": " + m.waived);
    run += m.waived.empty();
  }
  fmt::print("{} points, {} to be measured\n", all.size(), run);
}

void write_figures(const std::string& folder, std::span<const figure> figures) {
  if (folder.empty()) return;
  std::filesystem::create_directories(folder);
  for (const auto& each : figures)
    write_file_atomically(std::filesystem::path(folder) / (heading_of(each).name + ".svg"), report::to_svg(each));
}

// A timeline belongs to one result: its picture goes with it, and with the figures what else is attached to that result.
void attach_timelines(const study& s, std::span<const figure> drawn, std::vector<result>& results, const std::string& folder) {
  for (auto& r : results) {
    if (r.attachments.empty() || r.point.study != s.name) continue;
    for (const auto& mine : s.evaluate(std::span(&r, 1)).figures) {
      const auto& name = heading_of(mine).name;
      const auto full = std::find_if(drawn.begin(), drawn.end(), [&](const figure& f) { return heading_of(f).name == name; });
      if (!std::holds_alternative<timeline>(mine) || full == drawn.end()) continue;
      for (const auto& kept : r.attachments)
        if (!folder.empty()) write_file_atomically(std::filesystem::path(folder) / fmt::format("{}.{}", name, kept.name), kept.content);
      r.attachments.push_back({"timeline.svg", "image/svg+xml", report::to_svg(*full)});
      break;
    }
  }
}

// What results say together, with the studies' figures in a folder.
evaluation evaluated(const asked_study& asked, std::vector<result>& results) {
  evaluation everything;
  for (const auto* s : asked.studies) {
    if (s->evaluate == nullptr) continue;
    const auto e = s->evaluate(results);
    write_figures(asked.figures, e.figures);
    attach_timelines(*s, e.figures, results, asked.figures);
    everything.tables.insert(everything.tables.end(), e.tables.begin(), e.tables.end());
    everything.sentences.insert(everything.sentences.end(), e.sentences.begin(), e.sentences.end());
  }
  return everything;
}

// The store, the files and the first line, on rank 0.
void open_outputs(const asked_study& asked, const options& settled, const communicator& job, std::span<const topology::rank_view> views,
                  const std::vector<measurement>& all, std::uint64_t seed, outputs& written) {
  const auto machine = record_machine(settled, job, views);
  written.open(settled, machine, seed, fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr))));
  double seconds = 0;
  for (const auto* s : asked.studies)
    seconds += s->seconds_per_point * static_cast<double>(std::count_if(all.begin(), all.end(), [s](const auto& m) { return m.waived.empty() && m.point.study == s->name; }));
  fmt::print(stderr, "mgsync {} on {}: {} points{}, about {:.0f} s\n", machine.mgsync, machine.host, all.size(),
             job.size() > 1 ? fmt::format(" by {} ranks", job.size()) : "", seconds);
}

int measure(const asked_study& asked, std::span<const topology::rank_view> views, communicator& job, watchdog& dog, outputs& written) {
  options settled = asked.files;
  settled.max_time = std::chrono::seconds(1);
  settled.check = false;
  const auto now = static_cast<std::uint64_t>(std::chrono::system_clock::now().time_since_epoch().count());
  const std::uint64_t seed = std::stoull(job.broadcast(std::to_string(settled.seed.value_or(now % 1'000'000'007)), 0, "agreeing on the seed"));
  const session where(job, job, dog, settled.timeout);
  const auto all = plan_of(asked, views, &where);
  const bool speaks = job.rank() == 0;
  if (speaks) open_outputs(asked, settled, job, views, all, seed, written);
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
  runner measuring(job, dog, {seed, settled.timeout}, written.store(), events);
  auto results = measuring.run(all);
  line.clear();
  auto code = static_cast<int>(exit_code_of(results));
  if (measuring.interrupted()) code = 128 + (signal_received() != 0 ? signal_received() : SIGTERM);
  if (speaks) {
    for (const auto& r : results)
      if (r.status == result_status::failed || r.status == result_status::error) fmt::print(stderr, "mgsync: {}: {}\n", name_of(r.point), r.reason);
    const auto everything = evaluated(asked, results);
    written.note("time_spent", to_string(measuring.spent()));
    written.replace(std::move(results));
    written.write(measuring.interrupted() ? "interrupted" : "complete");
    fmt::print(settled.json == "-" || settled.csv == "-" ? stderr : stdout, "\n{}", report::to_text(everything));
  }
  return std::stoi(job.broadcast(std::to_string(code), 0, "agreeing on the exit code"));
}

// Several ranks measure one study, and only such as has members in ranks.
void must_fit_ranks(const asked_study& asked) {
  std::vector<std::string_view> in_ranks;
  for (const auto* s : studies())
    if (s->in_ranks) in_ranks.push_back(s->name);
  if (asked.studies.size() == 1 && asked.studies.front()->in_ranks) return;
  throw usage_error(fmt::format("of the studies, only {} can be measured by several ranks: start {} without mpirun or srun", fmt::join(in_ranks, ", "),
                                asked.studies.size() == 1 ? asked.studies.front()->name : "mgsync study"));
}

}  // namespace

bool is_study_command(std::span<const std::string> words) { return !words.empty() && words.front() == "study"; }

int study_command(std::span<const std::string> words, std::optional<communicator>& job, std::optional<watchdog>& dog, outputs& written) {
  const auto asked = parse(words);
  if (asked.help) {
    fmt::print("mgsync study [NAME|all] [axes] [options]: the papers' studies; without a name, what there is\n\n");
    std::ostringstream text;
    text << axis_options(asked.studies) << "\n" << common_options();
    fmt::print("{}", text.str());
    return 0;
  }
  const launch told = read_launch();
  const bool several = told.size.value_or(1) > 1;
  if (several) must_fit_ranks(asked);
  take_note_of_signals();
  dog.emplace([](const std::string& text) { fmt::print(stderr, "{}{}\n", text, communicator::silent_ranks()); }, [&](const std::string& why) {
    written.write_in_emergency(why + communicator::silent_ranks(), signal_received() != 0 ? result_status::interrupted : result_status::failed);
  });
  options looking = asked.files;
  looking.device = asked.device;
  auto seen = look_around(looking);
  if (!several) {
    job.emplace(communicator::single(looking.timeout));
  } else {
    if (!told.under_mpi) must_meet(told, 1);
    if constexpr (with_cuda)
      if (!asked.dry_run)
        for (const int gpu : gpus_to_own(looking, told, seen)) start_gpu(gpu);
    job.emplace(communicator::world(looking.timeout, *dog, looking.mpi_threads));
    must_meet(told, job->size());
  }
  const auto views = gather_views(*job, std::move(seen));
  if (asked.studies.empty()) return list_studies(views);
  if (const auto* s = asked.studies.front(); !several && asked.studies.size() == 1 && s->answer != nullptr)
    if (const auto answered = s->answer(request_for(*s, asked, views))) {
      fmt::print("{}", answered->text);
      write_figures(asked.figures, answered->figures);
      return 0;
    }
  if (!asked.dry_run) return measure(asked, views, *job, *dog, written);
  const auto all = plan_of(asked, views);
  if (job->rank() == 0) print_plan(all);
  return 0;
}

}  // namespace mgsync
