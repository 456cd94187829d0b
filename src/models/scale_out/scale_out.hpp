// A barrier over many nodes of several GPUs, simulated message by message: what it would take where there is
// no such machine to measure. The exchange between nodes is that of
// barriers/parts/algorithm/across_nodes.hpp.
//
//   simulated_us({.nodes = 256, .gpus = 8, .how = form::leader, .radix = 2}, network, in_node, 100, 1)
#pragma once

#include <cstdint>

namespace mgsync::scale_out {

// leader: one proxy for each node. rail: one for each GPU, which meets those of its number in the other
// nodes; inside a node every proxy asks all GPUs. flat: one for each GPU, which meets all others of all nodes
// and knows of no node.
enum class form { leader, rail, flat };

struct cluster {
  unsigned nodes = 2, gpus = 8;
  form how = form::leader;
  unsigned radix = 2;  // radix - 1 partners in a step
};

// Times in us.
struct network_times {
  double latency = 1;  // of a message, from the send to its being seen
  double gap = 0.1;    // until a proxy can send or take the next one
  double jitter = 0;   // what a message takes longer: exponentially distributed, this on average
};
struct node_times {
  double arrive = 2;  // until the proxy knows that its node's GPUs have come
  double leave = 2;   // from the proxy's word until its GPUs have left
  double hop = 0.5;   // a message between two proxies of one node
  double slow = 0;    // what the first node takes longer in each round
};

// Mean of a round, over so many of them back to back, of all GPUs together. Pure: the same for the same seed.
double simulated_us(const cluster&, const network_times&, const node_times&, unsigned rounds,
                    std::uint64_t seed);

}  // namespace mgsync::scale_out
