// What is measured in which order: cells (one group at one shape), and the points of each. Pure: nothing is
// started.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "barriers/backend.hpp"
#include "barriers/words.hpp"
#include "src/results/frame/not_measured.hpp"
#include "src/results/values/result.hpp"
#include "topology/grouping.hpp"

namespace mgsync {

// The sweep that the command asked for.
struct sweep_request {
  topology::device device = topology::device::host;
  std::vector<int> members;   // empty: the default counts
  std::vector<int> nodes;     // groups on the first so many nodes; empty: on all that the ranks are on
  std::vector<shape> shapes;  // empty: 1x32
  std::vector<backend_choice> backends;
  std::vector<std::string> placements = {"near"};
  std::vector<mgsync::load> loads = {mgsync::load{}};
  std::vector<std::uint32_t> work = {0};  // units of 1 us that each round works before the barrier
  std::vector<std::uint32_t> late = {0};  // how many us longer the last member works
  int members_per_rank = 0;               // 0: all in one rank when there is one, else one each
  bool pin = true;
  bool per_node = false;  // groups are within one node, with a cell per node
  bool oversubscribe = false;
  std::string peer_memory;  // "", "ipc", "vmm"
  std::string mpi_threads;  // the thread level that MPI runs at; empty: MPI was not started
  bool with_cuda = true;    // this build can measure GPUs, not only plan for them
  // Of a plan that is only printed: cells that follow so many members are counted, but not described. Their
  // members have no places and are not kept.
  std::size_t members_described = std::numeric_limits<std::size_t>::max();
};

struct planned_point {
  backend_choice choice;
  mgsync::configuration configuration;
  mgsync::point point;
  std::string waived;  // why it is not measured; empty: it is
};

// One group at one shape: its points are measured interleaved.
struct cell {
  topology::group group;
  mgsync::load load;
  std::uint32_t work_units = 0;
  std::uint32_t late_units = 0;
  std::vector<planned_point> points;
  std::vector<std::string> notes;  // about the group: "2 members share a core", ...
  std::string host;                // of its first rank
  std::string impossible;          // why there can be no such group; empty: there is
  bool over_quota = false;         // see topology::grouping
};

struct plan {
  std::vector<cell> cells;
  std::size_t members_described = 0;  // of all cells, that were kept
};

// Makes the plan. A group that cannot exist (more members than the ranks of a node own, a list placement that
// names too few), or only with --oversubscribe, is waived with the reason, and its cell has no members.
// Throws usage_error where no group can exist, or where a placement is unknown.
plan make_plan(const sweep_request&, std::span<const topology::rank_view>);

// The numbers of members of a sweep that names none: for hosts powers of two and `largest`, for GPUs 1 to
// `largest`.
std::vector<int> default_members(topology::device, int largest);

// Lines for a printed plan: a cell's members (at most 64 of them, or all) and what goes on beside the
// barrier.
std::string description_of(const cell&, detail);

}  // namespace mgsync
