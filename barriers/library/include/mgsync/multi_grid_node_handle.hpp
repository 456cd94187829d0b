// What a kernel is passed to join a grid over the GPUs of several nodes: made by mgsync::multi_grid_nodes.
// Plain data, C++17.
#pragma once

#include <mgsync/multi_grid_handle.hpp>

namespace mgsync { inline namespace v1 {

// The handle of the GPU's own node, and the words in which the GPU meets the thread that speaks for it. Not
// derived from that handle: a group made of a node's alone is no barrier over nodes.
struct multi_grid_node_handle {
  multi_grid_handle node;                 // the first: the policy finds the others by its address
  std::uint32_t* come = nullptr;          // in host memory: the epoch that this GPU came to
  const std::uint32_t* let_go = nullptr;  // in host memory: the epoch that it may leave
  std::uint32_t* spoken = nullptr;        // in this GPU's memory: the last epoch that a block spoke for it
  std::uint32_t first_grid = 0;           // of the node, among all grids
  std::uint32_t all_grids = 0;            // of all nodes
};

}}  // namespace mgsync::v1
