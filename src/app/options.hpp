// The command line: one table of options (option_table.cpp) and the axes of the studies that are measured
// feed the parser, --help and the tests. Parsed before MPI or CUDA starts.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/communicator.hpp"
#include "src/harness/axis.hpp"
#include "src/harness/outputs.hpp"
#include "src/harness/study.hpp"
#include "src/results/frame/pivot_table.hpp"
#include "src/results/values/machine_likeness.hpp"

namespace mgsync {

enum class command {
  measure,
  list,
  topology,
  study,
  show,
  compare,
  merge,
  report,
  advise,
  audit,
  accept,
  check,
  ledger,
  who,
  help,
  completion,
  version
};

struct typed_option {
  std::string_view option, word;
};

struct options : output_request, study_settings {
  mgsync::command command = command::measure;
  std::optional<mgsync::command> help_for;  // for --help: the command that was named
  std::vector<std::string> files;           // the words after the command: files, or a study's name
  typed_words axes;                         // of the studies that are measured, or of advise, as typed
  std::map<std::string, std::string, std::less<>> given;  // the options that were typed, without axes

  std::span<const typed_option> profile;  // the options that --quick or --full stands for

  std::string device = "auto";  // auto | host | gpu
  std::string gpus;             // the value of --gpus; `device` is then gpu
  thread_level mpi_threads = thread_level::single;
  std::string topology_file;
  std::optional<std::uint64_t> seed;
  bool dry_run = false;
  unsigned processes = 1;       // fresh processes that each run the campaign
  std::string format = "text";  // of topology
  std::string png;

  std::string points;      // a results file whose points are measured, in place of the axes
  std::string against;     // of accept: results files, as typed
  std::string thresholds;  // of accept: a table
  std::string line;        // of accept: the file that its record is appended to

  bool manual_page = false;                                    // of help
  std::chrono::nanoseconds within = std::chrono::seconds(20);  // of advise without files, and of accept
  bool model = false;                    // for audit: ask the memory model about barriers of `mgsync check`
  bool across_gpus = false;              // for audit: treat every flag as one between GPUs
  std::string scenarios;                 // of check: names, as typed; empty: all
  bool less_order = false;               // rank subjects that order less than a barrier, too
  pivot_request pivot;                   // of show and compare; `by` may be "shape", or empty: no such table
  std::string where;                     // of show and compare: which points, as typed
  std::string figure;                    // of show: its name
  std::string tables;                    // of show: their names, as typed
  bool reference = false;                // of compare and accept: what comes with mgsync
  std::optional<double> noise;           // of compare: share
  std::optional<double> fail_slower;     // of compare: share
  bool allow_missing = false;            // of compare
  bool over_processes = false;           // of merge: each file is a process, and counts once
  std::string into;                      // of ledger: the ledger that is added to
  std::optional<mgsync::across> across;  // of compare, merge and report
};

// The words of a command line that are neither options nor their values: the command, then its files.
std::vector<std::string> plain_words(std::span<const std::string> arguments);

// Throws usage_error naming the option, the value and what is accepted. The axes of the studies that are
// measured, or of advise, are options too.
options parse_options(std::span<const std::string> arguments, declared_axes axes = {});

// Throws usage_error where an option asked for GPUs; `why` says why there are none.
[[noreturn]] void refuse_gpus(const options&, std::string_view why);

// An option that a command accepts, from the table or as an axis of the studies, for help and completion.
struct offered_option {
  std::string name;
  char letter = 0;    // of the short form; 0: none
  std::string value;  // empty: a switch
  std::string help;
  std::vector<std::string> words{};  // accepted as the value, or as a part of a list
};
std::vector<offered_option> offered_axes(declared_axes);
// The others; of no command: of every one.
std::vector<offered_option> offered_options(std::optional<command>);

// Rewrites `help study launch` to `study launch --help`; returns other words unchanged.
std::vector<std::string> as_parsed(std::vector<std::string> typed);

}  // namespace mgsync
