// Findings: what is wrong, or costs time, in how this job sees its machines, and what to change. Pure.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "topology/grouping.hpp"

namespace mgsync::topology {

struct finding {
  std::string name;    // short and stable, for scripts: "shared-gpu", "hidden-gpus", ...
  std::string what;    // a sentence
  std::string change;  // the flag or setting to change
  bool operator==(const finding&) const = default;
};

// In the order of the names in docs/topology.md; empty when all is as it should be. `members_per_rank` as for
// make_group. Judges only what is known: a pair of GPUs that was not queried gives no finding.
std::vector<finding> find_problems(std::span<const rank_view>, int members_per_rank);

// How the views of ranks on one host differ from the first one there, and hosts from the first host; a
// sentence each.
std::vector<std::string> differences(std::span<const rank_view>);

// The views of each host in rank order, hosts in the order of their first rank.
std::vector<std::vector<const rank_view*>> views_by_host(std::span<const rank_view>);

// The ids of the GPUs that CUDA shows to this process, in the order of its ordinals.
std::vector<int> visible_gpus(const machine&);

}  // namespace mgsync::topology
