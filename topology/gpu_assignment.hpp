// Which rank of a host takes which GPU, when every rank may see other GPUs under other numbers. Pure.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "topology/grouping.hpp"
#include "topology/placement.hpp"

namespace mgsync::topology {

struct gpu_choice {
  int id = 0;       // on the host, as the rank that sees most numbers it
  int ordinal = 0;  // for CUDA in its rank
  std::string uuid;
  std::vector<int> near_cpus;
};

// One choice for each entry of `slots` (the view of the rank that runs the member; views of one host only), or empty
// with the reason. No GPU is chosen twice and each is visible to its rank.
struct gpu_assignment {
  std::vector<gpu_choice> chosen;
  std::string failure;
  std::vector<std::string> notes;
};
gpu_assignment assign_gpus(std::span<const rank_view* const> slots, const placement&);

}  // namespace mgsync::topology
