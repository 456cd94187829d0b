// How the proxies of nodes that share no memory learn that all nodes have come: dissemination over ceil(log2
// nodes) steps (across_nodes.hpp says what is ordered). Host code alone, C++17, standard library only.
#pragma once

#include <cstdint>

namespace mgsync { inline namespace v1 { namespace algorithm { namespace across_nodes {

inline constexpr unsigned max_steps = 16;  // 65,536 nodes

// What one node says to another in a step.
struct message {
  std::uint64_t epoch;
  std::uint64_t carried;  // the greatest word of the nodes that the sender knows of
};

// What came from one source in one step. A source may be one epoch ahead, never two: so what it carries has
// two places, in turn.
struct cell {
  std::uint64_t epoch;
  std::uint64_t carried[2];

  void take(const message& m) {
    if (m.epoch <= epoch) return;  // doubled, or overtaken
    carried[m.epoch % 2] = m.carried;
    epoch = m.epoch;
  }
};

// One node's part of it, and what it knows of the others. Network is what takes messages to the other nodes:
//   send(node, step, message)   returns at once; the message arrives some time later
//   take(step, f)               calls f(message) for whatever has come of this step from its source
//   wait_until(condition)       polls it, bounded; false: given up
class node_exchange {
 public:
  node_exchange(unsigned node, unsigned nodes, std::uint64_t before_first) : node_(node), nodes_(nodes) {
    for (auto& one : cells_) one = {before_first, {0, 0}};
  }

  // Once all members of this node have come. `given()` is its word; `carry(word)` is called with the greatest
  // one of all nodes, when all have come.
  template <class Network, class Given, class Carry>
  bool exchange(Network& network, std::uint64_t epoch, Given given, Carry carry) {
    message known{epoch, given()};
    unsigned step = 0;
    for (unsigned distance = 1; distance < nodes_; distance *= 2, ++step) {
      network.send((node_ + distance) % nodes_, step, known);
      if (!await_source(network, step, epoch)) return false;
      const auto theirs = cells_[step].carried[epoch % 2];
      if (theirs > known.carried) known.carried = theirs;
    }
    carry(known.carried);
    return true;
  }

 protected:
  template <class Network>
  bool await_source(Network& network, unsigned step, std::uint64_t epoch) {
    auto& from = cells_[step];
    return network.wait_until([&] {
      network.take(step, [&](const message& m) { from.take(m); });
      return from.epoch >= epoch;
    });
  }

  unsigned node_, nodes_;
  cell cells_[max_steps];
};

}}}}  // namespace mgsync::v1::algorithm::across_nodes
