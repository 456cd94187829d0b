// Spread counter: the barrier of one member's blocks with a single hop. Every block adds itself to one of
// `counters` counters in each of `copies` copies, and polls all counters of one copy, knowing how many blocks
// come to each: no block releases another. The spread divides both the additions and the polls that meet at
// one address. Memory ordering: block barrier, one local release fence before the additions, local acquire of
// the polls. Arrival and wait may also be two calls, in any order with whole rounds. Besides policy.hpp the
// policy supplies what relay.hpp lists, fence_release_local() and hold(cycles).
#pragma once

#include "barriers/parts/algorithm/layout.hpp"

namespace mgsync { inline namespace v1 { namespace algorithm {

struct spread_shape {
  unsigned counters = 1;  // at most 32
  unsigned copies = 1;    // at most 32
  unsigned hold = 0;      // device cycles before the first poll

  static constexpr unsigned most = 32;
};

struct spread_layout {
  static constexpr unsigned stride = 33;  // lines, as relay_layout

  MGSYNC_HD unsigned counter(unsigned copy, unsigned k) const {
    return (copy * spread_shape::most + k) * stride;
  }
  MGSYNC_HD unsigned lines() const { return spread_shape::most * spread_shape::most * stride; }
};

// The addresses of one lane, worked out once per launch and kept.
template <class P, class M>
class spread_addresses {
  using word = typename P::word;

 public:
  static constexpr unsigned per_lane = (spread_shape::most + P::lanes - 1) / P::lanes;

  MGSYNC_HD spread_addresses(const P& p, M& memory, const position& at, const spread_shape& shape)
      : hold_(P::kept(shape.hold)) {
    const spread_layout lines{};
    const unsigned lane = p.lane();
    for (unsigned i = 0; i < per_lane; ++i) {
      const unsigned j = lane + i * P::lanes;
      add_[i] = j < shape.copies ? &memory.word(at.member, lines.counter(j, at.block % shape.counters), 0)
                                 : nullptr;
      // Lanes without a counter of their own poll one that another lane polls too: no divergence.
      const unsigned k = j % shape.counters;
      poll_[i] = i == 0 || j < shape.counters
                     ? &memory.word(at.member, lines.counter(at.block % shape.copies, k), 0)
                     : nullptr;
      share_[i] = P::kept(share_of(k, at.blocks, shape.counters));
    }
  }

  MGSYNC_HD unsigned hold() const { return hold_; }
  MGSYNC_HD bool adds(unsigned i) const { return add_[i] != nullptr; }
  MGSYNC_HD word& added(unsigned i) const { return *add_[i]; }
  MGSYNC_HD word* polled(unsigned i) const { return poll_[i]; }
  MGSYNC_HD unsigned share(unsigned i) const { return share_[i]; }

 private:
  unsigned hold_;
  word* add_[per_lane];
  word* poll_[per_lane];
  unsigned share_[per_lane];  // how many arrive at what is polled
};

template <class P, class M, class Addresses = spread_addresses<P, M>>
class spread_counter {
  using word = typename P::word;

 public:
  static constexpr const char* name = "counter";

  // Called by every thread of every block, once per launch where the addresses are kept.
  MGSYNC_HD spread_counter(const P& policy, M& memory, const position& at, const spread_shape& shape)
      : p_(policy), a_(policy, memory, at, shape) {}
  MGSYNC_HD spread_counter(const P& policy, const Addresses& addresses) : p_(policy), a_(addresses) {}

  // Called by every thread of every block of the member. 0: given up.
  MGSYNC_HD unsigned arrive_and_wait(std::uint32_t epoch) {
    p_.sync();
    unsigned ok = 1;
    if (p_.in_team()) ok = meet(epoch);
    return p_.sync_and(ok);
  }

  // What the team of every block does between the block's own two barriers.
  MGSYNC_HD unsigned meet(std::uint32_t epoch) {
    come(epoch);
    return await(epoch);
  }
  // The first half of it.
  MGSYNC_HD void come(std::uint32_t epoch) {
    meet_later(epoch);
    if (a_.hold() != 0) p_.hold(a_.hold());
  }

  // The same in two calls. The first, by every thread of every block of the member, waits for no other block.
  MGSYNC_HD void arrive(std::uint32_t epoch) {
    p_.sync();
    if (p_.in_team()) meet_later(epoch);
  }

  // The team's part of arrive(); the block's own barrier must have come before it, so that every lane may
  // release for the block.
  MGSYNC_HD void meet_later(std::uint32_t) {
    p_.fence_release_local();
    for (unsigned i = 0; i < Addresses::per_lane; ++i)
      if (a_.adds(i)) p_.add_relaxed_local(a_.added(i), 1);
  }

  // The second call, by the team; the block's own barrier must come after it. Returns 0 if given up.
  MGSYNC_HD unsigned await(std::uint32_t epoch) {
    const unsigned ok = p_.template wait_words<polling::counter, Addresses::per_lane>(epoch, [&](unsigned i) {
      return polled_word<word>{a_.polled(i), a_.share(i) * epoch};
    });
    p_.fence_polled_local();
    return ok;
  }

 private:
  P p_;  // a copy: an object that refers to itself would be kept in memory, not in registers
  Addresses a_;
};

}}}  // namespace mgsync::v1::algorithm
