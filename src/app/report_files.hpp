// Any files that mgsync writes, sorted by what they are and by the machine that they are of, for reports and
// advice.
#pragma once

#include <string>
#include <vector>

#include "src/harness/study.hpp"
#include "src/results/figure.hpp"
#include "src/results/machine_likeness.hpp"
#include "src/results/result_file.hpp"
#include "topology/machine.hpp"

namespace mgsync {

// One machine, or several of one kind. Where files hold the same point, the one that was started last counts.
// Where they are of different programs or machines, each result's environment says of which: "mgsync",
// "machine".
struct reported_machine {
  std::string title;              // "4 x NVIDIA H200", "64 cores of Intel(R) Xeon(R) Processor"
  std::vector<result> results;    // of all files, each point once; in the files' order
  std::vector<std::size_t> from;  // by result: its place in report_files.measured
  std::vector<result> earlier;    // the same points in files that were started before
  std::vector<std::size_t> earlier_from;
  std::vector<std::size_t> files;  // places in report_files.measured
};

struct report_files {
  std::vector<result_file> measured;       // without their results, which are in `machines`
  std::vector<reported_machine> machines;  // those with GPUs first, the most of them first
  std::vector<topology::machine> drawn;    // machine descriptions
};

// Results files and stores, and machine descriptions (ours or hwloc XML). Machines that differ by no more
// than `alike` count as one. `anonymous`: as make_anonymous() leaves them. Throws usage_error, beginning with
// the name, for a file that is nothing of this.
report_files read_report_files(const std::vector<std::string>& names, across alike, bool less_order,
                               bool anonymous = false);

// To stderr, what of these files is damaged and was skipped.
void say_damage(const report_files&);

// Of every study that has something to show. `earlier`: the same points in files that were started before,
// for studies whose curves are of one program, whole.
std::vector<shown_study> evaluate_all(std::span<const result>, std::span<const result> earlier = {});

}  // namespace mgsync
