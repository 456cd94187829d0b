// Judges whether a node performs normally, by comparing its results with a reference of the same kind of
// machine (`mgsync compare --reference`). Only points that both have are judged, as a reference has far more
// points than a short run measures; and of those that mean little in one of them only what is wrong or within
// the limit all the same.
#pragma once

#include <string>
#include <vector>

#include "src/results/comparison/comparison.hpp"

namespace mgsync {

// The fewest points that must be shown to be within the limit for a node to be normal.
inline constexpr std::size_t least_points_of_a_node = 3;

enum class node_state {
  normal,  // nothing is worse or lost, and enough points are shown to be within the limit, one of them over
           // all members
  not_normal,      // some point is worse, or has no value on this node
  cannot_be_told,  // nothing is wrong in the points there are, but they are too few
};

struct node_verdict {
  node_state what = node_state::cannot_be_told;
  std::string sentence;                 // the verdict, with what was judged and what was not
  std::vector<std::string> violations;  // a sentence for each reason why the node is not normal
};

// BASE is the reference, NEW the node. `limit`: the share by which a point may be worse. `doubt`: why NEW may
// be incomplete ("its command was cut short"); if not empty, the node is never judged normal.
node_verdict judge_node(const comparison&, double limit, const std::string& doubt = "");

}  // namespace mgsync
