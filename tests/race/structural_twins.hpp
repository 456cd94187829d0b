// Barriers broken on purpose in their structure, over the same policy as the real ones: an arrival left out,
// a step too few, one flag for two epochs, a counter reset too early. Every check must catch them.
#pragma once

#include "barriers/parts/algorithm/dissemination.hpp"
#include "barriers/parts/algorithm/inbox.hpp"

namespace mgsync::race {

using algorithm::layout;
using algorithm::position;

// Inbox that waits for all members but its right neighbour (rapidsmpf issue 857: leaving before all arrived).
struct arrival_left_out {
  static constexpr const char* name = "arrival-left-out";
  template <class P, class M>
  static bool arrive_and_wait(P& p, M& memory, const position& at, std::uint32_t epoch) {
    const layout lines{at.members};
    bool ok = true;
    if (algorithm::arrive_locally(p, memory, at, epoch)) {
      p.fence_release_system();
      p.for_each(at.members,
                 [&](unsigned to) { p.store_fenced_system(memory.line(to, lines.inbox(at.member)), epoch); });
    }
    p.for_each(at.members, [&](unsigned i) {
      if (i != 1)
        ok = ok && p.wait_system(memory.line(at.member, lines.inbox((at.member + i) % at.members)), epoch);
    });
    return ok;
  }
};

// Dissemination that stops one step too early (a wrong number of rounds).
struct one_step_short {
  static constexpr const char* name = "one-step-short";
  template <class P, class M>
  static bool arrive_and_wait(P& p, M& memory, const position& at, std::uint32_t epoch) {
    const layout lines{at.members};
    const bool last = algorithm::arrive_locally(p, memory, at, epoch);
    bool ok = true;
    unsigned step = 0;
    for (unsigned distance = 1; last && ok && distance * 2 < at.members; distance *= 2, ++step) {
      p.fence_release_system();
      p.store_fenced_system(memory.line((at.member + distance) % at.members, lines.step(step)), epoch);
      ok = p.wait_system(memory.line(at.member, lines.step(step)), epoch);
    }
    return ok && algorithm::release_locally(p, memory, at, epoch, last);
  }
};

// Inbox whose flags count every second epoch only (cuml issue 458: a flag used again before all had left).
struct one_flag_for_two_epochs {
  static constexpr const char* name = "one-flag-for-two-epochs";
  template <class P, class M>
  static bool arrive_and_wait(P& p, M& memory, const position& at, std::uint32_t epoch) {
    const std::uint32_t shared = epoch & ~1u;
    const layout lines{at.members};
    bool ok = true;
    if (algorithm::arrive_locally(p, memory, at, epoch)) {
      p.fence_release_system();
      p.for_each(at.members, [&](unsigned to) {
        p.store_fenced_system(memory.line(to, lines.inbox(at.member)), shared);
      });
    }
    p.for_each(at.members, [&](unsigned from) {
      ok = ok && p.wait_system(memory.line(at.member, lines.inbox(from)), shared);
    });
    return ok;
  }
};

// A counter barrier that whoever arrives last but one sets to its final value, as a reset that comes too
// early does (vllm issue 14125: the alternating counter).
struct counter_reset_too_early {
  static constexpr const char* name = "counter-reset-too-early";
  template <class P, class M>
  static bool arrive_and_wait(P& p, M& memory, const position& at, std::uint32_t epoch) {
    const layout lines{at.members};
    bool ok = true;
    const bool last = algorithm::arrive_locally(p, memory, at, epoch);
    if (last) {
      const std::uint32_t before = p.add_acq_rel_system(memory.line(0, lines.center()), 1);
      if (algorithm::reached(before + 2, at.members * epoch)) {
        p.fence_release_system();
        p.store_fenced_system(memory.line(0, lines.center()), at.members * epoch);
        p.for_each(at.members,
                   [&](unsigned to) { p.store_fenced_system(memory.line(to, lines.inbox(0)), epoch); });
      }
      ok = p.wait_system(memory.line(at.member, lines.inbox(0)), epoch);
    }
    return ok && algorithm::release_locally(p, memory, at, epoch, last);
  }
};

}  // namespace mgsync::race
