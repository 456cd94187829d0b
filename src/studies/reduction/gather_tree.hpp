// A tree over the GPUs of a group, each of which sends its sum to its parent, for machines where not every
// GPU can address every other. The paper's authors wrote DGX-1's tree down by hand (000, code 14): 0-3 send
// to 0, 4-7 to 4, and 4 to 0. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "topology/machine.hpp"

namespace mgsync::reduction {

struct gather_tree {
  std::vector<int> parents;  // the parent of each GPU, as indices in the group; -1 for the root
  std::string reason;        // why there is no tree: a GPU can address none of those before it
  std::vector<unsigned> children_of(unsigned member) const;
};

// Builds the tree: GPUs that can all address each other form a set and send to its first one; that one sends
// to the first GPU of an earlier set that it can address. `gpus`: ids in machine::gpus. machine::peers tells
// who can address whom; if it is empty, everybody can.
gather_tree gather_tree_of(const topology::machine&, const std::vector<int>& gpus);

// The tree as "1>0 2>0 3>0 4>0 5>4": each GPU and its parent.
std::string to_string(const gather_tree&);

}  // namespace mgsync::reduction
