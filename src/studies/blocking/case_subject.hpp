// A case as a subject: carried out in a child process, with bounds on every wait, and followed by a second
// process that shows that what was stuck works again.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "src/harness/checker.hpp"
#include "src/harness/study.hpp"
#include "src/studies/blocking/blocking_case.hpp"

namespace mgsync::blocking {

// The programs that start a case.
struct case_starter {
  std::string program;   // mgsync itself
  std::string launcher;  // mpirun or mpiexec, for ranks
};
// The program beside the running one, and the launcher found in PATH.
case_starter starter_here();

struct case_end {
  case_seen seen{};
  std::string error{};       // a sentence, where the process did not get to an outcome
  bool interrupted = false;  // this process was asked to end
  double seconds = 0;
  std::optional<blocking::outcome> outcome{};  // empty for rounds (part 1)
};
case_end carry_out(const case_starter&, const blocking_case&);

// What a run carries: how the case ended, who was absent, and whether a fresh process works afterwards.
struct case_report {
  case_end end{};
  std::vector<unsigned> absent{};
  std::string afterwards = "works";  // or what went wrong
};

// A run's outcome is a word of blocking::outcome; for rounds (part 1) "holds", "does not hold" or "hangs".
subject_creation make_case_subject(const case_starter&, const blocking_case&);

// Judges the runs of a case. A violation is a barrier of ours that lets somebody through, or hangs without
// naming the absent, and any barrier after which nothing works. An outcome that was not predicted is told in
// details["finding"]. Quantities of the result: "duration", "named", "absent"; for rounds "rounds",
// "violations", "wrong_data", "control_rounds", "control_violations", "hung_in", and the stamps of one round
// by participant.
std::unique_ptr<checker> make_outcome_checker(const blocking_case&);

}  // namespace mgsync::blocking
