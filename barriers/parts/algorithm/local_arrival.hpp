// The blocks of one member arrive at a counter; the last one goes on to speak for the member.
#pragma once

#include "barriers/parts/algorithm/layout.hpp"

namespace mgsync { inline namespace v1 { namespace algorithm {

// Called by the team of every block. True in the whole team of exactly one block: the last to arrive, after
// which all that the member's blocks wrote before arriving is visible to it (acquire-release chain on the
// counter).
template <class P, class M>
MGSYNC_HD bool arrive_locally(P& p, M& memory, const position& at, std::uint32_t epoch) {
  if (at.blocks == 1) return true;
  bool last = false;
  if (p.leader()) {
    const layout lines{at.members};
    const std::uint32_t before = p.add_acq_rel_local(memory.line(at.member, lines.arrivals()), 1);
    last = before + 1 == at.blocks * epoch;
  }
  last = p.broadcast(last);
  p.sync_team();  // only the leader acquired the counter, but every lane releases by itself
  return last;
}

// The last block lets the others of its member go; they wait for it.
template <class P, class M>
MGSYNC_HD bool release_locally(P& p, M& memory, const position& at, std::uint32_t epoch, bool last) {
  if (at.blocks == 1) return true;
  const layout lines{at.members};
  bool ok = true;
  if (p.leader()) {
    if (last) p.store_release_local(memory.line(at.member, lines.release()), epoch);
    else ok = p.wait_local(memory.line(at.member, lines.release()), epoch);
  }
  return p.all(ok);
}

}}}  // namespace mgsync::v1::algorithm
