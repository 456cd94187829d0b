// Pull: a member writes the round's number into a flag of its own, and reads those of all others where they
// are: one store, and every poll crosses the link. The number only grows. Memory ordering: one system release
// before the flag, acquire polls.
#pragma once

#include "barriers/peers/form.hpp"

namespace mgsync::peers {

struct pull : led_by_one<pull> {
  static constexpr const char* name = "pull";
  static constexpr unsigned lines = 1;
  MGSYNC_HD static constexpr std::uint32_t first(unsigned, unsigned, unsigned, std::uint32_t start) {
    return start;
  }

  template <class P, class M>
  MGSYNC_HD static bool exchange(P& p, M& memory, const position& at, std::uint32_t epoch) {
    p.fence_release_system();
    if (p.leader()) p.store_fenced_system(memory.word(at.member, own(0), 0), epoch);
    bool ok = true;
    each_other(p, at, [&](unsigned from) { ok = ok && p.wait_system(memory.word(from, own(0), 0), epoch); });
    return p.all(ok);
  }
};

}  // namespace mgsync::peers
