// Decides who takes part in a measurement: which GPUs or cores, run by which rank, on which CPUs. Pure: every
// rank computes the same group from the same gathered views.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "topology/gpu_binding.hpp"
#include "topology/group.hpp"
#include "topology/machine.hpp"

namespace mgsync::topology {

// What one rank of the job sees; the harness gathers one per rank. Ranks are on one host when machine::host
// is equal, and on one machine when `kernel` is: containers, or virtual nodes, have host names of their own
// and share its cores.
struct rank_view {
  int rank = 0;
  int local_rank = 0;
  machine seen;
  gpu_binding binding = {};  // what its launcher did with its GPUs
  std::string kernel =
      {};  // which boot of which machine (boot_id()); empty: unknown, as the host's name says
};

struct grouping_request {
  device kind = device::host;
  int members = 1;
  int members_per_rank = 0;    // 0: all in one rank when there is one rank, else one
  int threads_per_member = 1;  // host: blocks; GPU: 1
  std::string placement = "near";
  bool pin = true;
  bool oversubscribe = true;  // false: more host threads than CPUs get no places
  bool share_gpus =
      false;  // true: nodes of one machine that has too few GPUs may have the same, as virtual nodes do
  bool with_places = true;  // false: host threads get none, and notes say nothing of them
};

struct grouping {
  group chosen;
  bool over_quota = false;  // oversubscribed because a cgroup gives less time than the threads would take
  std::vector<std::string> notes;  // one sentence each: sharing of cores, ranks that see different GPUs, ...
};

// Host members go to the views in rank order, members_per_rank to each, so the first ranks of the job take
// part. Of several ranks each owns members_per_rank GPUs of those that its CUDA shows, no two the same one,
// whoever takes part: the placement chooses among the owned GPUs, and their owners are the members' ranks.
// Host threads get one CPU each, as placement.hpp says, planned for all ranks of a machine together so that
// they never collide. `cpus` is a plan: pin only where rank_view::seen.is_this_machine. Throws usage_error
// naming what is accepted: too many members, a bad placement, ranks that would share a GPU (both ranks are
// named, and the remedy).
grouping make_group(std::span<const rank_view>, const grouping_request&);

// The most members that make_group gives a GPU, or (host members in one rank) a core of their own and, where
// a quota says how much, the time to run on it; host members in several ranks: one or `members_per_rank` for
// each. 0: no GPU is visible.
int largest_group(std::span<const rank_view>, device, int members_per_rank);

}  // namespace mgsync::topology
