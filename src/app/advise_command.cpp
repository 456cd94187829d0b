#include "src/app/advise_command.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <optional>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "barriers/words.hpp"
#include "src/app/processes_command.hpp"
#include "src/app/report_files.hpp"
#include "src/app/this_machine.hpp"
#include "src/base/errors.hpp"
#include "src/base/launcher.hpp"
#include "src/base/scratch_folder.hpp"
#include "src/base/standard_streams.hpp"
#include "src/base/units.hpp"
#include "src/base/watchdog.hpp"
#include "src/harness/outputs.hpp"
#include "src/report/advice.hpp"
#include "src/results/files/atomic_file.hpp"
#include "src/studies/barriers/barrier_facts.hpp"
#include "topology/reports/drawing.hpp"

namespace mgsync {
namespace {

constexpr axis_of<int> members({.name = "members",
                                .help = "how many members the step has; without a number all that there are",
                                .counts = word_count::one},
                               numbers_in{.least = 1, .most = most_members});
constexpr axis_of<int> gpus({.name = "gpus",
                             .help = "the same of GPUs alone: never host threads in their place",
                             .counts = word_count::one,
                             .another_name_of = &members},
                            numbers_in{.least = 1, .most = most_members});
constexpr axis_of<shape> shapes({.name = "shape",
                                 .help = "of the step's kernel; of a host member the first number is its "
                                         "threads; without one the smallest that was measured",
                                 .counts = word_count::one},
                                read_by<shape>{.accepted = accepted_shape, .read = read_shape});
constexpr axis_of<std::uint32_t> work({.name = "work",
                                       .help = "how long the step works before it synchronizes",
                                       .unit = "us",
                                       .counts = word_count::one},
                                      numbers_in{.least = 0, .most = 1'000'000, .defaults = "0"});
constexpr axis_of<std::uint64_t> bytes({.name = "bytes",
                                        .help = "what each member gives to others in a step",
                                        .unit = "B",
                                        .counts = word_count::one},
                                       numbers_in{
                                           .least = 0, .most = std::uint64_t{1} << 50, .defaults = "0"});
constexpr const axis_declaration* axes_of_advise[] = {&members, &gpus, &shapes, &work, &bytes};

// The member counts to measure for advice on this one: itself first, then its half, and two.
std::string counts_around(int all) {
  if (all <= 2) return fmt::format("{}", all);
  const int half = (all + 1) / 2;
  return half == 2 ? fmt::format("{},2", all) : fmt::format("{},{},2", all, half);
}

// Measures the barriers of this machine by a child process with a time limit, and returns what it has by
// then.
std::vector<std::string> measure_here(const options& asked, const scratch_folder& folder, int how_many) {
  const auto file = folder.file("measured.json");
  std::vector<std::string> words{"--members",      counts_around(how_many),
                                 "--backend",      "all",
                                 "--max-time",     "120ms",
                                 "--check-rounds", "500",
                                 "--timeout",      "5s",
                                 "--precision",    "3%",
                                 "--device",       asked.device,
                                 "--json",         file};
  if (const auto typed = asked.axes.find("shape"); typed != asked.axes.end())
    words.insert(words.end(), {"--shape", typed->second.front()});
  take_note_of_signals();
  say("mgsync: no files were named: measuring here first\n");
  // Leaves time for writing the results and the answer.
  const int code = run_this_program(words, asked.within * 9 / 10);
  if (signal_received() != 0) return {};
  const bool ended_in_time = code == 128 + SIGTERM && std::filesystem::exists(file);
  if (ended_in_time)
    say("mgsync: {:.3g} s were too short to measure all of it (--within); the answer is from what there "
        "was\n",
        std::chrono::duration<double>(asked.within).count());
  if (!ended_in_time && code != 0 && code != static_cast<int>(exit_code::barrier_failed))
    throw usage_error(
        fmt::format("the measurement ended with exit code {}: `mgsync {}` says why; or name results files",
                    code, fmt::join(words.begin(), std::ranges::find(words, "--json"), " ")));
  return {file};
}

}  // namespace

declared_axes advise_axes() { return axes_of_advise; }

report::step step_asked(const options& asked) {
  const auto typed = settled(axes_of_advise, asked.axes, topology::device::gpu);
  report::step step;
  const auto* count = typed.find(members);
  step.members = count != nullptr ? *count : 0;
  step.work_us = typed.one(work);
  step.bytes = static_cast<double>(typed.one(bytes));
  if (const auto* of = typed.find(shapes))
    step.shape =
        member_shape{.blocks = static_cast<double>(of->blocks ? *of->blocks : of->blocks_per_sm.value_or(1)),
                     .in_all = of->blocks.has_value(),
                     .threads = of->threads_per_block};
  return step;
}

int advise_command(const options& asked) {
  auto step = step_asked(asked);
  prepare_files(asked, asked.files);
  const bool here = asked.files.empty();
  std::optional<scratch_folder> folder;
  std::vector<std::string> files = asked.files;
  if (here) {
    if (read_launch().under_mpi)
      throw usage_error("mgsync advise without files measures by one process; accepted: under mpirun or srun "
                        "results files, "
                        "which mgsync --json FILE writes under it");
    folder.emplace();
    options looking;
    looking.device = asked.device;
    const auto seen = look_around(looking);
    const bool has_gpus = asked.device != "host" && !seen.gpus.empty();
    if (asked.device == "gpu" && !has_gpus)
      throw usage_error(
          "no GPU is visible here; accepted: results of a machine with GPUs, mgsync advise FILE --gpus N, or "
          "--members, which takes host threads here");
    const auto all = static_cast<int>(has_gpus ? seen.gpus.size() : seen.allowed_cpus.size());
    if (all < 2 && step.members == 0)
      throw usage_error(
          "there is one member only here, which needs no barrier; name results files of another machine");
    if (step.members > all)
      throw usage_error(fmt::format("{} members are asked for, and here {} {}; accepted: results files of a "
                                    "machine that has so many, or as many as are here",
                                    step.members, all == 1 ? "is" : "are",
                                    has_gpus ? counted(seen.gpus.size(), "GPU")
                                             : counted(seen.allowed_cpus.size(), "hardware thread")));
    files = measure_here(asked, *folder, step.members == 0 ? std::min(all, 8) : step.members);
    if (files.empty()) return 128 + signal_received();
  }
  auto known = read_report_files(files, across::machines, asked.less_order);
  say_damage(known);
  if (known.machines.empty())
    throw usage_error("none of these files holds results; accepted: files written by --json or --store");
  const auto& results = known.machines.front().results;
  const bool of_gpus = std::ranges::any_of(
      results, [](const result& r) { return r.has_metrics() && r.point.device == topology::device::gpu; });
  std::size_t begun = 0;
  for (const auto& file : known.measured) begun += file.unfinished.size();
  if (std::ranges::none_of(results,
                           [](const result& r) { return r.has_metrics() && r.point.study == default_study; }))
    throw usage_error(
        here ? fmt::format("no barrier was measured to its end within {:.3g} s: give it longer by --within, "
                           "or name results files",
                           std::chrono::duration<double>(asked.within).count())
             : fmt::format("{}{}; accepted: files of --json or --store that hold measured barriers",
                           report::what_there_is(results, barriers::facts_of),
                           begun == 0
                               ? ""
                               : fmt::format(", and {} {} only begun", begun, begun == 1 ? "was" : "were")));
  if (!asked.gpus.empty() && !of_gpus) refuse_gpus(asked, report::what_there_is(results, barriers::facts_of));
  if (asked.device == "gpu" && !of_gpus)
    throw usage_error(fmt::format("--device gpu: {}; accepted: host, auto",
                                  report::what_there_is(results, barriers::facts_of)));
  // What another model takes is no answer for this one. A machine may have GPUs of several.
  std::set<std::string> kinds;
  for (const auto& file : known.measured) {
    const auto& machine = file.document.machine;
    std::set<std::string> models;
    for (const auto& gpu : machine.gpus) models.insert(gpu.name);
    if (!of_gpus || asked.device == "host") models = {machine.cpu_model};
    if (!models.empty()) kinds.insert(fmt::format("{}", fmt::join(models, " and ")));
  }
  if (kinds.size() > 1)
    throw usage_error(fmt::format("these files are of different machines ({}); accepted: files of one kind",
                                  fmt::join(kinds, "; ")));
  step.device = of_gpus && asked.device != "host" ? topology::device::gpu : topology::device::host;
  int largest = 1;
  for (const auto& r : results)
    if (r.has_metrics() && r.point.device == step.device) largest = std::max(largest, r.point.members);
  if (step.members == 0) step.members = largest;
  for (const auto& machine : known.drawn)
    step.gbps = std::max(step.gbps, topology::drawing_of(machine).most_gbps);
  const auto advice = report::advise(results, step, barriers::facts_of);
  if (!asked.json.empty()) {
    const auto text = report::to_json(advice).dump(2) + "\n";
    if (asked.json == "-") {
      tell("{}", text);
      return 0;
    }
    write_file_atomically(asked.json, text);
  }
  tell("{}", report::to_text(advice));
  if (const auto summary = summary_of(results); !summary.empty()) tell("\nnote: {}\n", summary);
  return 0;
}

}  // namespace mgsync
