// A plan's points as the harness measures them: barriers/backend.hpp made into subjects, the difference of
// two runs as their method, checked rounds as their check (docs/method.md, "Barrier latency", "Is it a
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

// How many points of the plan are measured: those that are not waived.
std::size_t points_to_measure(const plan&);
// How long each of so many points is sampled at most, where nobody said: a large sweep is not to last for
// minutes, whatever it holds.
std::chrono::nanoseconds default_max_time(std::size_t points);

// What the study is asked for, as a sweep over groups, shapes and what goes on beside them. Throws
// usage_error for words that are none.
sweep_request sweep_of(const study_request&);

// The points in the plan's order. `where` outlives them; nullptr: nothing will be measured. Their functions
// are collective over its job: each rank calls them in the same order, as mgsync::runner does, and drops them
// when the others do.
std::vector<measurement> points_of(plan, const settings&, const session* where);

}  // namespace mgsync::barriers
