#include "src/app/advise_command.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "src/app/processes_command.hpp"
#include "src/app/report_files.hpp"
#include "src/app/this_machine.hpp"
#include "src/base/errors.hpp"
#include "src/base/standard_streams.hpp"
#include "src/base/watchdog.hpp"
#include "src/harness/outputs.hpp"
#include "src/report/advice.hpp"
#include "src/results/atomic_file.hpp"
#include "src/studies/barriers/barrier_facts.hpp"
#include "topology/reports/drawing.hpp"

namespace mgsync {
namespace {

int one_number(const std::string& members) {
  int n = 0;
  const auto [end, error] = std::from_chars(members.data(), members.data() + members.size(), n);
  if (error != std::errc() || end != members.data() + members.size() || n < 1)
    throw usage_error(
        fmt::format("--members or --gpus is '{}'; mgsync advise takes one number of members", members));
  return n;
}

// Counts that tell of this one: itself first, its half, and two.
std::string counts_around(int members) {
  if (members <= 2) return fmt::format("{}", members);
  const int half = (members + 1) / 2;
  return half == 2 ? fmt::format("{},2", members) : fmt::format("{},{},2", members, half);
}

// The barriers of this machine by a process of this program, that ends in time: what it has by then is what
// is known.
std::vector<std::string> measure_here(const options& asked, const scratch_folder& folder, int members) {
  const auto file = folder.file(0);
  std::vector<std::string> words{"--members",      counts_around(members),
                                 "--backend",      "all",
                                 "--max-time",     "120ms",
                                 "--check-rounds", "500",
                                 "--timeout",      "5s",
                                 "--precision",    "3%",
                                 "--device",       asked.device,
                                 "--json",         file};
  if (!asked.shape.empty()) words.insert(words.end(), {"--shape", asked.shape});
  take_note_of_signals();
  say("mgsync: no files were named: measuring here first\n");
  // What writing down and answering take is not the child's.
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
                    code, fmt::join(words, " ")));
  return {file};
}

}  // namespace

int advise_command(const options& asked) {
  prepare_files(asked, asked.files);
  report::step step;
  step.work_us = asked.work.front();
  step.bytes = static_cast<double>(asked.bytes);
  step.shape = asked.shape;
  if (asked.work.size() != 1 || step.shape.find(',') != std::string::npos || step.shape == "all")
    throw usage_error("mgsync advise is asked about one step: one --work, one --shape");
  const bool here = asked.files.empty();
  std::optional<scratch_folder> folder;
  std::vector<std::string> files = asked.files;
  if (here) {
    folder.emplace();
    options looking;
    looking.device = asked.device;
    const auto seen = look_around(looking);
    const bool gpus = asked.device != "host" && !seen.gpus.empty();
    if (asked.device == "gpu" && !gpus) refuse_gpus(asked, "no GPU is visible here");
    const auto all = static_cast<int>(gpus ? seen.gpus.size() : seen.allowed_cpus.size());
    if (all < 2 && asked.members.empty())
      throw usage_error(
          "there is one member only here, which needs no barrier; name results files of another machine");
    files =
        measure_here(asked, *folder, asked.members.empty() ? std::min(all, 8) : one_number(asked.members));
    if (files.empty()) return 128 + signal_received();
  }
  auto known = read_report_files(files, across::machines, asked.less_order);
  say_damage(known);
  if (known.machines.empty())
    throw usage_error("none of these files holds results; accepted: files written by --json or --store");
  const auto& results = known.machines.front().results;
  const bool gpus = std::ranges::any_of(
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
  if (!asked.gpus.empty() && !gpus) refuse_gpus(asked, report::what_there_is(results, barriers::facts_of));
  if (asked.device == "gpu" && !gpus)
    throw usage_error(fmt::format("--device gpu: {}; accepted: host, auto",
                                  report::what_there_is(results, barriers::facts_of)));
  step.device = gpus && asked.device != "host" ? topology::device::gpu : topology::device::host;
  int largest = 1;
  for (const auto& r : results)
    if (r.has_metrics() && r.point.device == step.device) largest = std::max(largest, r.point.members);
  step.members = asked.members.empty() ? largest : one_number(asked.members);
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
