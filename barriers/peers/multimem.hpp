// Multimem: one addition to a multicast address arrives at the counter of every member, as in NCCL's and
// MSCCL++'s barriers where a switch multiplies it; each polls its own. The counter only grows. (PyTorch's
// form takes the sum off again after a poll for equality, which a fast member's next addition can spoil.)
// Needs memory that is bound to a multicast object: memory.add_everywhere(p, index) adds one to that line of
// every member. Memory ordering: one system release before the addition, acquire polls.
#pragma once

#include "barriers/peers/form.hpp"

namespace mgsync::peers {

struct multimem : led_by_one<multimem> {
  static constexpr const char* name = "multimem";
  static constexpr unsigned lines = 1;
  MGSYNC_HD static constexpr std::uint32_t first(unsigned, unsigned, unsigned members, std::uint32_t start) {
    return algorithm::counter_start(members, start);
  }

  template <class P, class M>
  MGSYNC_HD static bool exchange(P& p, M& memory, const position& at, std::uint32_t epoch) {
    p.fence_release_system();
    bool ok = true;
    if (p.leader()) {
      memory.add_everywhere(p, own(0));
      ok = p.wait_system(memory.word(at.member, own(0), 0), at.members * epoch);
    }
    return p.all(ok);
  }
};

}  // namespace mgsync::peers
