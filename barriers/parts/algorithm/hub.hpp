// Hub: the last block of each member exchanges epochs with all members, then releases one local line that its
// other blocks poll. One step more than inbox, but one poller per member on the inbox: better with many
// blocks. Memory ordering: as inbox; the local release carries what the last block acquired.
#pragma once

#include "barriers/parts/algorithm/local_arrival.hpp"

namespace mgsync { inline namespace v1 { namespace algorithm {

struct hub {
  static constexpr const char* name = "hub";

  template <class P, class M>
  MGSYNC_HD static bool arrive_and_wait(P& p, M& memory, const position& at, std::uint32_t epoch) {
    p.sync();
    bool ok = true;
    if (p.in_team()) {
      const bool last = arrive_locally(p, memory, at, epoch);
      if (last) ok = exchange(p, memory, at, epoch);
      // After a give-up nobody is released: the other blocks give up by themselves.
      if (ok) ok = release_locally(p, memory, at, epoch, last);
    }
    return p.sync_and(ok);
  }

  // Exchanges epochs among all members; called by one team of each.
  template <class P, class M>
  MGSYNC_HD static bool exchange(P& p, M& memory, const position& at, std::uint32_t epoch) {
    const layout lines{at.members};
    p.fence_release_system();
    p.for_each(at.members - 1, [&](unsigned i) {
      p.store_fenced_system(memory.line((at.member + i + 1) % at.members, lines.inbox(at.member)), epoch);
    });
    bool ok = true;
    p.for_each(at.members - 1, [&](unsigned i) {
      const unsigned from = (at.member + at.members - i - 1) % at.members;  // in the order they were sent
      ok = ok && p.wait_system(memory.line(at.member, lines.inbox(from)), epoch);
    });
    return p.all(ok);
  }
};

}}}  // namespace mgsync::v1::algorithm
