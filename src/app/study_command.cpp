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
#include "src/app/this_machine.hpp"
#include "src/base/comma_list.hpp"
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

study_request request_for(const study& s, const asked_study& asked, std::span<const topology::rank_view> views) {
  study_request request;
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

std::vector<measurement> plan_of(const asked_study& asked, std::span<const topology::rank_view> views) {
  std::vector<measurement> all;
  for (const auto* s : asked.studies) {
    if (s->points == nullptr) {
      if (asked.studies.size() == 1)
        throw usage_error(fmt::format("the study {} is mgsync's own command: mgsync --backend all", s->name));
      continue;
    }
    for (auto& m : s->points(request_for(*s, asked, views))) all.push_back(std::move(m));
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

int measure(const asked_study& asked, std::span<const topology::rank_view> views, const std::vector<measurement>& all, outputs& written) {
  options settled = asked.files;
  settled.max_time = std::chrono::seconds(1);
  settled.check = false;
  const auto now = static_cast<std::uint64_t>(std::chrono::system_clock::now().time_since_epoch().count());
  const std::uint64_t seed = settled.seed.value_or(now % 1'000'000'007);
  auto job = communicator::single(settled.timeout);
  const auto machine = record_machine(settled, job, views);
  written.open(settled, machine, seed, fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr))));
  double seconds = 0;
  for (const auto* s : asked.studies)
    seconds += s->seconds_per_point * static_cast<double>(std::count_if(all.begin(), all.end(), [s](const auto& m) { return m.waived.empty() && m.point.study == s->name; }));
  fmt::print(stderr, "mgsync {} on {}: {} points, about {:.0f} s\n", machine.mgsync, machine.host, all.size(), seconds);

  take_note_of_signals();
  watchdog dog([](const std::string& text) { fmt::print(stderr, "{}\n", text); }, [&](const std::string& why) {
    written.write_in_emergency(why, signal_received() != 0 ? result_status::interrupted : result_status::failed);
  });
  runner_events events;
  events.running = [&](const point& p, std::string_view) { written.measuring(p); };
  events.idle = [&] { written.idle(); };
  events.finished = [&](const result& r) { written.add(r); };
  runner measuring(job, dog, {seed, settled.timeout}, written.store(), events);
  auto results = measuring.run(all);
  for (const auto& r : results)
    if (r.status == result_status::failed || r.status == result_status::error) fmt::print(stderr, "mgsync: {}: {}\n", name_of(r.point), r.reason);
  std::FILE* out = settled.json == "-" || settled.csv == "-" ? stderr : stdout;
  evaluation everything;
  for (const auto* s : asked.studies) {
    if (s->evaluate == nullptr) continue;
    const auto e = s->evaluate(results);
    write_figures(asked.figures, e.figures);
    attach_timelines(*s, e.figures, results, asked.figures);
    everything.tables.insert(everything.tables.end(), e.tables.begin(), e.tables.end());
    everything.sentences.insert(everything.sentences.end(), e.sentences.begin(), e.sentences.end());
  }
  const auto code = exit_code_of(results);
  written.replace(std::move(results));
  written.write(measuring.interrupted() ? "interrupted" : "complete");
  fmt::print(out, "\n{}", report::to_text(everything));
  if (measuring.interrupted()) return 128 + (signal_received() != 0 ? signal_received() : SIGTERM);
  return static_cast<int>(code);
}

}  // namespace

bool is_study_command(std::span<const std::string> words) { return !words.empty() && words.front() == "study"; }

int study_command(std::span<const std::string> words, outputs& written) {
  const auto asked = parse(words);
  if (asked.help) {
    fmt::print("mgsync study [NAME|all] [axes] [options]: the papers' studies; without a name, what there is\n\n");
    std::ostringstream text;
    text << axis_options(asked.studies) << "\n" << common_options();
    fmt::print("{}", text.str());
    return 0;
  }
  if (read_launch().rank.value_or(0) != 0 || read_launch().size.value_or(1) > 1)
    throw usage_error("mgsync study runs in one process: start it without mpirun or srun");
  options looking;
  looking.device = asked.device;
  const std::vector<topology::rank_view> views{{0, 0, look_around(looking), topology::read_gpu_binding()}};
  if (asked.studies.empty()) return list_studies(views);
  if (const auto* s = asked.studies.front(); asked.studies.size() == 1 && s->answer != nullptr)
    if (const auto answered = s->answer(request_for(*s, asked, views))) {
      fmt::print("{}", answered->text);
      write_figures(asked.figures, answered->figures);
      return 0;
    }
  const auto all = plan_of(asked, views);
  if (asked.dry_run) {
    print_plan(all);
    return 0;
  }
  return measure(asked, views, all, written);
}

}  // namespace mgsync
