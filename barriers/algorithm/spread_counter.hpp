// Spread counter: the barrier of one member's blocks with a single hop. Every block adds itself to one of `counters`
// counters in each of `copies` copies, and polls the sum of one copy: nobody is released by anybody. The spread divides
// both the additions and the polls that meet at one address.
// Memory ordering: block barrier, one local release fence before the additions, local acquire of the polls.
// Arrival and wait may also be two calls, in any order with whole rounds.
// Besides policy.hpp the policy supplies what relay.hpp lists, and fence_release_local().
#pragma once

#include "barriers/algorithm/policy.hpp"

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
      : p_(policy), blocks_(P::kept(at.blocks)), hold_(P::kept(shape.hold)) {
    const spread_layout lines{};
    const unsigned lane = p_.lane();
    for (unsigned i = 0; i < per_lane; ++i) {
      const unsigned j = lane + i * P::lanes;
      add_[i] = j < shape.copies ? &memory.word(at.member, lines.counter(j, at.block % shape.counters), 0) : nullptr;
      sum_[i] = j < shape.counters ? &memory.word(at.member, lines.counter(at.block % shape.copies, j), 0) : nullptr;
    }
  }

  // Called by every thread of every block of the member. False: given up.
  MGSYNC_HD bool arrive_and_wait(std::uint32_t epoch) {
    p_.sync();
    bool ok = true;
    if (p_.in_team()) {
      add();
      p_.hold(hold_);
      ok = poll(epoch);
    }
    return p_.sync_and(ok);
  }

  // The same in two calls, both by every thread of every block of the member. The first waits for no other block.
  MGSYNC_HD void arrive(std::uint32_t) {
    p_.sync();
    if (p_.in_team()) add();
  }
  MGSYNC_HD bool wait(std::uint32_t epoch) { return p_.sync_and(!p_.in_team() || poll(epoch)); }

 private:
  MGSYNC_HD void add() {
    p_.fence_release_local();
    for (unsigned i = 0; i < per_lane; ++i)
      if (add_[i] != nullptr) p_.add_relaxed_local(*add_[i], 1);
  }

  MGSYNC_HD bool poll(std::uint32_t epoch) {
    const bool ok = p_.wait_until([&] {
      std::uint32_t seen = 0;
      for (unsigned i = 0; i < per_lane; ++i)
        if (sum_[i] != nullptr) seen += p_.poll_local(*sum_[i]);
      return reached(p_.sum(seen), blocks_ * epoch);
    });
    p_.fence_polled_local();
    return ok;
  }

  P p_;  // its own: an object that refers to itself would be kept in memory, not in registers
  unsigned blocks_;
  unsigned hold_;
  word* add_[per_lane];
  word* sum_[per_lane];
};

}  // namespace mgsync::algorithm
