#include "src/app/processes_command.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "src/app/study_command.hpp"
#include "src/base/child_process.hpp"
#include "src/base/errors.hpp"
#include "src/base/launcher.hpp"
#include "src/base/scratch_folder.hpp"
#include "src/base/standard_streams.hpp"
#include "src/base/watchdog.hpp"
#include "src/results/files/merging.hpp"
#include "src/results/frame/results_table.hpp"

namespace mgsync {
namespace {

// The command line of one process, without the options that concern all of them together.
std::vector<std::string> words_of_one(const options& asked, const std::vector<std::string>& words) {
  std::vector<std::string> of_all{"--processes", "--json", "--seed", "--figures"};
  for (const auto& [form, file] : asked.forms) of_all.push_back("--" + form);
  std::vector<std::string> kept;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string name = words[i].substr(0, words[i].find('='));
    if (std::ranges::find(of_all, name) == of_all.end()) kept.push_back(words[i]);
    else if (name.size() == words[i].size()) ++i;  // the next word is its value: skip it
  }
  return kept;
}

// The status to record where fewer processes than requested have run.
result_status how_it_ended(int code) {
  if (signal_received() != 0) return result_status::interrupted;
  return code == static_cast<int>(exit_code::barrier_failed) ? result_status::failed : result_status::error;
}

}  // namespace

int run_this_program(std::vector<std::string> words, std::optional<std::chrono::nanoseconds> limit) {
  words.insert(words.begin(), "mgsync");
  const auto end = run_child({.command = std::move(words),
                              .program = std::string(this_program),
                              .longest = limit,
                              .grace = limit ? std::chrono::seconds(3) : std::chrono::seconds(60),
                              .output_kept = false});
  if (!end.started) throw api_error("system", end.death, "starting a process");
  return end.code;
}

int measure_in_processes(const options& asked, std::span<const study* const> studies,
                         const std::vector<std::string>& words) {
  if (read_launch().under_mpi)
    throw usage_error(
        "--processes starts processes by itself; under mpirun or srun start mgsync several times, each with "
        "a "
        "--json of its own, and then: mgsync merge FILE... --over-processes (jobs/local.sh does)");
  prepare_files(asked);
  take_note_of_signals();
  const scratch_folder folder;
  const auto one = words_of_one(asked, words);
  const auto first_seed = asked.seed.value_or(static_cast<std::uint64_t>(
      std::chrono::system_clock::now().time_since_epoch().count() % 1'000'000'007));
  std::vector<result_file> files;
  int code = 0;
  for (unsigned i = 0; i < asked.processes && signal_received() == 0; ++i) {
    say("process {} of {}\n", i + 1, asked.processes);
    auto this_one = one;
    const auto file = folder.file(fmt::format("process-{}.json", i));
    this_one.insert(this_one.end(), {"--json", file, "--seed", std::to_string(first_seed + i)});
    code = run_this_program(this_one);
    if (std::filesystem::exists(file)) files.push_back(read_result_file(file));
    const bool went_on = code == 0 || code == static_cast<int>(exit_code::all_waived);
    if (!went_on) break;  // a failure would occur again in the next process
  }
  if (files.empty()) return code != 0 ? code : 128 + signal_received();
  auto merged = merge_results(files, replication::processes);
  merged.document.command = asked.typed;
  merged.document.seed = first_seed;
  merged.document.settings["processes"] = std::to_string(files.size());
  if (files.size() < asked.processes) {
    if (merged.document.ended == "complete") merged.document.ended = to_string(how_it_ended(code));
    say("mgsync: {} of {} processes gave results, then one ended with exit code {}: the interval is over "
        "these\n",
        files.size(), asked.processes, code);
  }
  auto& document = merged.document;
  const auto shown = present(studies, document.results, as_text_and_svg);
  do_each({[&] { write_documents(asked, document); }, [&] { write_figures(asked, shown.files); },
           [&] {
             print_table(asked, format_table(document.results, asked.listed(), terminal_at(STDOUT_FILENO)) +
                                    format_notes(document.machine) + "\n" + shown.text);
           }});
  return code == 0 && !shown.whole ? static_cast<int>(exit_code::failure) : code;
}

}  // namespace mgsync
