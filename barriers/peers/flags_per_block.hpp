// Flags per block, as vLLM's all-reduce has them (FlashInfer and SGLang have the same): a thread for each
// member writes the round's number into its flag there, and polls the flag that this member writes here,
// until it is equal. Two flags in turn: a fast member's next number does not overwrite what a slow one still
// waits for. In use block b of every member meets block b of the others only; equal_blocks is that.
// Memory ordering: the middle barrier's, a release before the flags and polls with acquire; the first one's
// (Ordered = false) has neither.
#pragma once

#include "barriers/peers/form.hpp"

namespace mgsync::peers {

// The exchange over two lines of flags, the first of which is `line`.
template <bool Ordered, class P, class M>
MGSYNC_HD bool exchange_flags(P& p, M& memory, const position& at, std::uint32_t epoch, unsigned line) {
  line += epoch & 1;
  if (Ordered) p.fence_release_system();
  bool ok = true;
  each_member(p, at, [&](unsigned to) { p.store_fenced_system(memory.word(to, line, at.member), epoch); });
  each_member(p, at, [&](unsigned from) {
    auto& flag = memory.word(at.member, line, from);
    ok = ok && p.wait_lane([&] {
      return (Ordered ? p.load_acquire_system(flag) : p.load_relaxed_system(flag)) == epoch;
    });
  });
  return p.all(ok);
}

template <bool Ordered>
struct flags_per_block_of : led_by_one<flags_per_block_of<Ordered>> {
  static constexpr const char* name = Ordered ? "flags-per-block" : "flags-unordered";
  static constexpr unsigned lines = 2;
  MGSYNC_HD static constexpr std::uint32_t first(unsigned, unsigned, unsigned, std::uint32_t start) {
    return start;
  }

  template <class P, class M>
  MGSYNC_HD static bool exchange(P& p, M& memory, const position& at, std::uint32_t epoch) {
    return exchange_flags<Ordered>(p, memory, at, epoch, flags_per_block_of::own(0));
  }
};
using flags_per_block = flags_per_block_of<true>;
using flags_unordered = flags_per_block_of<false>;

// As it is in use: each block by itself, with two lines of its own.
struct equal_blocks {
  static constexpr const char* name = "equal-blocks";

  template <class P, class M>
  MGSYNC_HD static bool arrive_and_wait(P& p, M& memory, const position& at, std::uint32_t epoch) {
    p.sync();
    bool ok = true;
    if (p.in_team()) ok = exchange_flags<true>(p, memory, at, epoch, 2 * at.block);
    return p.sync_and(ok);
  }
};

}  // namespace mgsync::peers
