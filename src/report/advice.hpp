// Advises which barrier to use for a step of given work on given members: one that a program can call, its
// call, its share of the step's time, whether to end the kernel instead, and how many members pay off. Based
// on results, and on predictions from neighbouring points where there are none. Pure.
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
  double step_us = 0;   // the time of a step with the same total work spread over so many members
  std::string barrier;  // the fastest one there
};

struct advice {
  step asked;                                    // with the shape that is used
  std::vector<prediction> barriers;              // at least one; the first is the answer
  std::optional<prediction> in_kernel, by_host;  // the best callable barriers inside a kernel and by the host
  double share = 0, share_low = 0,
         share_high = 0;  // the share of the step's time that the answer takes, with its interval
  std::vector<steps_on> over_members;
  int best_members = 1;
  std::vector<std::string> sentences;  // the answer, then what would change it
};

// Throws usage_error, which says what there is, where no result is of such members.
advice advise(std::span<const result>, step, facts_of_point);

// "these results are of 2 GPUs, 4 GPUs", for the results that advice can be based on; or why there are none.
std::string what_there_is(std::span<const result>, facts_of_point);

std::string to_text(const advice&);
nlohmann::ordered_json to_json(const advice&);

}  // namespace mgsync::report
