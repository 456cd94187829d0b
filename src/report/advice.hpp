// Which barrier for a step of so much work on so many members: one that a program can call, and how; what
// share of the step it takes, whether to end the kernel instead, and how many members pay off. From results,
// and where they have no such point by what surrounds it. Pure.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "src/report/prediction.hpp"

namespace mgsync::report {

struct steps_on {
  int members = 1;
  double step_us = 0;   // the same work in all, spread over so many
  std::string barrier;  // its fastest
};

struct advice {
  step asked;                                       // its shape settled
  std::vector<prediction> barriers;                 // at least one; the first is the answer
  std::optional<prediction> in_kernel, by_host;     // the best of each kind that a program can call
  double share = 0, share_low = 0, share_high = 0;  // of the step that the answer takes
  std::vector<steps_on> over_members;
  int best_members = 1;
  std::vector<std::string> sentences;  // the answer, then what would change it
};

// Throws usage_error where no result is of such members: what there is instead.
advice advise(std::span<const result>, step, facts_of_point);

// "these results are of 2 GPUs, 4 GPUs", of those that advice can come from; or that there are none, and why.
std::string what_there_is(std::span<const result>, facts_of_point);

std::string to_text(const advice&);
nlohmann::ordered_json to_json(const advice&);

}  // namespace mgsync::report
