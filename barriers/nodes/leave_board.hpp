// How workers and proxies of one node tell each other, in a checked run, who has left which round: a worker
// that leaves says so, its proxy takes that to another node, and the proxy there writes it down where workers
// that have not arrived yet look. Beside it the word that each member gives the proxies to carry in a round,
// and the greatest one that came back.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "barriers/nodes/proxy_network.hpp"
#include "barriers/parts/algorithm/host_policy.hpp"
#include "barriers/parts/round_loop/phase_check.hpp"

namespace mgsync::nodes {

// What a member gives in a round: fresh in every round, and the greatest is another member's each time.
inline std::uint32_t word_of(std::uint32_t epoch, unsigned member) { return round_loop::mix(epoch, member); }

// The board of one node, in parts of shared memory, one per member of the node. `proxies` and `blocks`: of
// the node, and of a member.
class leave_board {
 public:
  leave_board(std::uint32_t* const* parts, unsigned blocks, unsigned nodes)
      : memory_{parts}, blocks_(blocks), nodes_(nodes) {}

  static unsigned lines(unsigned blocks, unsigned nodes) { return 4 + blocks + nodes; }
  // Before the first round, by the thread of each member. `before`: the phase before the first.
  void start(unsigned member, std::uint32_t before) const {
    for (unsigned n = 0; n < nodes_; ++n) store(heard(member, n), pack({before, 0}));
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
    for (unsigned n = 0; n < nodes_; ++n) {
      const auto told = ref(heard(home, n)).load(std::memory_order_acquire);
      if (static_cast<std::int32_t>(static_cast<std::uint32_t>(told) - round) >= 0)
        return static_cast<unsigned>(told >> 32);
    }
    return {};
  }

  // The word that a member gives, and what its proxy brings back: two of each, in turn, since a proxy may let
  // its members go on while another proxy of the node still reads. Plain memory: the barrier orders it.
  std::uint32_t& given(unsigned member, std::uint32_t epoch) const { return memory_.line(member, epoch % 2); }
  std::uint32_t& carried(unsigned home, std::uint32_t epoch) const {
    return memory_.line(home, 2 + epoch % 2);
  }

 private:
  static std::uint64_t pack(const leave& one) { return std::uint64_t{one.member} << 32 | one.round; }
  static std::atomic_ref<std::uint64_t> ref(std::uint64_t& word) { return std::atomic_ref(word); }
  static void store(std::uint64_t& word, std::uint64_t value) {
    ref(word).store(value, std::memory_order_release);
  }
  std::uint64_t& said(unsigned member, unsigned block) const { return memory_.pair_line(member, 4 + block); }
  std::uint64_t& heard(unsigned home, unsigned node) const {
    return memory_.pair_line(home, 4 + blocks_ + node);
  }

  algorithm::host_lines memory_;
  unsigned blocks_, nodes_;
};

}  // namespace mgsync::nodes
