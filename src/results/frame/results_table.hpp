// The results as a text table: one row per measured point, the points of a cell (the same but for subject and
// variant) together and the best first, then one line for each subject that failed, and why others met an
// error, were interrupted or waived: by reason, or one by one (not_measured.hpp).
#pragma once

#include <span>
#include <string>

#include "src/base/terminal.hpp"
#include "src/results/frame/not_measured.hpp"
#include "src/results/values/result.hpp"

namespace mgsync {

// A table for each study and first metric, under a heading that says what all its rows have in common:
// members, ranks, shape, conditions, status. Columns: the subject, what varies of these, the first metric's
// median (latency_us, or latency_ns where all are small), ci95, min and samples where there is room, the
// medians of further metrics, status, and a note. Status is pass, partial, unchecked, interrupted or FAIL.
// The best of a cell is marked '*' if its 95 % interval overlaps no other's and nothing casts doubt on it;
// otherwise all that overlap it are marked '~': no difference was shown. An interval of one value overlaps
// all. At most 100 columns wide where that can be; on a styled terminal the best of each cell, where it is
// marked, is bold and green.
std::string format_table(std::span<const result> results, detail = detail::grouped, const terminal& = {});

// "0.2314", "1.235", "12.35", "123.5", "12346": four significant digits, never an exponent.
std::string format_number(double value);

}  // namespace mgsync
