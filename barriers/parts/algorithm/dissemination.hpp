// Dissemination (Hensgen, Finkel and Manber 1988; Mellor-Crummey and Scott 1991), with radix - 1 partners a
// step: after step k each member knows of radix^(k+1) members. ceil(log_radix N) hops; no line has more than
// one writer. Memory ordering: every step is a system release to the partners and an acquire from the
// partners, so what any member wrote before is visible to all after the last step; the local arrival and
// release carry it to all blocks.
#pragma once

#include "barriers/parts/algorithm/local_arrival.hpp"

namespace mgsync { inline namespace v1 { namespace algorithm {

template <unsigned Radix>
struct dissemination {
  static_assert(Radix >= 2);
  static constexpr const char* name = "dissemination";

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
    bool ok = true;
    unsigned slot = 0;
    for (unsigned distance = 1; distance < at.members; distance *= Radix) {
      const unsigned partners = partners_at(at.members, distance);
      p.fence_release_system();
      p.for_each(partners, [&](unsigned j) {
        const unsigned to = (at.member + (j + 1) * distance) % at.members;
        p.store_fenced_system(memory.line(to, lines.step(slot + j)), epoch);
      });
      p.for_each(partners, [&](unsigned j) {
        ok = ok && p.wait_system(memory.line(at.member, lines.step(slot + j)), epoch);
      });
      if (!p.all(ok)) return false;
      slot += Radix - 1;
    }
    return true;
  }

  // Partners at this step: multiples of `distance` that are not the member itself again.
  MGSYNC_HD static unsigned partners_at(unsigned members, unsigned distance) {
    unsigned partners = 0;
    while (partners + 1 < Radix && (partners + 1) * distance < members) ++partners;
    return partners;
  }
};

}}}  // namespace mgsync::v1::algorithm
