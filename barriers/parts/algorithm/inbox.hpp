// Inbox: the last block of each member writes the epoch into its slot at every member; every block polls the
// inbox of its own member. One local step, one hop, no release step: the least latency while few blocks poll.
// Memory ordering: what any thread of any member wrote before is visible after to all threads of all members
// (local acquire-release counter, one system release fence per member, system acquire polls).
#pragma once

#include "barriers/parts/algorithm/local_arrival.hpp"

namespace mgsync { inline namespace v1 { namespace algorithm {

struct inbox {
  static constexpr const char* name = "inbox";

  template <class P, class M>
  MGSYNC_HD static bool arrive_and_wait(P& p, M& memory, const position& at, std::uint32_t epoch) {
    const layout lines{at.members};
    p.sync();
    bool ok = true;
    if (p.in_team()) {
      if (arrive_locally(p, memory, at, epoch)) {
        p.fence_release_system();
        // A member alone has no peer, but its other blocks poll its own slot.
        p.for_each(at.members, [&](unsigned i) {
          const unsigned to = (at.member + i) % at.members;
          if (i != 0 || at.blocks > 1) p.store_fenced_system(memory.line(to, lines.inbox(at.member)), epoch);
        });
      }
      p.for_each(at.members, [&](unsigned i) {
        const unsigned from = (at.member + at.members - i) % at.members;  // in the order they were sent
        if (i == 0 && at.blocks == 1) return;
        ok = ok && p.wait_system(memory.line(at.member, lines.inbox(from)), epoch);
      });
      ok = p.all(ok);
    }
    return p.sync_and(ok);
  }
};

}}}  // namespace mgsync::v1::algorithm
