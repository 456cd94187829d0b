// Whether a node is as it should be, from what it measured and a reference of its own kind: `mgsync compare
// --reference`. Only what both have is judged: a reference holds far more points than a short run measures,
// and those say nothing.
#pragma once

#include <string>
#include <vector>

#include "src/results/comparison.hpp"

namespace mgsync {

// Fewer points than these that are shown to be within the limit make no node normal.
inline constexpr std::size_t least_points_of_a_node = 3;

enum class node_state {
  normal,      // nothing is worse or lost, and enough is shown to be within the limit, some of it over all
               // members
  not_normal,  // something is worse, or has no number here
  cannot_be_told,  // nothing is wrong in what there is, and that is too little
};

struct node_verdict {
  node_state what = node_state::cannot_be_told;
  std::string sentence;                 // the answer, with what was judged and what was not
  std::vector<std::string> violations;  // of a node that is not normal, a sentence each
};

// BASE is the reference, NEW the node. `limit`: what a point may be worse by, as a share. `doubt`: why NEW
// may not say all that was measured ("its command was cut short"); then it is normal by nothing.
node_verdict judge_node(const comparison&, double limit, const std::string& doubt = "");

}  // namespace mgsync
