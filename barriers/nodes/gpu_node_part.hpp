// What the kernels of one node take of a barrier over nodes: in GPU memory where a GPU's blocks meet, in host
// memory where they meet the proxies.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "barriers/nodes/leave_layout.hpp"
#include "barriers/parts/round_loop/kernel_barrier.hpp"

namespace mgsync::nodes {

// What a block saw of other nodes in a checked run; it lies behind the board, a line for each block.
struct seen_across {
  static constexpr std::uint32_t nothing = 0, arrival = 1, sum = 2;

  std::uint32_t observations, violations;
  // The first violation.
  std::uint32_t what, round;
  std::uint32_t left;  // arrival: the member, by its number in the group, that left without this block
  std::uint32_t expected, seen;
};

struct node_part {
  leave_layout board;
  unsigned node = 0, proxies = 1;             // the node's number, and how many proxies speak for it
  std::vector<unsigned> members;              // of the node, by their numbers in the group
  unsigned members_in_all = 0;                // of the group
  std::vector<std::uint32_t*> flags, leaves;  // host memory, of each member of the node

  unsigned seen_line(unsigned block) const { return board.lines() + block; }
  unsigned leave_lines() const { return board.lines() + board.blocks; }
};

// The barrier of a node's GPUs, which meet its proxies in every round. Collective over the ranks of the node,
// whose members and session the request has.
creation make_node_part(const round_loop::flag_barrier_request&, std::string chosen, const node_part&);

}  // namespace mgsync::nodes
