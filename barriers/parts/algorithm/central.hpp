// Central: the last block of each member adds to one counter on member 0; whoever completes it writes the
// epoch into the release line of every member. The textbook barrier, for comparison: 2 hops and one contended
// line. Memory ordering: acquire-release additions on the system counter, one system release fence, acquire
// polls.
#pragma once

#include "barriers/parts/algorithm/local_arrival.hpp"

namespace mgsync { inline namespace v1 { namespace algorithm {

struct central {
  static constexpr const char* name = "central";

  template <class P, class M>
  MGSYNC_HD static bool arrive_and_wait(P& p, M& memory, const position& at, std::uint32_t epoch) {
    const layout lines{at.members};
    p.sync();
    bool ok = true;
    if (p.in_team()) {
      if (arrive_locally(p, memory, at, epoch)) {
        bool completes = false;
        if (p.leader())
          completes = p.add_acq_rel_system(memory.line(0, lines.center()), 1) + 1 == at.members * epoch;
        if (p.broadcast(completes)) {
          p.sync_team();  // only the leader acquired the counter
          p.fence_release_system();
          p.for_each(at.members,
                     [&](unsigned to) { p.store_fenced_system(memory.line(to, lines.release()), epoch); });
        }
      }
      if (p.leader()) ok = p.wait_system(memory.line(at.member, lines.release()), epoch);
      ok = p.all(ok);
    }
    return p.sync_and(ok);
  }
};

}}}  // namespace mgsync::v1::algorithm
