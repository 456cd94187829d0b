// What the threads of one process share of a barrier over nodes: its node, and the memory in which workers
// and proxies of the node meet.
#pragma once

#include <cstdint>
#include <vector>

#include "barriers/nodes/leave_board.hpp"
#include "barriers/nodes/node_group.hpp"
#include "barriers/parts/algorithm/across_nodes.hpp"

namespace mgsync::nodes {

enum class form { leader, rail };

struct node_place {
  node_group group;
  unsigned blocks = 1, proxies = 1;
  std::vector<std::uint32_t*> flags;   // of this node's members
  std::vector<std::uint32_t*> leaves;  // the same
  bool yields = false;

  unsigned members() const { return static_cast<unsigned>(flags.size()); }
  unsigned home_of(unsigned proxy) const {
    return algorithm::across_nodes::first_member_of(proxy, proxies, members());
  }
  leave_board board() const { return {leaves.data(), blocks, static_cast<unsigned>(group.nodes.size())}; }
  // Which proxy of the node this rank would be; one that does not speak has a number of `proxies` or more.
  unsigned number_of(int rank) const {
    const auto& ranks = group.here().ranks;
    return static_cast<unsigned>(std::ranges::find(ranks, rank) - ranks.begin());
  }
};

}  // namespace mgsync::nodes
