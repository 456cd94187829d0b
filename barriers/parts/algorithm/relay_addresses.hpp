// Where the words of a relay lie: its shape, the layout of a member's part, and the addresses of a lane.
#pragma once

#include "barriers/parts/algorithm/layout.hpp"

namespace mgsync { inline namespace v1 { namespace algorithm {

struct relay_shape {
  unsigned counters = 1;  // at most most_counters
  unsigned replicas = 1;  // of each inbox; at most most_words / members

  static constexpr unsigned most_counters = 32;
  static constexpr unsigned most_words = 128;
  static constexpr unsigned most_members = 32;
  static constexpr unsigned most_of_many = 96;  // of those whose inboxes have several lines
};

// How a block of a member of several blocks arrives, as bits: at the only counter; at one of several; and
// whether it polls them all. 0: the member has one block.
enum class relay_way : unsigned { counted = 1, spread = 2, sums_up = 4 };
MGSYNC_HD constexpr unsigned relay_ways(unsigned block, unsigned blocks, const relay_shape& shape) {
  if (blocks == 1) return 0;
  if (shape.counters == 1) return static_cast<unsigned>(relay_way::counted);
  return static_cast<unsigned>(relay_way::spread) |
         (block == 0 ? static_cast<unsigned>(relay_way::sums_up) : 0);
}

// Every line lies on another page, because neighbouring lines of a page share a slice of the L2 cache.
struct relay_layout {
  static constexpr unsigned stride = 33;  // lines: 4 KiB and one line

  MGSYNC_HD unsigned counter(unsigned k) const { return k * stride; }
  MGSYNC_HD unsigned inbox(unsigned replica) const { return (relay_shape::most_counters + replica) * stride; }
  // Where members beyond the words of a line have theirs: every second line, as the words of quiet rounds lie
  // behind those of the others.
  MGSYNC_HD static unsigned lines_ahead(unsigned from, unsigned words_of_line) {
    return 2 * (from / words_of_line);
  }
  // Where the blocks of counter k meet in a round of two calls, and where all of these do.
  MGSYNC_HD unsigned split(unsigned k) const {
    return (relay_shape::most_counters + relay_shape::most_words + 1 + k) * stride;
  }
  MGSYNC_HD unsigned split_of_all() const {
    return (relay_shape::most_counters + relay_shape::most_words) * stride;
  }
  MGSYNC_HD unsigned lines() const { return split(relay_shape::most_counters - 1) + 1; }
};

// The words that a lane writes when its member speaks: one in every replica of every member's inbox, spread
// over the team. Lanes of a warp stay with one member each and step from replica to replica, so that few
// registers hold it all.
template <class P, class M, bool Warp = (P::lanes > 1)>
class relay_outbox {
  using word = typename P::word;

 public:
  MGSYNC_HD relay_outbox(const P& p, M& memory, const position& at, unsigned replicas) {
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
  MGSYNC_HD relay_outbox(const P&, M& memory, const position& at, unsigned replicas)
      : count_(at.members * replicas) {
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

// The addresses of one lane, computed once per launch and kept, which costs the least between two rounds.
template <class P, class M>
class relay_addresses {
  using word = typename P::word;
  MGSYNC_HD static constexpr unsigned per_lane(unsigned n) { return (n + P::lanes - 1) / P::lanes; }

 public:
  static constexpr unsigned ins = per_lane(relay_shape::most_members),
                            sums = per_lane(relay_shape::most_counters);

  MGSYNC_HD relay_addresses(const P& p, M& memory, const position& at, const relay_shape& shape)
      : blocks_(P::kept(at.blocks)),
        way_(P::kept(relay_ways(at.block, at.blocks, shape))),
        counters_(shape.counters),
        lane_(p.lane()),
        out_(p, memory, at, shape.replicas) {
    const relay_layout lines{};
    const unsigned lane = lane_;
    for (unsigned i = 0; i < ins; ++i) {
      const unsigned from = lane + i * P::lanes;
      // Lanes without a member of their own poll a word that another lane polls too: no divergence.
      in_[i] = i == 0 || from < at.members
                   ? &memory.word(at.member, lines.inbox(at.block % shape.replicas), from % at.members)
                   : nullptr;
    }
    // The lane is part of the address, so that the compiler does not merge a warp's additions into one of its
    // own.
    const unsigned k = P::lanes > 1 ? (at.block + lane) % shape.counters : at.block % shape.counters;
    arrival_ = &memory.word(at.member, lines.counter(k), 0);
    for (unsigned i = 0; i < sums; ++i) {
      const unsigned c = lane + i * P::lanes;
      const bool mine = is(relay_way::spread) && (i == 0 || c < shape.counters);
      sum_[i] = mine ? &memory.word(at.member, lines.counter(c % shape.counters), 0) : nullptr;
      share_[i] = P::kept(share_of(c % shape.counters, at.blocks, shape.counters));
    }
    const unsigned mine = at.block % shape.counters;
    split_ = &memory.word(at.member, lines.split(mine), 0);
    split_of_all_ = &memory.word(at.member, lines.split_of_all(), 0);
    split_share_ = share_of(mine, at.blocks, shape.counters);
  }

  MGSYNC_HD bool is(relay_way way) const { return (way_ & static_cast<unsigned>(way)) != 0; }
  MGSYNC_HD bool counts() const { return way_ != 0; }
  MGSYNC_HD unsigned blocks() const { return blocks_; }
  MGSYNC_HD word* in(unsigned i) const { return in_[i]; }
  MGSYNC_HD word& arrival() const { return *arrival_; }
  MGSYNC_HD word* sum(unsigned i) const { return sum_[i]; }
  MGSYNC_HD unsigned share(unsigned i) const { return share_[i]; }
  MGSYNC_HD word& split() const { return *split_; }
  MGSYNC_HD word& split_of_all() const { return *split_of_all_; }
  MGSYNC_HD unsigned split_share() const { return split_share_; }
  MGSYNC_HD unsigned splits() const { return blocks_ < counters_ ? blocks_ : counters_; }
  // f(counter, how many blocks arrive there), each counter by one lane.
  template <class F>
  MGSYNC_HD void each_counter(F f) const {
    for (unsigned i = 0; i < sums; ++i)
      if (lane_ + i * P::lanes < counters_) f(*sum_[i], share_[i]);
  }
  MGSYNC_HD relay_outbox<P, M>& out() { return out_; }

 private:
  unsigned blocks_;
  unsigned way_;
  unsigned counters_;
  unsigned lane_;
  relay_outbox<P, M> out_;
  word* in_[ins];
  word* arrival_;
  word* sum_[sums];
  unsigned share_[sums];  // how many blocks arrive at the counter
  word* split_;
  word* split_of_all_;
  unsigned split_share_;
};

}}}  // namespace mgsync::v1::algorithm
