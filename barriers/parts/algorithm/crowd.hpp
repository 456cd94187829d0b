// Crowd: every block tells every member by itself, adding to a counter in each member's memory, and polls its
// own member's counter. All blocks do one system fence and one hop at the same time, and there is no step
// inside a member. On an idle machine the fences of many SMs delay each other (docs/gpu-budget.md, 1). While
// the barrier's own SMs have many stores in flight, every operation of a block waits for its SM's backlog,
// and the relay's steps, which follow one another, cost more. Memory ordering: block barrier, one system
// release fence per block, acquire polls.
#pragma once

#include "barriers/parts/algorithm/layout.hpp"

namespace mgsync { inline namespace v1 { namespace algorithm {

struct crowd {
  static constexpr const char* name = "crowd";

  template <class P, class M>
  MGSYNC_HD static bool arrive_and_wait(P& p, M& memory, const position& at, std::uint32_t epoch) {
    const layout lines{at.members};
    p.sync();
    bool ok = true;
    if (p.in_team()) {
      p.fence_release_system();
      p.for_each(at.members, [&](unsigned to) { p.add_fenced_system(memory.line(to, lines.crowd()), 1); });
      if (p.leader())
        ok = p.wait_system(memory.line(at.member, lines.crowd()), at.members * at.blocks * epoch);
      ok = p.all(ok);
    }
    return p.sync_and(ok);
  }
};

}}}  // namespace mgsync::v1::algorithm
