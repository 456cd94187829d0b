// A flag of three states, as the fused all-reduce of TensorRT-LLM and FlashInfer has it: 0, 1, 2 and 0 again,
// written to every member; whoever still reads the state of the round before waits. A member may be one round
// ahead, so its flag shows this state or the next, and a third state tells both from the last. One flag
// serves all rounds.
// The state is counted from the first epoch of all barriers here, which 2^32 rounds take to come round; the
// projects keep it in memory between launches. Memory ordering: one system release before the flags, acquire
// polls.
#pragma once

#include "barriers/peers/form.hpp"

namespace mgsync::peers {

struct three_state : led_by_one<three_state> {
  static constexpr const char* name = "three-state";
  static constexpr unsigned lines = 1;
  MGSYNC_HD static constexpr std::uint32_t state(std::uint32_t epoch) {
    return (epoch - algorithm::first_gpu_epoch) % 3;
  }
  MGSYNC_HD static constexpr std::uint32_t first(unsigned, unsigned, unsigned, std::uint32_t start) {
    return state(start);
  }

  template <class P, class M>
  MGSYNC_HD static bool exchange(P& p, M& memory, const position& at, std::uint32_t epoch) {
    const std::uint32_t now = state(epoch), before = now == 0 ? 2 : now - 1;
    p.fence_release_system();
    each_member(p, at, [&](unsigned to) { p.store_fenced_system(memory.word(to, own(0), at.member), now); });
    bool ok = true;
    each_member(p, at, [&](unsigned from) {
      auto& flag = memory.word(at.member, own(0), from);
      ok = ok && p.wait_lane([&] { return p.load_acquire_system(flag) != before; });
    });
    return p.all(ok);
  }
};

}  // namespace mgsync::peers
