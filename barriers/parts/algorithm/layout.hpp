// Which line of a member's part of symmetric memory holds what. A line has one writer at a time, or is a
// counter.
#pragma once

#include "barriers/parts/algorithm/integers.hpp"
#include "barriers/parts/algorithm/policy.hpp"

namespace mgsync { inline namespace v1 { namespace algorithm {

inline constexpr unsigned max_dissemination_steps = 32;
inline constexpr unsigned max_announcements = 8;
inline constexpr unsigned most_gpus = 16;
// The epoch before the first of a GPU barrier: near the end of 32 bits, so that every check and every user
// crosses the wrap.
inline constexpr std::uint32_t first_gpu_epoch = 0xfffffe00u;

struct layout {
  unsigned members;

  MGSYNC_HD unsigned arrivals() const { return 0; }                   // counter of this member's blocks
  MGSYNC_HD unsigned release() const { return 1; }                    // epoch this member's blocks may leave
  MGSYNC_HD unsigned center() const { return 2; }                     // counter of all members (on member 0)
  MGSYNC_HD unsigned crowd() const { return 3; }                      // counter of all members' blocks
  MGSYNC_HD unsigned inbox(unsigned from) const { return 4 + from; }  // written by member `from`
  MGSYNC_HD unsigned step(unsigned k) const {
    return 4 + members + k;
  }  // dissemination: from the k-th partner
  // Pull dissemination: this member's own line of a step; two lines alternate by epoch.
  MGSYNC_HD unsigned announcement(unsigned k, std::uint32_t epoch) const {
    return 4 + members + max_dissemination_steps + 2 * k + (epoch & 1);
  }
  MGSYNC_HD unsigned lines() const { return 4 + members + max_dissemination_steps + 2 * max_announcements; }
};

// The value that a counter of `participants` shows before the first round, so that it shows participants *
// epoch (modulo 2^32) once all have arrived at `epoch`. `start` is the epoch before the first. Flags start at
// `start`.
MGSYNC_HD constexpr std::uint32_t counter_start(std::uint32_t participants, std::uint32_t start) {
  return participants * start;
}

// How many of `participants`, dealt to `counters` in turn, arrive at counter k.
MGSYNC_HD constexpr unsigned share_of(unsigned k, unsigned participants, unsigned counters) {
  return participants / counters + (k < participants % counters ? 1 : 0);
}

}}}  // namespace mgsync::v1::algorithm
