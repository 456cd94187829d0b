// A timeline as a picture that can be read with four rows and with five hundred: many rows are drawn as
// fewer, each for a stretch of neighbours.
#pragma once

#include <string>
#include <vector>

#include "src/results/figure.hpp"

namespace mgsync::report {

// What the k-th events of several tracks were: their medians, and the earliest and latest of all.
struct merged_event {
  std::string name;
  double begin = 0, end = 0;
  double earliest = 0, latest = 0;
  std::string note{};  // of a single track
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
