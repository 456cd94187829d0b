// Spread counter: the barrier of one member's blocks with a single hop. Every block adds itself to one of `counters`
// counters in each of `copies` copies, and polls all counters of one copy, each of which knows how many come to it: nobody
// is released by anybody. The spread divides both the additions and the polls that meet at one address.
// Memory ordering: block barrier, one local release fence before the additions, local acquire of the polls.
// Arrival and wait may also be two calls, in any order with whole rounds.
// Besides policy.hpp the policy supplies what relay.hpp lists, fence_release_local(), hold(cycles), and unanimous(bool),
// which is all() voted in another way.
#pragma once

#include "barriers/parts/algorithm/layout.hpp"

namespace mgsync::algorithm {

struct spread_shape {
  unsigned counters = 1;  // at most 32
  unsigned copies = 1;    // at most 32
  unsigned hold = 0;      // device cycles before the first poll

  static constexpr unsigned most = 32;
};

struct spread_layout {
  static constexpr unsigned stride = 33;  // lines, as relay_layout

  MGSYNC_HD unsigned counter(unsigned copy, unsigned k) const { return (copy * spread_shape::most + k) * stride; }
  MGSYNC_HD unsigned lines() const { return spread_shape::most * spread_shape::most * stride; }
};

template <class P, class M>
class spread_counter {
  using word = typename P::word;
  static constexpr unsigned per_lane = (spread_shape::most + P::lanes - 1) / P::lanes;

 public:
  static constexpr const char* name = "counter";

  MGSYNC_HD spread_counter(const P& policy, M& memory, const place& at, const spread_shape& shape)
      : p_(policy), hold_(P::kept(shape.hold)) {
    const spread_layout lines{};
    const unsigned lane = p_.lane();
    for (unsigned i = 0; i < per_lane; ++i) {
      const unsigned j = lane + i * P::lanes;
      add_[i] = j < shape.copies ? &memory.word(at.member, lines.counter(j, at.block % shape.counters), 0) : nullptr;
      // Lanes without a counter of their own poll one that another lane polls too: no divergence.
      const unsigned k = j < shape.counters || P::lanes == 1 ? j : 0;
      poll_[i] = k < shape.counters ? &memory.word(at.member, lines.counter(at.block % shape.copies, k), 0) : nullptr;
      share_[i] = P::kept(share_of(k, at.blocks, shape.counters));
    }
  }

  // Called by every thread of every block of the member. 0: given up.
  MGSYNC_HD unsigned arrive_and_wait(std::uint32_t epoch) {
    p_.sync();
    unsigned ok = 1;
    if (p_.in_team()) ok = meet(epoch);
    return p_.sync_and(ok);
  }

  // What the team of every block does between the block's own two barriers.
  MGSYNC_HD unsigned meet(std::uint32_t epoch) {
    add();
    p_.hold(hold_);
    return await(epoch);
  }

  // The same in two calls. The first, by every thread of every block of the member, waits for no other block.
  MGSYNC_HD void arrive(std::uint32_t) {
    p_.sync();
    if (p_.in_team()) add();
  }

  // The second call, by the team; the block's own barrier is behind it.
  MGSYNC_HD unsigned await(std::uint32_t epoch) {
    const unsigned ok = p_.wait_until(epoch, [&] {
      bool here = true;
      for (unsigned i = 0; i < per_lane; ++i)
        if (P::lanes > 1 || poll_[i] != nullptr) here = here && reached(p_.poll_local(*poll_[i]), share_[i] * epoch);
      return p_.unanimous(here);
    });
    p_.fence_polled_local();
    return ok;
  }

 private:
  MGSYNC_HD void add() {
    p_.fence_release_local();
    for (unsigned i = 0; i < per_lane; ++i)
      if (add_[i] != nullptr) p_.add_relaxed_local(*add_[i], 1);
  }

  P p_;  // its own: an object that refers to itself would be kept in memory, not in registers
  unsigned hold_;
  word* add_[per_lane];
  word* poll_[per_lane];
  unsigned share_[per_lane];  // how many arrive at what is polled
};

}  // namespace mgsync::algorithm
