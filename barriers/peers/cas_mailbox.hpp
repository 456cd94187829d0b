// A mailbox for each pair of members, as PyTorch's symmetric memory has them: compare and swap from 0 to 1 at
// the peer, and from 1 to 0 on one's own, each again and again until it succeeds. Nothing counts rounds: the
// sender waits until the last letter was taken. Every poll is an atomic operation.
// Memory ordering: one system release before the letters, acquire as a letter is taken.
#pragma once

#include "barriers/peers/form.hpp"

namespace mgsync::peers {

struct cas_mailbox : led_by_one<cas_mailbox> {
  static constexpr const char* name = "cas-mailbox";
  static constexpr unsigned lines = 1;
  MGSYNC_HD static constexpr std::uint32_t first(unsigned, unsigned, unsigned, std::uint32_t) { return 0; }

  template <class P, class M>
  MGSYNC_HD static bool exchange(P& p, M& memory, const position& at, std::uint32_t) {
    p.fence_release_system();
    bool ok = true;
    each_other(p, at, [&](unsigned to) {
      auto& theirs = memory.word(to, own(0), at.member);
      ok = ok && p.wait_lane([&] { return p.swap_fenced_system(theirs, 0, 1); });
    });
    each_other(p, at, [&](unsigned from) {
      auto& mine = memory.word(at.member, own(0), from);
      ok = ok && p.wait_lane([&] { return p.swap_acquire_system(mine, 1, 0); });
    });
    return p.all(ok);
  }
};

}  // namespace mgsync::peers
