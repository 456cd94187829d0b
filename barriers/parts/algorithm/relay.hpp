// Relay: the blocks of a member arrive at counters of their own GPU; one block speaks for the member and writes the
// epoch into its word of every replica of every member's inbox; every block polls one replica of its own member's.
// One local step, one system fence per member and round, one hop, no release step.
//   counters == 1: the last block to arrive speaks (it learns so from its addition). Least latency with few blocks.
//   counters > 1: arrivals are spread over counters, without an answer; block 0 polls their sum and speaks. Additions
//     to one address are served one after the other (0.8 a cycle on Hopper), and so are polls: with thousands of
//     blocks the spread decides.
// Arrival and wait may also be two calls (arrive, await), in any order with whole rounds. An arrival waits for nobody: at
// spread counters the blocks then meet at a counter of their own, whose last block speaks.
// Memory ordering: what any thread of any member wrote before is visible after to all threads of all members: block
// barrier, release to the counter, acquire by the speaker and system release by one fence, system acquire of the polls.
// Besides policy.hpp the policy supplies lanes, lane(), kept(value), any(bool), sum(v), wait_until(epoch, condition: the
// same in the whole team), poll_local and poll_system with fence_polled_local and fence_polled_system after the last
// poll, add_release_local(word&, v), add_release_local_before_fence(word&, v), store_relaxed_local(word&, v) and
// add_relaxed_local(word&, v). The memory supplies word& word(member, line, offset).
// Every instruction between two rounds is issued by every warp of an SM: by 64 of them in 16 cycles, 8 ns on an H200. So
// what is known once is kept, verdicts are words (a bool between branches is converted twice), and each kind of vote (all, sum,
// unanimous) stands in one polling loop of a kernel only: ptxas compiles two of a kind so that every poll gathers the
// warp anew (BREAK in the SASS), up to 0.1 us a round.
#pragma once

#include "barriers/parts/algorithm/policy.hpp"

namespace mgsync::algorithm {

struct relay_shape {
  unsigned counters = 1;   // at most most_counters
  unsigned replicas = 1;   // of each inbox; at most most_words / members

  static constexpr unsigned most_counters = 32;
  static constexpr unsigned most_words = 128;
};

// Lines lie on pages of their own: neighbours of one page share a slice of the L2 cache's address hash.
struct relay_layout {
  static constexpr unsigned stride = 33;  // lines: 4 KiB and one line

  MGSYNC_HD unsigned counter(unsigned k) const { return k * stride; }
  MGSYNC_HD unsigned inbox(unsigned replica) const { return (relay_shape::most_counters + replica) * stride; }
  MGSYNC_HD unsigned split() const { return (relay_shape::most_counters + relay_shape::most_words) * stride; }
  MGSYNC_HD unsigned lines() const { return split() + 1; }
};

// The words that a lane writes when its member speaks: one in every replica of every member's inbox, spread over the
// team. Lanes of a warp stay with one member each and step from replica to replica, so that few registers hold it all.
template <class P, class M, bool Warp = (P::lanes > 1)>
class relay_outbox {
  using word = typename P::word;

 public:
  MGSYNC_HD relay_outbox(const P& p, M& memory, const place& at, unsigned replicas) {
    const relay_layout lines{};
    const unsigned at_once = P::lanes / at.members, lane = p.lane();
    const unsigned replica = lane / at.members;
    const bool mine = replica < at_once && replica < replicas;
    first_ = mine ? &memory.word(lane % at.members, lines.inbox(replica), at.member) : nullptr;
    count_ = P::kept(mine ? (replicas - replica + at_once - 1) / at_once : 0);
    step_ = P::kept(at_once * relay_layout::stride * (line_bytes / sizeof(word)));
  }
  template <class F>
  MGSYNC_HD void each(F f) {
    if (first_ != nullptr) f(*first_);
    MGSYNC_ROLLED
    for (unsigned i = 1; i < count_; ++i) f(first_[i * step_]);
  }

 private:
  word* first_;
  unsigned count_;
  unsigned step_;
};

template <class P, class M>
class relay_outbox<P, M, false> {
  using word = typename P::word;

 public:
  MGSYNC_HD relay_outbox(const P&, M& memory, const place& at, unsigned replicas) : count_(at.members * replicas) {
    for (unsigned w = 0; w < count_; ++w)
      words_[w] = &memory.word(w % at.members, relay_layout{}.inbox(w / at.members), at.member);
  }
  template <class F>
  MGSYNC_HD void each(F f) {
    for (unsigned i = 0; i < count_; ++i) f(*words_[i]);
  }

 private:
  word* words_[relay_shape::most_words];
  unsigned count_;
};

template <class P, class M>
class relay {
  using word = typename P::word;
  static constexpr unsigned per_lane(unsigned n) { return (n + P::lanes - 1) / P::lanes; }
  static constexpr unsigned most_members = 32;
  static constexpr unsigned ins = per_lane(most_members);
  static constexpr unsigned sums = per_lane(relay_shape::most_counters);
  static constexpr unsigned counted = 1, spread = 2, sums_up = 4;  // how a block of several arrives

 public:
  static constexpr const char* name = "relay";

  // Called by every thread of every block, once per launch: the addresses are worked out here, not between rounds.
  MGSYNC_HD relay(const P& policy, M& memory, const place& at, const relay_shape& shape)
      : p_(policy), blocks_(P::kept(at.blocks)), out_(policy, memory, at, shape.replicas),
        way_(P::kept(at.blocks == 1 ? 0 : shape.counters == 1 ? counted : at.block != 0 ? spread : spread | sums_up)) {
    const relay_layout lines{};
    const unsigned lane = p_.lane();
    for (unsigned i = 0; i < ins; ++i) {
      const unsigned from = lane + i * P::lanes;
      // Lanes without a member of their own poll a word that another lane polls too: no divergence.
      const bool mine = from < at.members || P::lanes > 1;
      in_[i] = mine ? &memory.word(at.member, lines.inbox(at.block % shape.replicas), from % at.members) : nullptr;
    }
    // The lane is part of the address, so that the compiler does not merge a warp's additions into one of its own.
    const unsigned k = P::lanes > 1 ? (at.block + lane) % shape.counters : at.block % shape.counters;
    arrival_ = &memory.word(at.member, lines.counter(k), 0);
    for (unsigned i = 0; i < sums; ++i) {
      const unsigned c = lane + i * P::lanes;
      sum_[i] = is(sums_up) && c < shape.counters ? &memory.word(at.member, lines.counter(c), 0) : nullptr;
    }
    split_ = &memory.word(at.member, lines.split(), 0);
  }

  // Called by every thread of every block of every member. 0: given up.
  MGSYNC_HD unsigned arrive_and_wait(std::uint32_t epoch) {
    p_.sync();
    unsigned ok = 1;
    if (p_.in_team()) ok = meet(epoch);
    return p_.sync_and(ok);
  }

  // What the team of every block does between the block's own two barriers.
  MGSYNC_HD unsigned meet(std::uint32_t epoch) {
    if (is(counted)) arrive_counted(epoch);
    else if (!is(spread) || arrive_spread(epoch)) speak(epoch);
    return await(epoch);
  }

  // The same in two calls. The first, by every thread of every block of every member, waits for no other block.
  MGSYNC_HD void arrive(std::uint32_t epoch) {
    p_.sync();
    if (!p_.in_team()) return;
    if (is(counted)) arrive_counted(epoch);
    else if (!is(spread) || arrive_split()) speak(epoch);
  }

  // The second call, by the team; the block's own barrier is behind it.
  MGSYNC_HD unsigned await(std::uint32_t epoch) {
    const unsigned ok = p_.wait_until(epoch, [&] {
      bool here = true;
      for (unsigned i = 0; i < ins; ++i)
        if (P::lanes > 1 || in_[i] != nullptr) here = here && reached(p_.poll_system(*in_[i]), epoch);
      return p_.all(here);
    });
    p_.fence_polled_system();
    return ok;
  }

 private:
  MGSYNC_HD bool is(unsigned way) const { return (way_ & way) != 0; }

  MGSYNC_HD void arrive_counted(std::uint32_t epoch) {
    bool last = false;
    if (p_.leader()) last = p_.add_release_local_before_fence(*arrival_, 1) + 1 == blocks_ * epoch;
    if (p_.any(last)) speak(epoch);
  }

  // True in block 0, once all blocks have arrived.
  MGSYNC_HD bool arrive_spread(std::uint32_t epoch) {
    if (p_.leader()) p_.add_release_local(*arrival_, 1);
    return is(sums_up) && p_.wait_until(epoch, [&] {
      std::uint32_t seen = 0;
      for (unsigned i = 0; i < sums; ++i)
        if (sum_[i] != nullptr) seen += p_.poll_local(*sum_[i]);
      return p_.sum(seen) == blocks_ * epoch;
    });
  }

  // True in the last block. It empties the counter, and makes up for the round at the spread counters: nobody arrives
  // again before it has spoken, and the fence in speak() stands behind both.
  MGSYNC_HD bool arrive_split() {
    bool last = false;
    if (p_.leader()) last = p_.add_release_local_before_fence(*split_, 1) + 1 == blocks_;
    if (!p_.any(last)) return false;
    if (p_.leader()) {
      p_.store_relaxed_local(*split_, 0);
      p_.add_relaxed_local(*arrival_, blocks_);
    }
    return true;
  }

  // The fence is also the acquire of the counter: it follows the relaxed addition or the polls.
  MGSYNC_HD void speak(std::uint32_t epoch) {
    p_.fence_release_system();
    out_.each([&](word& w) { p_.store_fenced_system(w, epoch); });
  }

  P p_;  // its own: an object that refers to itself would be kept in memory, not in registers
  unsigned blocks_;
  relay_outbox<P, M> out_;
  word* in_[ins];
  word* arrival_;
  word* sum_[sums];
  word* split_;
  unsigned way_;
};

}  // namespace mgsync::algorithm
