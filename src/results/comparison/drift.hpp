// Whether what nodes were measured to take rises or falls steadily day after day, beyond its own scatter: one
// that gets slower by little each day is within its limits for weeks. Pure.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "src/results/frame/figure.hpp"

namespace mgsync {

struct drift {
  std::string node, first, last;  // days
  double times = 1;               // the last day's over the first's, along the line through all of them
  double scatter = 0;             // how far a day is off that line: its deviation, as a share
};

// Of each node and day ("2026-11-28") logarithms, of which the median counts.
using series_of_nodes = std::map<std::string, std::map<std::string, std::vector<double>>>;

// The nodes that drift, the largest first. Of five and more each is held against the median of all on that
// day, and of many days the latest hundred count. None drifts that has fewer than six, of which no order is
// shown (Mann and Kendall, with false_alarms for all nodes together), or whose line (Theil and Sen) rises or
// falls by less than 2 %, or three times the scatter.
std::vector<drift> drifts_of(const series_of_nodes&);

// "has become 8.0 % slower from 2026-11-01 to 2026-11-28, steadily: ...", without the node.
std::string words_of(const drift&);

table drift_table(const std::vector<drift>&);

}  // namespace mgsync
