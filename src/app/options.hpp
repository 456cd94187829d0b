// The command line: one table of options feeds the parser, --help and the tests. Parsed before MPI or CUDA
// starts.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "barriers/load.hpp"
#include "src/base/communicator.hpp"
#include "src/harness/axis.hpp"
#include "src/results/machine_likeness.hpp"
#include "src/results/not_measured.hpp"

namespace mgsync {

enum class command { measure, list, topology, study, show, compare, merge, report, advise, help, version };

struct options {
  mgsync::command command = command::measure;
  std::string typed;                        // the whole command line, for the results
  std::optional<mgsync::command> help_for;  // of --help: the command that was named

  std::string backends;  // as typed; understood by barriers/words.hpp
  std::string members;
  std::string gpus;  // what --gpus said: then `members` says it too, and `device` gpu
  std::string shapes;
  std::vector<std::string> placements = {"near"};
  std::vector<load> loads = {load{}};
  std::vector<std::uint32_t> work = {0};  // us
  std::vector<std::uint32_t> late = {0};  // us
  std::string device = "auto";            // auto | host | gpu
  int members_per_rank = 0;               // 0: all in one rank when there is one, else one each
  bool per_node = false;
  bool pin = true;
  bool oversubscribe = false;
  std::string peer_memory;  // "" | ipc | vmm
  thread_level mpi_threads = thread_level::single;

  double precision = 0.01;
  std::optional<std::chrono::nanoseconds> max_time;  // of a point; none: 2 s, or less in a large sweep
  std::chrono::nanoseconds timeout = std::chrono::seconds(30);
  std::uint64_t check_rounds = 10'000;
  bool check = true;
  std::optional<std::uint64_t> seed;
  bool dry_run = false;
  bool verbose = false;
  unsigned processes = 1;  // fresh ones, that each run the sweep

  std::string json;  // file, "-" for stdout, "" for none
  std::string csv;
  bool anonymous = false;  // results do not tell where they come from
  std::string store;
  bool resume = false;

  std::vector<std::string>
      files;            // of show, compare, merge, report and advise; of study its name, where one was typed
  typed_words axes;     // of study: words of axes, as typed
  std::string figures;  // of study: a folder
  std::vector<std::string_view> given;  // the options that were typed, without axes
  bool less_order = false;              // what orders less than a barrier is ranked all the same
  std::string by;                       // of show: "shape", "members" or another axis, or empty
  double bytes = 0;                     // of advise: that each member gives to others in a step
  std::chrono::nanoseconds within =
      std::chrono::seconds(20);          // of advise without files: what measuring may take
  std::string where;                     // of show: which points, as typed
  std::string markdown;                  // of report: file, "-" for stdout
  bool reference = false;                // of compare: BASE is what came with mgsync
  std::string figure;                    // of show: its name
  std::string tables;                    // of show: their names, as typed
  std::string svg;                       // of show --figure: file, "-" or "" for stdout
  std::string html;                      // of report: file, "-" for stdout, "" for text
  std::optional<double> noise;           // of compare: share
  std::optional<double> fail_slower;     // of compare: share
  bool allow_missing = false;            // of compare
  bool over_processes = false;           // of merge: each file is a process, and counts once
  std::optional<mgsync::across> across;  // of compare and merge
  std::string topology_file;
  std::string format = "text";  // of `mgsync topology`

  detail listed() const { return verbose ? detail::every : detail::grouped; }
};

// Throws usage_error naming the option, the value and what is accepted. The axes of the study that was named
// are options too, and stand for others of the same name.
options parse_options(std::span<const std::string> arguments, declared_axes axes = {});

// Throws usage_error: GPUs alone were asked for, by whichever option, and `why` is why none can be had.
[[noreturn]] void refuse_gpus(const options&, std::string_view why);

// What --help prints: everything, or what one command takes.
std::string help_text(std::optional<command> of = std::nullopt, declared_axes axes = {});
// What it says of axes: each one's option, what it is, its default, what it accepts.
std::string help_lines(declared_axes axes);

// The names of all options, for the test that compares them with the help and the documentation.
std::vector<std::string_view> option_names();

}  // namespace mgsync
