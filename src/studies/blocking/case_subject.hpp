// A case as a subject: carried out in a child process, with a bound on everything, and followed by another
// process that shows that what was stuck works again.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "src/harness/checker.hpp"
#include "src/harness/study.hpp"
#include "src/studies/blocking/blocking_case.hpp"

namespace mgsync::blocking {

// What starts a case.
struct case_starter {
  std::string program;   // mgsync_blocking_case
  std::string launcher;  // mpirun or mpiexec, for ranks
};
// The program beside this one, and the launcher in PATH.
case_starter starter_here();

struct case_end {
  case_seen seen{};
  std::string error{};       // a sentence, where the process came to nothing
  bool interrupted = false;  // this process was asked to end
  double seconds = 0;
  std::optional<blocking::outcome> outcome{};  // not of rounds
};
case_end carry_out(const case_starter&, const blocking_case&);

// A run's own value: how the case ended, who was absent, and what a fresh process met afterwards.
struct case_report {
  case_end end{};
  std::vector<unsigned> absent{};
  std::string afterwards = "works";  // or what went wrong
};

// A run's outcome is a word of blocking::outcome; of rounds (part 1) "holds", "does not hold" or "hangs".
subject_creation make_case_subject(const case_starter&, const blocking_case&);

// What the runs of a case show. It is violated where a barrier of ours lets somebody through or hangs without
// naming the absent, and where nothing works afterwards; an outcome that was not foretold is told in
// details["finding"]. The result's quantities: "duration", "named", "absent"; of rounds "rounds",
// "violations", "wrong_data", "control_rounds", "control_violations", "hung_in", and a round's stamps by
// participant.
std::unique_ptr<checker> make_outcome_checker(const blocking_case&);

}  // namespace mgsync::blocking
