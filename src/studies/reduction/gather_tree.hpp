// Whom each GPU of a group gives its sum to, on machines where not every GPU can address every other. The
// paper's authors wrote DGX-1's tree down by hand (000, code 14): 0-3 give theirs to 0, 4-7 to 4, and 4 to 0.
// Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "topology/machine.hpp"

namespace mgsync::reduction {

struct gather_tree {
  std::vector<int> parents;  // by index in the group, as the index of a parent; the first has none: -1
  std::string reason;        // why there is no tree: some GPU reaches none of those before it
  std::vector<unsigned> children_of(unsigned member) const;
};

// GPUs that can all address each other gather at the first of them, and the first of each such set at a GPU
// of an earlier one, the first that they can address. `gpus`: ids in machine::gpus; who may address whom is
// machine::peers, and where these say nothing, everybody.
gather_tree gather_tree_of(const topology::machine&, const std::vector<int>& gpus);

// "1>0 2>0 3>0 4>0 5>4".
std::string to_string(const gather_tree&);

}  // namespace mgsync::reduction
