// A plan's points in the form that the harness measures: each backend as a subject, the difference of two
// runs as the method, and checked rounds as the check (docs/method.md, "Barrier latency", "Is it a
// barrier?").
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "src/base/session.hpp"
#include "src/harness/stopping.hpp"
#include "src/harness/study.hpp"
#include "src/studies/barriers/plan.hpp"

namespace mgsync::barriers {

struct settings {
  stopping_rule stopping;
  std::uint64_t check_rounds = 10'000;  // 0: unchecked
  std::uint64_t seed = 1;
  std::chrono::nanoseconds timeout = std::chrono::seconds(30);
};

// How many points of the plan are not waived, and so are measured.
std::size_t points_to_measure(const plan&);
// The default limit for sampling a point, which depends on the number of points so that a large sweep does
// not take too long.
std::chrono::nanoseconds default_max_time(std::size_t points);

// Translates the study's request into a sweep over groups, shapes, loads and work. Throws usage_error for
// unknown words.
sweep_request sweep_of(const study_request&);

// The points in the order of the plan. `where` must outlive them; nullptr: nothing will be measured. Their
// functions are collective over its job: all ranks call them in the same order, as mgsync::runner does, and
// destroy what they made at the same time.
std::vector<measurement> points_of(plan, const settings&, const session* where);

}  // namespace mgsync::barriers
