// Pull dissemination: in every step a member announces the epoch in one line of its own, and reads the lines
// of its radix - 1 partners. It takes one store per step, whatever the radix, and so fewer than
// dissemination. On cache-coherent hosts, where a line that many read costs its writer nothing more, it is
// the fastest from five members on. Every step has two lines, used alternately, so that nobody writes a line
// that slower members still poll. Not for peers over a link, which every poll would cross. Memory ordering:
// every step is a system release of the member's own line and an acquire of the partners' lines, so what any
// member wrote before is visible to all after the last step; the local arrival and release pass it on to all
// blocks.
#pragma once

#include "barriers/parts/algorithm/local_arrival.hpp"

namespace mgsync { inline namespace v1 { namespace algorithm {

template <unsigned Radix>
struct pull_dissemination {
  static_assert(Radix >= 2);
  static constexpr const char* name = "pull-dissemination";

  template <class P, class M>
  MGSYNC_HD static bool arrive_and_wait(P& p, M& memory, const position& at, std::uint32_t epoch) {
    p.sync();
    bool ok = true;
    if (p.in_team()) {
      const bool last = arrive_locally(p, memory, at, epoch);
      if (last) ok = exchange(p, memory, at, epoch);
      if (ok) ok = release_locally(p, memory, at, epoch, last);
    }
    return p.sync_and(ok);
  }

  template <class P, class M>
  MGSYNC_HD static bool exchange(P& p, M& memory, const position& at, std::uint32_t epoch) {
    const layout lines{at.members};
    unsigned step = 0;
    for (unsigned distance = 1; distance < at.members; distance *= Radix, ++step) {
      const unsigned line = lines.announcement(step, epoch);
      p.fence_release_system();
      if (p.leader()) p.store_fenced_system(memory.line(at.member, line), epoch);
      bool ok = true;
      p.for_each(Radix - 1, [&](unsigned j) {
        const unsigned ahead = (j + 1) * distance;
        if (ahead < at.members)
          ok = ok && p.wait_system(memory.line((at.member + ahead) % at.members, line), epoch);
      });
      if (!p.all(ok)) return false;
    }
    return true;
  }
};

}}}  // namespace mgsync::v1::algorithm
