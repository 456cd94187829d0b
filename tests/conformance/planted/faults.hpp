// Barriers with one fault each; for one block per member where nothing else is said.
#pragma once

#include <sched.h>
#include <unistd.h>

#include "barriers/parts/algorithm/host_policy.hpp"
#include "barriers/parts/algorithm/inbox.hpp"
#include "tests/race/structural_twins.hpp"

namespace mgsync::planted {

using algorithm::host_lines;
using algorithm::host_policy;
using algorithm::layout;
using algorithm::position;

struct fault_traits {
  static constexpr bool forgets = false;  // begins every run at the first epoch
  static constexpr bool bounded = true;
};

// No fault: what fails is around it.
struct no_fault : fault_traits {
  static constexpr const char* name = "no-fault";
  template <class P, class M>
  static bool arrive_and_wait(P& p, M& memory, const position& at, std::uint32_t epoch) {
    return algorithm::inbox::arrive_and_wait(p, memory, at, epoch);
  }
};

struct no_op : fault_traits {
  static constexpr const char* name = "no-op";
  static bool arrive_and_wait(host_policy&, host_lines&, const position&, std::uint32_t) { return true; }
};

// A counter that lets everybody go when one member is still missing.
struct leaves_at_all_but_one : fault_traits {
  static constexpr const char* name = "leaves-at-all-but-one";
  static bool arrive_and_wait(host_policy& p, host_lines& memory, const position& at, std::uint32_t epoch) {
    auto& counter = memory.line(0, layout{at.members}.center());
    p.add_acq_rel_system(counter, 1);
    return p.wait_system(counter, at.members * epoch - 1);
  }
};

// Member 0 tells the others and does not wait for them.
struct root_leaves_at_once : fault_traits {
  static constexpr const char* name = "root-leaves-at-once";
  static bool arrive_and_wait(host_policy& p, host_lines& memory, const position& at, std::uint32_t epoch) {
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
  static bool arrive_and_wait(host_policy& p, host_lines& memory, const position& at, std::uint32_t epoch) {
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
  static bool arrive_and_wait(host_policy& p, host_lines& memory, const position& at, std::uint32_t epoch) {
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
  static bool arrive_and_wait(host_policy& p, host_lines& memory, const position& at, std::uint32_t epoch) {
    return algorithm::inbox::arrive_and_wait(p, memory, at, epoch);
  }
};

// Compares epochs as plain numbers.
struct wraps_wrongly : fault_traits {
  static constexpr const char* name = "wraps-wrongly";
  static bool arrive_and_wait(host_policy& p, host_lines& memory, const position& at, std::uint32_t epoch) {
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
  static bool arrive_and_wait(host_policy& p, host_lines& memory, const position& at, std::uint32_t epoch) {
    if (at.members > 4) return true;
    return algorithm::inbox::arrive_and_wait(p, memory, at, epoch);
  }
};

constexpr std::uint32_t fatal_epoch = 0xfffffe00u + 1500;  // after the positive control, inside the check

// Member 1 is never told of the others' arrival at one epoch.
struct never_released : fault_traits {
  static constexpr const char* name = "never-released";
  static bool arrive_and_wait(host_policy& p, host_lines& memory, const position& at, std::uint32_t epoch) {
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
  static bool arrive_and_wait(host_policy& p, host_lines& memory, const position& at, std::uint32_t epoch) {
    const bool ok = algorithm::inbox::arrive_and_wait(p, memory, at, epoch);
    while (at.member == 1 && epoch == fatal_epoch) pause();
    return ok;
  }
};

// What real systems had (reported in 2026).

// A butterfly over a number of members that is no power of two: who has no partner in a step leaves the step
// out (torchcomms 3213). Right with 2, 4 and 8 members; with 3, 5, 6 and 7 some never learn of some.
struct butterfly_skips_peers : fault_traits {
  static constexpr const char* name = "butterfly-skips-peers";
  static bool arrive_and_wait(host_policy& p, host_lines& memory, const position& at, std::uint32_t epoch) {
    const layout lines{at.members};
    unsigned step = 0;
    for (unsigned distance = 1; distance < at.members; distance *= 2, ++step) {
      const unsigned peer = at.member ^ distance;
      if (peer >= at.members) continue;
      p.store_fenced_system(memory.line(peer, lines.step(step)), epoch);
      if (!p.wait_system(memory.line(at.member, lines.step(step)), epoch)) return false;
    }
    return true;
  }
};

// Counters that every round raises by 1024, compared as signed numbers: they overflow after 2^21 rounds (uccl
// 1052). An object is as old here that this falls into its check.
struct accumulating_counter_overflows : fault_traits {
  static constexpr const char* name = "accumulating-counter-overflows";
  static bool arrive_and_wait(host_policy& p, host_lines& memory, const position& at, std::uint32_t epoch) {
    constexpr std::uint32_t first = 0xfffffe00u, raise = 1024, rounds_before = (1u << 21) - 1500;
    const layout lines{at.members};
    const auto value = [&](std::uint32_t rounds) {
      return static_cast<std::int32_t>((rounds_before + rounds) * raise);
    };
    for (unsigned to = 0; to < at.members; ++to)
      p.add_acq_rel_system(memory.line(to, lines.inbox(at.member)), 1);
    for (unsigned from = 0; from < at.members; ++from) {
      auto& count = memory.line(at.member, lines.inbox(from));
      if (value(p.load_acquire_system(count) - first) >= value(epoch - first)) continue;
      if (!p.wait_system(count, epoch)) return false;
    }
    return true;
  }
};

// The epoch is a word that a member's threads share, and raise without an atomic operation (torchcomms 1271):
// when two do so at once, one raise is lost, and from then on somebody waits for a round that has passed. For
// several blocks.
struct epoch_is_not_atomic : fault_traits {
  static constexpr const char* name = "epoch-is-not-atomic";
  static bool arrive_and_wait(host_policy& p, host_lines& memory, const position& at, std::uint32_t epoch) {
    constexpr std::uint32_t first = 0xfffffe00u;
    const layout lines{at.members};
    auto& raised = memory.line(at.member, lines.release());  // by every thread, starts at `first`
    const std::uint32_t before = p.load_relaxed_local(raised);
    if (epoch % 64 == 0) sched_yield();  // interrupted between the two
    p.store_relaxed_local(raised, before + 1);
    const std::uint32_t round = (before - first) / at.blocks + 1;
    auto& arrivals = memory.line(0, lines.center());
    p.add_acq_rel_system(arrivals, 1);
    return p.wait_system(arrivals,
                         algorithm::counter_start(at.members, first) + round * at.members * at.blocks);
  }
};

// Rare faults among many workers, for any number of blocks.

// A counter that once in 5,000 rounds lets everybody go when one of all is missing.
struct once_in_5000_one_short : fault_traits {
  static constexpr const char* name = "once-in-5000-one-short";
  static bool arrive_and_wait(host_policy& p, host_lines& memory, const position& at, std::uint32_t epoch) {
    constexpr std::uint32_t first = 0xfffffe00u, seldom = 5000;
    auto& arrivals = memory.line(0, layout{at.members}.center());
    p.add_acq_rel_system(arrivals, 1);
    const std::uint32_t round = epoch - first;
    const std::uint32_t missing = round % seldom == 400 ? 1 : 0;
    return p.wait_system(arrivals, algorithm::counter_start(at.members, first) +
                                       round * at.members * at.blocks - missing);
  }
};

// The first worker does not wait for the last one, and for all others; the others wait for everybody.
struct one_edge_of_all : fault_traits {
  static constexpr const char* name = "one-edge-of-all";
  static bool arrive_and_wait(host_policy& p, host_lines& memory, const position& at, std::uint32_t epoch) {
    constexpr std::uint32_t first = 0xfffffe00u;
    const layout lines{at.members};
    const bool is_first = at.member == 0 && at.block == 0;
    const bool is_last = at.member == at.members - 1 && at.block == at.blocks - 1;
    auto& of_the_last = memory.line(0, lines.inbox(0));
    auto& of_others = memory.line(0, lines.center());
    p.add_acq_rel_system(is_last ? of_the_last : of_others, 1);
    const std::uint32_t others =
        algorithm::counter_start(at.members, first) + (epoch - first) * (at.members * at.blocks - 1);
    return p.wait_system(of_others, others) && (is_first || p.wait_system(of_the_last, epoch));
  }
};

}  // namespace mgsync::planted
