// Which barrier for a step of so much work on so many members, what share of the step it takes, whether to end the kernel
// instead, and how many members pay off: from results, and where they have no such point by what surrounds it. Pure.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "src/results/result.hpp"

namespace mgsync::report {

// A step: every member works for `work_us`, all synchronize, and each gives `bytes` to others.
struct step {
  topology::device device = topology::device::gpu;
  int members = 2;
  double work_us = 0;
  double bytes = 0;
  double gbps = 0;               // what moves them; 0: unknown
  std::string shape{};           // "1x32"; empty: the smallest measured
};

// The latency of one passage; where it was not measured at this group and shape, from its neighbours: along the members
// at the same shape and along the shapes at the same members, in logarithms, as if the two were independent. Its interval
// is then what every known point of the barrier allows there, when latencies grow no faster, and fall no more, than those
// of the committed results: narrow between two that are alike, wide outside.
struct prediction {
  std::string barrier;
  double us = 0, low = 0, high = 0;  // measured: the 95 % interval; else what all known points allow, at least 3 %
  bool measured = false;
  bool beyond_members = false;       // more members than were measured of it, or fewer
  bool beyond_shape = false;         // more blocks or threads than were measured of it, or fewer
  bool by_host = false;              // the kernel ends, or the host drives it
  std::string source;                // short_key of the point, where it was measured
  bool beyond() const { return beyond_members || beyond_shape; }
};

// Of every barrier that the results know enough of, the fastest first. Only what passed its check, idle.
std::vector<prediction> predict(std::span<const result>, const step&);

struct steps_on {
  int members = 1;
  double step_us = 0;                // the same work in all, spread over so many
  std::string barrier;               // its fastest
};

struct advice {
  step asked;                        // its shape settled
  std::vector<prediction> barriers;  // at least one
  std::optional<prediction> in_kernel, by_host;  // the best of each kind
  double share = 0, share_low = 0, share_high = 0;  // of the step that the best one takes
  std::vector<steps_on> over_members;
  int best_members = 1;
  std::vector<std::string> sentences;  // the answer, then what would change it
};

// Throws usage_error where no result is of such members: what there is instead.
advice advise(std::span<const result>, step);

// "these results are of 2 GPUs, 4 GPUs", of those that advice can come from; or that there are none, and why.
std::string what_there_is(std::span<const result>);

std::string to_text(const advice&);
nlohmann::ordered_json to_json(const advice&);

}  // namespace mgsync::report
