// A counter for each pair of members, as MSCCL++'s semaphores: one is added at every peer, and each of one's
// own is polled until it has come to the round. Nothing is reset. Its counters have 64 bits, these have 32
// and may wrap. Memory ordering: one system release before the additions, acquire polls.
#pragma once

#include "barriers/peers/form.hpp"

namespace mgsync::peers {

struct counter_per_peer : led_by_one<counter_per_peer> {
  static constexpr const char* name = "counter-per-peer";
  static constexpr unsigned lines = 1;
  MGSYNC_HD static constexpr std::uint32_t first(unsigned, unsigned, unsigned, std::uint32_t start) {
    return start;
  }

  template <class P, class M>
  MGSYNC_HD static bool exchange(P& p, M& memory, const position& at, std::uint32_t epoch) {
    p.fence_release_system();
    each_other(p, at, [&](unsigned to) { p.add_fenced_system(memory.word(to, own(0), at.member), 1); });
    bool ok = true;
    each_other(p, at,
               [&](unsigned from) { ok = ok && p.wait_system(memory.word(at.member, own(0), from), epoch); });
    return p.all(ok);
  }
};

}  // namespace mgsync::peers
