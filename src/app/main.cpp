#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "mgsync/version.hpp"
#include "src/app/advise_command.hpp"
#include "src/app/commands.hpp"
#include "src/app/completion.hpp"
#include "src/app/help.hpp"
#include "src/app/options.hpp"
#include "src/app/processes_command.hpp"
#include "src/app/reference_files.hpp"
#include "src/app/study_command.hpp"
#include "src/app/this_machine.hpp"
#include "src/base/communicator.hpp"
#include "src/base/errors.hpp"
#include "src/base/gpu_start.hpp"
#include "src/base/hosts.hpp"
#include "src/base/launcher.hpp"
#include "src/base/printable.hpp"
#include "src/base/standard_streams.hpp"
#include "src/base/watchdog.hpp"
#include "src/harness/child.hpp"
#include "src/harness/outputs.hpp"

namespace {

using namespace mgsync;

// A command that ends early writes the same sentence to stderr, the document and the store, and
// records the right status: a barrier has not failed because a rank was lost or a signal came.

// Which ranks of the job were lost. If rank 0 is among them, the rank that stands by takes over writing.
std::string lost_now(outputs& written) {
  auto lost = communicator::lost_ranks();
  if (!lost.empty() && communicator::first_is_gone()) written.take_over();
  return lost;
}

void end_when_stuck(watchdog& dog, outputs& written, std::string why) {
  const auto lost = lost_now(written);
  auto blame = dog.leaving_with() == static_cast<int>(exit_code::barrier_failed) ? result_status::failed
                                                                                 : result_status::error;
  if (!lost.empty()) {
    why = communicator::has_word() ? lost : fmt::format("{}; {}", lost, why);
    dog.leave_with(static_cast<int>(exit_code::failure));
    blame = result_status::error;
  } else if (signal_received() != 0) {
    why = fmt::format("interrupted by {}; {}", signal_in_words(), why);
    blame = result_status::interrupted;
  }
  say("mgsync: {}\n", why);
  written.write_in_emergency(why, blame);
  if (lost.empty() || communicator::speaks_first()) return;
  communicator::leave_word(why);
  communicator::let_first_write(patience_of_a_failed_rank);
}

// After a lost rank, a launcher sends the others a signal and gives them about a second, so everything is
// written at once. After another signal the command ends by itself; as that may take too long, the results
// are written already now.
bool write_at_signal(outputs& written) {
  if (crash_received() != 0) {
    const auto rank = communicator::this_rank();
    const auto why = fmt::format("{} crashed: {}", rank.empty() ? "mgsync" : rank, signal_in_words());
    communicator::leave_word(why);
    say("mgsync: {}\n", why);
    if (!written.write_in_emergency(why, result_status::error)) return false;
    communicator::let_first_write(patience_of_a_failed_rank);
    return true;
  }
  if (signal_received() == 0)  // another rank has left word, and ends the job as soon as this is written
    return written.write_in_emergency(communicator::lost_ranks(), result_status::error);
  const auto lost = communicator::is_over() ? "" : lost_now(written);
  if (!communicator::speaks_first() && !written.has_files()) return true;
  if (lost.empty()) return written.write_meanwhile(fmt::format("interrupted by {}", signal_in_words()));
  const bool said = communicator::has_word();
  const auto why = said ? lost : fmt::format("{}; the launcher ended the job", lost);
  if (!written.write_in_emergency(why, result_status::error)) return false;
  if (!said) say("mgsync: {}\n", why);
  _exit(static_cast<int>(exit_code::failure));
}

// Installs the signal handlers and starts a watchdog that writes to `written`. Both must outlive the command.
void watch_over(std::optional<watchdog>& dog, outputs& written) {
  take_note_of_signals();
  dog.emplace([](const std::string&) {}, [&](const std::string& why) { end_when_stuck(*dog, written, why); },
              [&] { return write_at_signal(written); });
}

struct command_line {
  std::vector<const study*> studies;
  std::vector<const axis_declaration*> axes;
  options asked;
};

command_line read_words(const std::vector<std::string>& typed) {
  command_line line{studies_asked(typed), {}, {}};
  line.axes = axes_asked(line.studies, typed);
  line.asked = parse_options(typed, line.axes);
  return line;
}

bool is_campaign(const options& asked) {
  return asked.command == command::measure || asked.command == command::study;
}

// Commands that need no ranks: where a launcher started several processes, only the first carries them out.
std::optional<int> run_alone(const command_line& line, bool first) {
  const auto& asked = line.asked;
  constexpr command together[] = {command::measure, command::study, command::list, command::topology};
  if (!first && std::ranges::find(together, asked.command) == std::end(together)) return 0;
  constexpr command readers[] = {command::show, command::advise, command::report, command::compare,
                                 command::merge};
  if (std::ranges::find(readers, asked.command) != std::end(readers))
    point_to_references(asked.files, asked.command == command::compare);
  switch (asked.command) {
  case command::help:
    tell("{}", asked.manual_page ? manual_page(line.axes, version, commit_date)
                                 : help_text(asked.help_for, line.axes));
    return 0;
  case command::completion: tell("{}", completion_script(asked.files.front())); return 0;
  case command::version: tell("{}", version_text()); return 0;
  case command::show:
    return !asked.figure.empty()   ? show_figure(asked)
           : !asked.tables.empty() ? show_tables(asked)
                                   : show_results(asked);
  case command::accept: return accept_command(asked);
  case command::advise: return advise_command(asked);
  case command::audit: return audit_command(asked);
  case command::check: return check_command(asked);
  case command::report: return report_command(asked);
  case command::compare: return compare_command(asked);
  case command::ledger: return ledger_command(asked);
  case command::merge: return merge_command(asked);
  case command::who: return who_command(asked);
  default: return std::nullopt;
  }
}

// Handles what needs no measuring, and --processes, which measures in child processes, before MPI or CUDA is
// started in this process. Returns the exit code; nothing: go on.
std::optional<int> run_elsewhere(const command_line& line, const std::vector<std::string>& words) {
  if (!is_campaign(line.asked)) return std::nullopt;
  if (const auto done = without_measuring(line.asked, line.studies)) return done;
  if (line.asked.processes == 1) return std::nullopt;
  return measure_in_processes(line.asked, line.studies, words);
}

// Carries out a step that may fail on this rank alone. With several ranks it returns the reason instead of
// throwing: the others wait for this rank in MPI and get the reason there.
template <class Step>
ending_word tried(Step step) {
  const auto told = read_launch();
  const bool alone = !told.under_mpi || told.size.value_or(1) == 1;
  try {
    step();
  } catch (const usage_error& error) {
    if (alone) throw;
    return {error.what(), exit_code::usage};
  } catch (const std::exception& error) {
    if (alone) throw;
    return {error.what(), exit_code::failure};
  }
  return {};
}

topology::machine look_and_start_gpus(const options& asked, const launch& told) {
  auto seen = look_around(asked);
  if (is_campaign(asked) && !asked.dry_run) {
    auto own = gpus_to_own(asked, told, seen);
    std::reverse(own.begin(), own.end());  // so that the first GPU is the current one when MPI starts
    if constexpr (with_cuda)
      for (const int gpu : own) start_gpu(gpu);
  }
  return seen;
}

// `wrong`: why this rank cannot go on; it is passed to the other ranks.
int run_together(const command_line& line, ending_word wrong, std::optional<communicator>& job, watchdog& dog,
                 outputs& written) {
  const auto& asked = line.asked;
  const launch told = read_launch();
  if (!told.under_mpi) must_meet(told, 1);
  topology::machine seen;
  if (wrong.why.empty()) {
    const watchdog::guard watched(dog, "looking at the machine, and starting CUDA", asked.timeout);
    wrong = tried([&] { seen = look_and_start_gpus(asked, told); });
  }
  {
    std::optional<watchdog::guard> telling;
    if (!wrong.why.empty())
      telling.emplace(dog, "telling the other ranks: " + one_line(wrong.why), asked.timeout);
    job = told.under_mpi ? communicator::world(asked.timeout, dog, asked.mpi_threads)
                         : communicator::single(asked.timeout);
  }
  take_note_of_crashes();
  if (const auto end = why_not_together(asked, wrong, *job); !end.why.empty()) {
    if (told.first()) say("mgsync: {}\n", one_line(end.why));
    return static_cast<int>(end.code);
  }
  must_meet(told, job->size());
  if (asked.command == command::topology) return topology_command(asked, *job, std::move(seen));
  if (asked.command != command::list)
    return measure_command(asked, line.studies, *job, std::move(seen), dog, written);
  const auto views = gather_views(*job, std::move(seen));
  return list_backends(campaign_of(asked, line.studies, *job, views), *job, views);
}

// Ends all ranks where there are several, as the others do not know of this one's failure.
int leave(const std::optional<communicator>& job, exit_code code) {
  if (job && job->size() > 1) {
    if (job->rank() != 0) std::this_thread::sleep_for(std::chrono::milliseconds(300));  // rank 0 speaks first
    if (code != exit_code::usage) communicator::let_first_write(patience_of_a_failed_rank);
    job->abort(static_cast<int>(code));
  }
  return static_cast<int>(code);
}

// The error's message, with the name of this rank where there are several.
std::string of_this_rank(const std::exception& error) {
  const auto rank = read_launch().rank;
  const auto name = communicator::this_rank();
  return !name.empty() ? fmt::format("{}: {}", name, error.what())
         : rank        ? fmt::format("rank {} on {}: {}", *rank, host_name(), error.what())
                       : error.what();
}

// Reports an error of this rank alone, by the same sentence to the other ranks, on stderr and in the files.
void tell_of(const std::exception& error, outputs& written) {
  const auto why = of_this_rank(error);
  communicator::leave_word(why);
  if (!is_of_stdout(error)) say("mgsync: {}\n", why);
  written.write_in_emergency(why, result_status::error);
}

int run(const std::vector<std::string>& entered) {
  if (asks_completion(entered)) {
    tell("{}", answer_completion(entered));
    return 0;
  }
  const auto typed = as_parsed(entered);
  outputs written;
  std::optional<watchdog> dog;  // destroyed after MPI is finalized, as it watches that
  std::optional<communicator> job;
  const bool speaks = read_launch().first();
  try {
    command_line line;
    auto wrong = tried([&] { line = read_words(typed); });
    if (wrong.why.empty()) {
      if (line.asked.anonymous) hide_host_name();
      if (const auto done = run_alone(line, speaks)) return *done;
      std::optional<int> done;
      wrong = tried([&] { done = run_elsewhere(line, typed); });
      if (done) return *done;
    }
    watch_over(dog, written);
    return run_together(line, std::move(wrong), job, *dog, written);
  } catch (const usage_error& error) {
    if (speaks) say("mgsync: {}\n", one_line(error.what()));
    return leave(job, exit_code::usage);
  } catch (const rank_lost& error) {
    say("mgsync: {}\n", of_this_rank(error));
    written.write_in_emergency(error.what(), result_status::error);
    if (!communicator::speaks_first()) communicator::leave_word(error.what());
    return leave(job, exit_code::failure);
  } catch (const timeout_error& error) {
    say("mgsync: {}\n", of_this_rank(error));
    written.write_in_emergency(error.what(), result_status::failed);
    return leave(job, exit_code::barrier_failed);
  } catch (const std::exception& error) {
    tell_of(error, written);
    return leave(job, exit_code::failure);
  }
}

}  // namespace

int main(int count, char** words) {
  open_standard_streams();
  const std::vector<std::string> entered(words + 1, words + count);
  if (const auto code = run_as_child(studies(), entered)) return *code;
  return end_of_stdout(run(entered));
}
