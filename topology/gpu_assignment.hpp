// Which rank of a host takes which GPU, when every rank may see other GPUs under other numbers. Pure.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "topology/grouping.hpp"
#include "topology/placement.hpp"

namespace mgsync::topology {

struct gpu_choice {
  std::size_t slot = 0;  // index of its owner
  int id = 0;            // on the host, as the rank that sees most numbers it
  int ordinal = 0;       // for CUDA in its rank
  std::string uuid;
  std::vector<int> near_cpus;
};

// Every entry of `slots` (the view of the rank that would run a member; views of one host only) owns one GPU
// that its rank sees, no two the same; with more GPUs than slots the placement says which are owned. Chosen
// are `members` of the owned ones, as the placement says, in the order of their slots (a list: in its own).
// Or nothing, with the reason.
struct gpu_assignment {
  std::vector<gpu_choice> chosen;
  std::string failure;
  std::vector<std::string> notes;
};
gpu_assignment assign_gpus(std::span<const rank_view* const> slots, int members, const placement&);

}  // namespace mgsync::topology
