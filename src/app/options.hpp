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
#include "src/results/machine_likeness.hpp"

namespace mgsync {

enum class command { measure, list, topology, study, show, compare, merge, report, advise, help, version };

struct options : output_request, study_settings {
  mgsync::command command = command::measure;
  std::optional<mgsync::command> help_for;  // of --help: the command that was named
  std::vector<std::string> files;           // the words after the command: files, or a study's name
  typed_words axes;                         // of the studies that are measured, as typed
  std::map<std::string, std::string, std::less<>> given;  // the options that were typed, without axes

  std::string device = "auto";  // auto | host | gpu
  std::string gpus;             // what --gpus said: then `device` is gpu
  thread_level mpi_threads = thread_level::single;
  std::string topology_file;
  std::optional<std::uint64_t> seed;
  bool dry_run = false;
  unsigned processes = 1;       // fresh ones, that each run the campaign
  std::string format = "text";  // of topology

  std::string members;                                         // of advise
  std::string shape;                                           // of advise
  std::vector<std::uint32_t> work = {0};                       // of advise: us
  std::uint64_t bytes = 0;                                     // of advise: given to others in a step
  std::chrono::nanoseconds within = std::chrono::seconds(20);  // of advise without files: what it may take
  bool less_order = false;               // what orders less than a barrier is ranked all the same
  std::string by;                        // of show: "shape", "members" or another axis, or empty
  std::string where;                     // of show: which points, as typed
  std::string figure;                    // of show: its name
  std::string tables;                    // of show: their names, as typed
  bool reference = false;                // of compare: BASE is what came with mgsync
  std::optional<double> noise;           // of compare: share
  std::optional<double> fail_slower;     // of compare: share
  bool allow_missing = false;            // of compare
  bool over_processes = false;           // of merge: each file is a process, and counts once
  std::optional<mgsync::across> across;  // of compare, merge and report
};

// The words of a command line that are no options and no values of theirs: the command, then its files.
std::vector<std::string> plain_words(std::span<const std::string> arguments);

// Throws usage_error naming the option, the value and what is accepted. The axes of the studies that are
// measured are options too, and stand for others of the same name.
options parse_options(std::span<const std::string> arguments, declared_axes axes = {});

// Throws usage_error: GPUs alone were asked for, by whichever option, and `why` is why none can be had.
[[noreturn]] void refuse_gpus(const options&, std::string_view why);

// What --help prints: everything, or what one command takes.
std::string help_text(std::optional<command> of = std::nullopt, declared_axes axes = {});
// What it says of axes: each one's option, what it is, its default, what it accepts.
std::string help_lines(declared_axes axes);

}  // namespace mgsync
