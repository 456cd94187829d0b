// A case as a subject: carried out in a child process, with a bound on everything, and followed by another
// process that proves that what was stuck works again.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "src/harness/prover.hpp"
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

// A run's evidence: "outcome", "ended_by", "named" (those whom a time-out named, with commas), "afterwards"
// ("works", or what a fresh process met), "seconds", and all that the process found out. Of rounds (part 1),
// where the outcome is "holds" or "does not hold", also "violations", ... and the staircase.
subject_creation make_case_subject(const case_starter&, const blocking_case&);

// What the runs of a case show. It is violated where a barrier of ours lets somebody through or hangs without
// naming the absent, and where nothing works afterwards; an outcome that was not foretold is told in
// details["finding"].
std::unique_ptr<prover> make_outcome_prover(const blocking_case&);

}  // namespace mgsync::blocking
