// Barriers for one block per member, each with one fault.
#pragma once

#include <unistd.h>

#include "barriers/parts/algorithm/host_policy.hpp"
#include "barriers/parts/algorithm/inbox.hpp"
#include "tests/race/structural_twins.hpp"

namespace mgsync::planted {

using algorithm::host_lines;
using algorithm::host_policy;
using algorithm::layout;
using algorithm::place;

struct fault_traits {
  static constexpr bool forgets = false;  // begins every run at the first epoch
  static constexpr bool bounded = true;
};

// No fault: what fails is around it.
struct no_fault : fault_traits {
  static constexpr const char* name = "no-fault";
  template <class P, class M>
  static bool arrive_and_wait(P& p, M& memory, const place& at, std::uint32_t epoch) {
    return algorithm::inbox::arrive_and_wait(p, memory, at, epoch);
  }
};

struct no_op : fault_traits {
  static constexpr const char* name = "no-op";
  static bool arrive_and_wait(host_policy&, host_lines&, const place&, std::uint32_t) { return true; }
};

// A counter that lets everybody go when one member is still missing.
struct leaves_at_all_but_one : fault_traits {
  static constexpr const char* name = "leaves-at-all-but-one";
  static bool arrive_and_wait(host_policy& p, host_lines& memory, const place& at, std::uint32_t epoch) {
    auto& counter = memory.line(0, layout{at.members}.center());
    p.add_acq_rel_system(counter, 1);
    return p.wait_system(counter, at.members * epoch - 1);
  }
};

// Member 0 tells the others and does not wait for them.
struct root_leaves_at_once : fault_traits {
  static constexpr const char* name = "root-leaves-at-once";
  static bool arrive_and_wait(host_policy& p, host_lines& memory, const place& at, std::uint32_t epoch) {
    const layout lines{at.members};
    for (unsigned to = 0; to < at.members; ++to)
      p.store_fenced_system(memory.line(to, lines.inbox(at.member)), epoch);
    for (unsigned from = 0; at.member != 0 && from < at.members; ++from)
      if (!p.wait_system(memory.line(at.member, lines.inbox(from)), epoch)) return false;
    return true;
  }
};

template <class Twin>
struct twin : fault_traits {
  static constexpr const char* name = Twin::name;
  static bool arrive_and_wait(host_policy& p, host_lines& memory, const place& at, std::uint32_t epoch) {
    return Twin::arrive_and_wait(p, memory, at, epoch);
  }
};
using arrival_left_out = twin<race::arrival_left_out>;
using one_step_short = twin<race::one_step_short>;
using one_flag_for_two_epochs = twin<race::one_flag_for_two_epochs>;
using counter_reset_too_early = twin<race::counter_reset_too_early>;

// Arrives, and one time in a thousand does not wait.
struct rare_early_exit : fault_traits {
  static constexpr const char* name = "rare-early-exit";
  static bool arrive_and_wait(host_policy& p, host_lines& memory, const place& at, std::uint32_t epoch) {
    const layout lines{at.members};
    for (unsigned to = 0; to < at.members; ++to)
      p.store_fenced_system(memory.line(to, lines.inbox(at.member)), epoch);
    if ((epoch * 2654435761u + at.member) % 1000 == 0) return true;
    for (unsigned from = 0; from < at.members; ++from)
      if (!p.wait_system(memory.line(at.member, lines.inbox(from)), epoch)) return false;
    return true;
  }
};

// Right in the first run of an object; in the next it finds the flags of the last one.
struct forgets_its_epoch : fault_traits {
  static constexpr const char* name = "forgets-its-epoch";
  static constexpr bool forgets = true;
  static bool arrive_and_wait(host_policy& p, host_lines& memory, const place& at, std::uint32_t epoch) {
    return algorithm::inbox::arrive_and_wait(p, memory, at, epoch);
  }
};

// Compares epochs as plain numbers.
struct wraps_wrongly : fault_traits {
  static constexpr const char* name = "wraps-wrongly";
  static bool arrive_and_wait(host_policy& p, host_lines& memory, const place& at, std::uint32_t epoch) {
    const layout lines{at.members};
    for (unsigned to = 0; to < at.members; ++to)
      p.store_fenced_system(memory.line(to, lines.inbox(at.member)), epoch);
    for (unsigned from = 0; from < at.members; ++from) {
      auto& flag = memory.line(at.member, lines.inbox(from));
      if (p.load_acquire_system(flag) >= epoch) continue;
      if (!p.wait_system(flag, epoch)) return false;
    }
    return true;
  }
};

// Right up to four members: a verdict holds for the size that it was given at.
struct broken_above_four : fault_traits {
  static constexpr const char* name = "broken-above-four";
  static bool arrive_and_wait(host_policy& p, host_lines& memory, const place& at, std::uint32_t epoch) {
    if (at.members > 4) return true;
    return algorithm::inbox::arrive_and_wait(p, memory, at, epoch);
  }
};

constexpr std::uint32_t fatal_epoch = 0xfffffe00u + 1500;  // after the positive control, inside the check

// Member 1 is never told of the others' arrival at one epoch.
struct never_released : fault_traits {
  static constexpr const char* name = "never-released";
  static bool arrive_and_wait(host_policy& p, host_lines& memory, const place& at, std::uint32_t epoch) {
    if (at.member != 1 && at.members > 1 && algorithm::reached(epoch, fatal_epoch)) {
      const layout lines{at.members};
      for (unsigned to = 0; to < at.members; ++to)
        if (to != 1) p.store_fenced_system(memory.line(to, lines.inbox(at.member)), epoch);
      for (unsigned from = 0; from < at.members; ++from)
        if (!p.wait_system(memory.line(at.member, lines.inbox(from)), epoch)) return false;
      return true;
    }
    return algorithm::inbox::arrive_and_wait(p, memory, at, epoch);
  }
};

// Member 1 arrives and then stays inside for ever, deaf to every deadline: only the watchdog can end this.
struct hangs : fault_traits {
  static constexpr const char* name = "hangs";
  static constexpr bool bounded = false;
  static bool arrive_and_wait(host_policy& p, host_lines& memory, const place& at, std::uint32_t epoch) {
    const bool ok = algorithm::inbox::arrive_and_wait(p, memory, at, epoch);
    while (at.member == 1 && epoch == fatal_epoch) pause();
    return ok;
  }
};

}  // namespace mgsync::planted
