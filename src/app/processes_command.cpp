#include "src/app/processes_command.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "src/app/study_command.hpp"
#include "src/base/child_process.hpp"
#include "src/base/errors.hpp"
#include "src/base/launcher.hpp"
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

// The body of the process that removes the folder once the parent has ended. It leaves the terminal's process
// group, so that Ctrl-C does not end it, and closes the standard streams, so that nobody who reads mgsync's
// output waits for it.
[[noreturn]] void remove_after(unique_descriptor alive, int until, const std::filesystem::path& folder) {
  alive = {};
  setsid();
  if (const int nowhere = open("/dev/null", O_RDWR); nowhere >= 0)
    for (const int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) dup2(nowhere, standard);
  char nothing = 0;
  while (read(until, &nothing, 1) < 0 && errno == EINTR) {}
  std::error_code failed;
  for (int i = 0; i < 50; ++i) {  // repeated, as a process that is just ending may still create a file there
    std::filesystem::remove_all(folder, failed);
    if (!std::filesystem::exists(folder, failed)) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  _exit(0);
}

}  // namespace

scratch_folder::scratch_folder() {
  const char* asked = std::getenv("TMPDIR");
  const std::string where = asked == nullptr || *asked == '\0' ? "/tmp" : asked;
  std::string name = where + "/mgsync-XXXXXX";
  if (mkdtemp(name.data()) == nullptr)
    throw usage_error(fmt::format("no folder for intermediate results can be made in '{}' ({}); accepted: "
                                  "TMPDIR naming a folder that can be written",
                                  where, std::generic_category().message(errno)));
  path_ = name;
  int ends[2] = {-1, -1};
  if (pipe2(ends, O_CLOEXEC) != 0) return;
  const unique_descriptor until(ends[0]);
  alive_ = unique_descriptor(ends[1]);
  remover_ = fork();
  if (remover_ == 0) remove_after(std::move(alive_), until.get(), path_);
}

scratch_folder::~scratch_folder() {
  alive_ = {};
  if (remover_ > 0) waitpid(remover_, nullptr, 0);
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string scratch_folder::file(unsigned number) const {
  return path_ / fmt::format("process-{}.json", number);
}

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
    for (const auto& word :
         {std::string("--json"), folder.file(i), std::string("--seed"), std::to_string(first_seed + i)})
      this_one.push_back(word);
    code = run_this_program(this_one);
    if (std::filesystem::exists(folder.file(i))) files.push_back(read_result_file(folder.file(i)));
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
