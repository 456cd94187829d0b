// What to measure, in which order: cells (one group at one shape), and the points inside each. Pure; nothing
// is started.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "barriers/backend.hpp"
#include "barriers/words.hpp"
#include "src/results/not_measured.hpp"
#include "src/results/result.hpp"
#include "topology/grouping.hpp"

namespace mgsync {

// What the command asked for.
struct sweep_request {
  topology::device device = topology::device::host;
  std::vector<int> members;   // empty: the default counts
  std::vector<shape> shapes;  // empty: 1x32
  std::vector<backend_choice> backends;
  std::vector<std::string> placements = {"near"};
  std::vector<mgsync::load> loads = {mgsync::load{}};
  std::vector<std::uint32_t> work = {0};  // units of 1 us that each round works before the barrier
  std::vector<std::uint32_t> late = {0};  // microseconds that the last member works more
  int members_per_rank = 0;               // 0: all in one rank when there is one, else one each
  bool pin = true;
  bool per_node = false;  // every node by itself: a cell per node
  bool oversubscribe = false;
  std::string peer_memory;  // "", "ipc", "vmm"
  std::string mpi_threads;  // the thread level that MPI runs at; empty: MPI was not started
  bool with_cuda = true;    // this build can measure GPUs, not only plan for them
};

struct planned_point {
  backend_choice choice;
  mgsync::configuration configuration;
  mgsync::point point;
  std::string waived;  // why it is not even tried; empty: it is
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
  std::string impossible;          // why there is no such group; empty: there is
  bool over_quota = false;         // topology::grouping
};

struct plan {
  std::vector<cell> cells;
};

// A group that cannot be (more members than a node's ranks hold, a list placement that names too few), or not
// without
// --oversubscribe, is waived, with why: its cell has no members. Throws usage_error when no group can be, or
// a placement is no word of that kind.
plan make_plan(const sweep_request&, std::span<const topology::rank_view>);

// The member counts of a sweep that names none: powers of two and the largest for hosts, 1 to all for GPUs.
std::vector<int> default_members(topology::device, int largest);

// A cell's members and what goes on beside them, in lines for a plan: 64 members of them, or every one.
std::string description_of(const cell&, detail);

}  // namespace mgsync
