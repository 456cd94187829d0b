// Counters that sum to zero, as DeepEP's first barrier has them: one is added to the own word of each pair
// and taken from the peer's, and none of one's own may stay above 0. Nothing is reset, and no number of a
// round is needed. Its polls are volatile, so that nothing is acquired; here they acquire, which costs
// nothing. Memory ordering: one system release before the additions, acquire polls.
#pragma once

#include "barriers/peers/form.hpp"

namespace mgsync::peers {

struct sum_to_zero : led_by_one<sum_to_zero> {
  static constexpr const char* name = "sum-to-zero";
  static constexpr unsigned lines = 1;
  MGSYNC_HD static constexpr std::uint32_t first(unsigned, unsigned, unsigned, std::uint32_t) { return 0; }

  template <class P, class M>
  MGSYNC_HD static bool exchange(P& p, M& memory, const position& at, std::uint32_t) {
    p.fence_release_system();
    bool ok = true;
    each_other(p, at, [&](unsigned other) {
      p.add_fenced_system(memory.word(at.member, own(0), other), 1);
      p.add_fenced_system(memory.word(other, own(0), at.member), 0u - 1u);
    });
    each_other(p, at, [&](unsigned other) {
      auto& mine = memory.word(at.member, own(0), other);
      ok = ok && p.wait_lane([&] { return static_cast<std::int32_t>(p.load_acquire_system(mine)) <= 0; });
    });
    return p.all(ok);
  }
};

}  // namespace mgsync::peers
