// What would be measured, for people: --dry-run, and the line before a campaign.
#pragma once

#include <span>
#include <string>

#include "src/harness/study.hpp"

namespace mgsync {

// Roughly how long the points that can run take, in seconds.
double estimated_seconds(std::span<const study* const>, std::span<const measurement>);
// "12 of 38 points can run here, about 16 s": and of several studies how each takes part in it.
std::string estimate(std::span<const study* const>, std::span<const measurement>);

// Grouped: the cells of which something would be measured, up to 200 lines of them, and the reasons why the
// other points are waived; or every cell and point.
std::string format_plan(std::span<const measurement>, detail = detail::grouped);

}  // namespace mgsync
