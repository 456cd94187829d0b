// Graphs of one kind of node in a chain: what a graph costs by its length and by what its nodes do, and what
// it costs to make one.
#pragma once

#include <string_view>
#include <utility>

#include "src/studies/launch/launches.hpp"

namespace mgsync::launch {

// What a node does. kernel: nothing, of one block of 32 threads. copy, set: 8 bytes on the GPU. conditional:
// an empty kernel inside an if-node, whose condition holds. host: calls a function that does nothing.
enum class node { kernel, copy, set, empty, conditional, host };
inline constexpr std::pair<node, std::string_view> node_words[] = {
    {node::kernel, "kernel"},           {node::copy, "copy"}, {node::set, "set"}, {node::empty, "empty"},
    {node::conditional, "conditional"}, {node::host, "host"}};

// A run launches the graph of `count` nodes, each waiting for the one before, and yields "total_us" (until
// the host has seen its end) and "call_us" (of the launch call); and, of the making of this graph,
// "instantiation_us" and "upload_us".
creation make_graph_nodes(node, int ordinal);

}  // namespace mgsync::launch
