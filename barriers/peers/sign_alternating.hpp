// A counter whose sign alternates, as DeepEP's later barrier has it: every member adds one to a counter at
// every member, which is complete at their number; the next time the counter is used, one is taken off, and
// it is complete at 0. Two counters in turn, so that a fast member's next addition goes to the other one.
// Memory ordering: one system release before the additions, acquire polls.
#pragma once

#include "barriers/peers/form.hpp"

namespace mgsync::peers {

struct sign_alternating : led_by_one<sign_alternating> {
  static constexpr const char* name = "sign-alternating";
  static constexpr unsigned lines = 2;
  MGSYNC_HD static constexpr bool adds(std::uint32_t epoch) { return (epoch & 2) == 0; }
  MGSYNC_HD static constexpr std::uint32_t complete(std::uint32_t epoch, unsigned members) {
    return adds(epoch) ? members : 0;
  }
  MGSYNC_HD static constexpr std::uint32_t first(unsigned line, unsigned, unsigned members,
                                                 std::uint32_t start) {
    const std::uint32_t last_use = (start & 1) == line ? start : start - 1;
    return complete(last_use, members);
  }

  template <class P, class M>
  MGSYNC_HD static bool exchange(P& p, M& memory, const position& at, std::uint32_t epoch) {
    const unsigned line = own(epoch & 1);
    p.fence_release_system();
    each_member(p, at, [&](unsigned to) {
      p.add_fenced_system(memory.word(to, line, 0), adds(epoch) ? 1u : 0u - 1u);
    });
    bool ok = true;
    auto& mine = memory.word(at.member, line, 0);
    if (p.leader())
      ok = p.wait_lane([&] { return p.load_acquire_system(mine) == complete(epoch, at.members); });
    return p.all(ok);
  }
};

}  // namespace mgsync::peers
