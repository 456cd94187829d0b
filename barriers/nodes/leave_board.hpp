// How workers and proxies of one node tell each other, in a checked run, who has left which round: a worker
// that leaves says so, its proxy takes that to another node, and the proxy there writes it down where workers
// that have not arrived yet look. Beside it the word that each member gives the proxies to carry in a round,
// and the greatest one that came back.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "barriers/nodes/leave_layout.hpp"
#include "barriers/nodes/proxy_network.hpp"
#include "barriers/parts/algorithm/host_policy.hpp"

namespace mgsync::nodes {

// The board of one node, in parts of shared memory, one per member of the node. `proxies` and `blocks`: of
// the node, and of a member.
class leave_board {
 public:
  leave_board(std::uint32_t* const* parts, unsigned blocks, unsigned nodes)
      : memory_{parts}, at_{blocks, nodes} {}

  // Before the first round, by the thread of each member. `before`: the phase before the first.
  void start(unsigned member, std::uint32_t before) const {
    for (unsigned n = 0; n < at_.nodes; ++n) store(heard(member, n), pack({before, 0}));
  }

  // By a worker: it has left `round`; a rank of `node` is to hear of it.
  void say(unsigned member, unsigned block, std::uint32_t round, unsigned node) const {
    store(said(member, block), std::uint64_t{node + 1} << 32 | round);
  }
  // By the proxy: calls f(round, node) if this worker has left another round since `seen`, which it updates.
  template <class F>
  void look(unsigned member, unsigned block, std::uint64_t& seen, F f) const {
    const auto now = ref(said(member, block)).load(std::memory_order_acquire);
    if (now == seen) return;
    seen = now;
    f(static_cast<std::uint32_t>(now), static_cast<unsigned>(now >> 32) - 1);
  }
  // By the proxy whose first member is `home`: what it heard from a node.
  void note(unsigned home, unsigned node, const leave& one) const { store(heard(home, node), pack(one)); }
  // By a worker: a member that another node's proxy said has left `round` or a later one.
  std::optional<unsigned> who_left(unsigned home, std::uint32_t round) const {
    for (unsigned n = 0; n < at_.nodes; ++n) {
      const auto told = ref(heard(home, n)).load(std::memory_order_acquire);
      if (static_cast<std::int32_t>(static_cast<std::uint32_t>(told) - round) >= 0)
        return static_cast<unsigned>(told >> 32);
    }
    return {};
  }

  // Plain memory: the barrier orders it.
  std::uint32_t& given(unsigned member, std::uint32_t epoch) const {
    return memory_.line(member, at_.given(epoch));
  }
  std::uint32_t& carried(unsigned home, std::uint32_t epoch) const {
    return memory_.line(home, at_.carried(epoch));
  }

 private:
  static std::uint64_t pack(const leave& one) { return std::uint64_t{one.member} << 32 | one.round; }
  static std::atomic_ref<std::uint64_t> ref(std::uint64_t& word) { return std::atomic_ref(word); }
  static void store(std::uint64_t& word, std::uint64_t value) {
    ref(word).store(value, std::memory_order_release);
  }
  std::uint64_t& said(unsigned member, unsigned block) const {
    return memory_.pair_line(member, at_.said(block));
  }
  std::uint64_t& heard(unsigned home, unsigned node) const {
    return memory_.pair_line(home, at_.heard(node));
  }

  algorithm::host_lines memory_;
  leave_layout at_;
};

}  // namespace mgsync::nodes
