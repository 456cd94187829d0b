// Flags by block 0, as TensorRT-LLM's multi-GPU barrier has them: a thread of block 0 for each member writes
// the round's number there, and every block polls the flags of all members here. In use the blocks of a
// member have met before; here block 0 waits for them at a counter. Two flags in turn, polled for equality.
// Memory ordering: local acquire of the counter, one system release before the flags, acquire polls by every
// block.
#pragma once

#include "barriers/peers/form.hpp"

namespace mgsync::peers {

struct flags_of_block_0 : led_by_one<flags_of_block_0> {
  static constexpr const char* name = "flags-of-block-0";
  static constexpr unsigned lines = 2;
  MGSYNC_HD static constexpr std::uint32_t first(unsigned, unsigned, unsigned, std::uint32_t start) {
    return start;
  }

  template <class P, class M>
  MGSYNC_HD static bool arrive_and_wait(P& p, M& memory, const position& at, std::uint32_t epoch) {
    p.sync();
    bool ok = true;
    if (p.in_team()) {
      const unsigned line = own(epoch & 1);
      ok = meet_at_block_0(p, memory, at, epoch);
      if (ok && at.block == 0) {
        p.fence_release_system();
        each_member(p, at,
                    [&](unsigned to) { p.store_fenced_system(memory.word(to, line, at.member), epoch); });
      }
      each_member(p, at, [&](unsigned from) {
        auto& flag = memory.word(at.member, line, from);
        ok = ok && p.wait_lane([&] { return p.load_acquire_system(flag) == epoch; });
      });
      ok = p.all(ok);
    }
    return p.sync_and(ok);
  }

 private:
  // Block 0 leaves it once all blocks of its member have come; the others at once.
  template <class P, class M>
  MGSYNC_HD static bool meet_at_block_0(P& p, M& memory, const position& at, std::uint32_t epoch) {
    if (at.blocks == 1) return true;
    auto& arrivals = memory.line(at.member, layout{at.members}.arrivals());
    bool ok = true;
    if (p.leader()) {
      p.add_acq_rel_local(arrivals, 1);
      if (at.block == 0) ok = p.wait_local(arrivals, at.blocks * epoch);
    }
    ok = p.all(ok);
    p.sync_team();  // only the leader acquired the counter, but every lane releases by itself
    return ok;
  }
};

}  // namespace mgsync::peers
