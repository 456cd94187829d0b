// A group by its nodes: who is on which, and which ranks speak for them. Alike on all ranks, but for which
// node is the caller's own.
#pragma once

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "topology/group.hpp"

namespace mgsync::nodes {

struct node_group {
  struct node {
    std::string host;
    std::vector<unsigned> members;  // indices in the group, in its order
    std::vector<int> ranks;         // in the job, ascending

    std::string in_words() const {
      return fmt::format("node {} (rank{} {})", host, ranks.size() == 1 ? "" : "s", fmt::join(ranks, ", "));
    }
  };
  std::vector<node> nodes;
  std::vector<unsigned> node_of_member;
  unsigned own = 0;  // the caller's node

  const node& here() const { return nodes[own]; }
};

inline node_group by_nodes(const topology::group& group, int rank) {
  node_group all;
  for (const auto& host : topology::hosts_of(group)) all.nodes.push_back({host, {}, {}});
  for (unsigned m = 0; m < group.members.size(); ++m) {
    const auto& member = group.members[m];
    const auto at = std::ranges::find(all.nodes, member.host, &node_group::node::host);
    at->members.push_back(m);
    if (std::ranges::find(at->ranks, member.rank) == at->ranks.end()) at->ranks.push_back(member.rank);
    all.node_of_member.push_back(static_cast<unsigned>(at - all.nodes.begin()));
    if (member.rank == rank) all.own = all.node_of_member.back();
  }
  for (auto& node : all.nodes) std::ranges::sort(node.ranks);
  return all;
}

// Why the ranks of this group form no rails: their n-th ranks must stand for as many members on each node.
inline std::string why_no_rails(const topology::group& group) {
  const auto all = by_nodes(group, -1);
  const auto ranks = all.nodes.front().ranks.size(), members = all.nodes.front().members.size();
  for (const auto& node : all.nodes) {
    if (node.ranks.size() != ranks || node.members.size() != members || members % ranks != 0)
      return "rails need as many ranks, of as many members, on each node: the leader form does not";
    for (std::size_t i = 0; i < members; ++i)
      if (group.members[node.members[i]].rank != node.ranks[i / (members / ranks)])
        return "rails need each rank's members one after the other: the leader form does not";
  }
  return {};
}

}  // namespace mgsync::nodes
