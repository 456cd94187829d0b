// Reads any files that mgsync writes and sorts them by kind and by machine, for reports and advice.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "src/harness/study.hpp"
#include "src/results/comparison/acceptance.hpp"
#include "src/results/files/result_file.hpp"
#include "src/results/frame/figure.hpp"
#include "src/results/values/machine_likeness.hpp"
#include "topology/machine.hpp"

namespace mgsync {

// The results of one machine, or of several machines of one kind. Of several results of a point, that of the
// file that was started last counts. Where the files are of different programs or machines, each result's
// environment names them as "mgsync" and "machine".
struct reported_machine {
  std::string title;              // "4 x NVIDIA H200", "64 cores of Intel(R) Xeon(R) Processor"; no two alike
  std::vector<result> results;    // of all files, each point once; in the files' order
  std::vector<std::size_t> from;  // for each result the index of its file in report_files.measured
  std::vector<result> earlier;    // results of the same points in files that were started earlier
  std::vector<std::size_t> earlier_from;
  std::vector<std::size_t> files;  // indices in report_files.measured
};

struct report_files {
  std::vector<result_file> measured;       // without their results, which are in `machines`
  std::vector<reported_machine> machines;  // those with barriers first, then by the number of GPUs
  std::vector<topology::machine> drawn;    // machine descriptions
  std::vector<acceptance> accepted;        // the lines of acceptances
  std::vector<std::string> damage;         // a sentence for each of them that was left out
};

// Lines of acceptances; `anonymous`: applies make_anonymous(). `damage` as of read_acceptances().
std::vector<acceptance> read_accepted(std::string_view text, const std::string& name, bool anonymous,
                                      std::vector<std::string>& damage);

// Reads results files, stores, machine descriptions (mgsync's JSON or hwloc XML) and lines of acceptances.
// Machines that differ by no more than `alike` count as one. `anonymous`: applies make_anonymous(). Throws
// usage_error, beginning with the name, for any other file.
report_files read_report_files(const std::vector<std::string>& names, across alike, bool less_order,
                               bool anonymous = false);

// Reports on stderr which damaged parts of these files were skipped.
void say_damage(const report_files&);

// The evaluations of all studies that have something to show. `earlier`: results of the same points in files
// that were started earlier, with which studies that have of_one_program evaluate each program in full.
std::vector<shown_study> evaluate_all(std::span<const result>, std::span<const result> earlier = {});

}  // namespace mgsync
