// The comparison for people: one row per measured point, the points of a cell (same group and shape) together and
// fastest first, then one line for each backend that failed or was waived.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "src/results/result.hpp"

namespace mgsync {

// Columns, always these: backend variant members ranks shape latency_us (median) ci95 min samples status note.
// Status is pass, unchecked or FAIL; waived ones are listed below. The fastest of a cell is marked '*' if its 95 %
// interval overlaps no other's; otherwise all that overlap it are marked '~': no difference was shown.
std::string format_table(std::span<const result> results);

// "0.2314", "1.235", "12.35", "123.5", "12346": four significant digits, never an exponent.
std::string format_us(double microseconds);

// What a point was measured under besides its group and shape, a word or two each: "far", "streaming", "work 20",
// "64 words". Nothing of what is ordinary.
std::vector<std::string> circumstances_of(const point&);

// "1x32", "b1x32", "2" (host: threads per member).
std::string format_shape(const point&);

}  // namespace mgsync
