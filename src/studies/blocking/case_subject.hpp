// A case as a subject, and what its outcome means.
#pragma once

#include <memory>

#include "src/harness/checker.hpp"
#include "src/harness/study.hpp"
#include "src/studies/blocking/case_crew.hpp"

namespace mgsync::blocking {

// A run's outcome is a word of blocking::outcome; for rounds (part 1) "holds", "does not hold" or "hangs".
// The case's runs are planned one behind the other, from `first` on.
subject_creation make_case_subject(std::shared_ptr<case_crew>, std::size_t ability, std::size_t first);

// Judges the runs of a case. A violation is a barrier of ours that lets somebody through, or hangs without
// naming the absent, and any barrier after which nothing works. An outcome that was not predicted is told in
// details["finding"]. Quantities of the result: "duration", "named", "absent"; for rounds "rounds",
// "violations", "wrong_data", "control_rounds", "control_violations", "hung_in", and the stamps of one round
// by participant.
std::unique_ptr<checker> make_outcome_checker(const blocking_case&);

}  // namespace mgsync::blocking
