// For the reports on a job: the groups that it would form, and where its threads would be pinned.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "topology/findings.hpp"
#include "topology/grouping.hpp"
#include "topology/reports/reports.hpp"

namespace mgsync::topology {

// The members' ids for one size under each placement; an id is a GPU's, or a CPU's for host members.
struct group_row {
  int members = 0;
  std::vector<int> near, far, spread;
};

// Where one member's thread would be pinned.
struct pin_row {
  int rank = 0;
  std::string host;
  int member = 0;  // GPU id, or the host member's number
  std::optional<int> cpu;
  std::string why;
};

struct survey {
  device kind = device::host;  // what a measurement would take as members
  std::vector<group_row> groups;
  std::vector<pin_row> pins;       // of the largest group, near
  std::vector<std::string> notes;  // of that group
  std::vector<finding> findings;
  std::vector<std::string> differences;
};

survey survey_of(std::span<const rank_view>, const report_request&);

}  // namespace mgsync::topology
