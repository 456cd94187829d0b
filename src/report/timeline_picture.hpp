// Prepares a timeline for drawing, so that it is readable with four rows and with five hundred: where there
// are many, neighbouring rows are combined.
#pragma once

#include <string>
#include <vector>

#include "src/results/frame/figure.hpp"

namespace mgsync::report {

// The k-th events of several tracks combined: the medians of their times, and the earliest and the latest.
struct merged_event {
  std::string name;
  double begin = 0, end = 0;
  double earliest = 0, latest = 0;
  std::string note{};  // only for a single track
};

struct merged_row {
  std::string name;  // "GPU 0 block 0-11"
  std::size_t tracks = 1;
  std::vector<merged_event> events;
};

// A row per track while there are at most `most_rows`; otherwise neighbours whose names differ in their last
// number only, and whose events have the same names in the same order, share a row. The medians of events in
// order are in order again, so a row's bars do not overlap.
std::vector<merged_row> merged_rows(const timeline&, std::size_t most_rows);

std::string draw_timeline(const timeline&, bool with_style);

}  // namespace mgsync::report
