// Carrier: a barrier whose arrivals carry a value of 32 or 64 bits each, and at which all learn what an
// operation makes of them all. A value travels with its round's epoch in one word of 64 bits, in two
// for a value of 64, so whoever sees the epoch has the value: there is no second round and no other fence
// than a barrier's.
//   one member: every block puts its value where all look for it, and each combines them all.
//   several: block 0 combines its member's and tells every member; each block combines the members'.
//   many blocks: the first block of every group combines the group's ahead of either.
// Every value has two places in turn: a block may be one round ahead of a reader, never two.
//
// What is combined in which order depends on the numbers of threads, blocks and members alone, so results are
// the same to the bit in every thread and in every run: of a list, lane l of a team combines entries l,
// l + lanes, ... in turn; then lane l takes lane l + 16, then l + 8, l + 4, l + 2, l + 1. Lists are a group's
// blocks, a member's groups (or blocks), the members.
//
// A round is known by its epoch, and may stand between any others of the same blocks' barrier; which of the
// two places it takes is one bit, that its blocks keep. Memory ordering: as relay; every stage acquires what
// it polled, and releases behind a barrier of the team.
//
// Besides policy.hpp the policy supplies
//   lanes, lane(), fence_release_local(), fence_polled_local(), fence_polled_system(), hold(cycles)
//   pair, store_pair_fenced_system(pair&, v)    as in all_reduce.hpp; `local` ones of a member use it too
//   poll_pair_system(pair&)
//   wait_each(epoch, here)                      polls until here() holds in every lane; 0: given up
//   combined(v, n, op)                          over the first n lanes in the order above, known to all
// and the memory supplies pair& pair_at(member, index).
#pragma once

#include "barriers/parts/algorithm/layout.hpp"

namespace mgsync { inline namespace v1 { namespace algorithm {

// Where a member keeps the values: in chunks of one for each lane, each chunk four times (two turns, two
// halves) and on a page of its own, since neighbouring lines of a page share a slice of the L2 cache. Indexes
// count pairs.
struct carrier_layout {
  unsigned blocks;
  unsigned lanes = 32;
  unsigned spacing = 33 * line_bytes / sizeof(std::uint64_t);  // of chunks: 4 KiB and one line
  unsigned most_direct = 320;  // blocks without groups: two on each SM of an H200
  unsigned group = 32;         // blocks of a group
  unsigned members = 32;
  unsigned most_copies = 8;  // of what many look at: a power of two

  MGSYNC_HD constexpr bool grouped() const { return blocks > most_direct; }
  MGSYNC_HD constexpr unsigned groups() const { return (blocks + group - 1) / group; }
  MGSYNC_HD constexpr unsigned of_group(unsigned g) const { return g * chunks(group); }
  // What a member's blocks look at, or its block 0: a value of every group, or block.
  MGSYNC_HD constexpr unsigned middles() const { return grouped() ? groups() : blocks; }
  MGSYNC_HD constexpr unsigned middle_copies() const {
    return grouped() ? most_copies : blocks > 64 ? most_copies / 2 : 1;
  }
  MGSYNC_HD constexpr unsigned middle(unsigned copy) const {
    return (grouped() ? groups() * chunks(group) : 0) + copy * chunks(middles());
  }
  // A value of every member.
  MGSYNC_HD constexpr unsigned inbox_copies() const { return grouped() ? most_copies : 1; }
  MGSYNC_HD constexpr unsigned inbox(unsigned copy) const {
    return middle(middle_copies()) + copy * chunks(members);
  }
  MGSYNC_HD constexpr unsigned all_chunks() const { return inbox(inbox_copies()); }

  MGSYNC_HD constexpr unsigned chunks(unsigned values) const { return (values + lanes - 1) / lanes; }
  MGSYNC_HD constexpr unsigned pair_of(unsigned chunk, unsigned turn, unsigned half, unsigned lane) const {
    return chunk * spacing + (2 * turn + half) * lanes + lane;
  }
};

// A value and its words.
template <class V>
union carried {
  static_assert(sizeof(V) == 4 || sizeof(V) == 8, "a carried value has 32 or 64 bits");
  static constexpr unsigned halves = sizeof(V) / sizeof(std::uint32_t);
  V value;
  std::uint32_t words[halves];
};

template <class P, class M, class Layout = carrier_layout>
class carrier {
  using pair = typename P::pair;

 public:
  MGSYNC_HD carrier(const P& policy, M& memory, const Layout& places, const position& at, unsigned hold = 0)
      : p_(policy), memory_(memory), places_(places), at_(at), hold_(hold) {}

  // 0 or 1: the turn of the last round that this block came to, which its own words tell.
  MGSYNC_HD unsigned last_turn() { return reached(epoch_at(1), epoch_at(0)) ? 1 : 0; }

  // What the team of every block does between the block's own two barriers. `turn`: the other than in
  // the round before. `value`: the block's; then what is made of all. Calls arrived() behind the block's
  // arrival, and spoken() as the block has spoken for its member. 0: given up.
  template <class V, class Op, class Arrived, class Spoken>
  MGSYNC_HD unsigned carry(std::uint32_t epoch, unsigned turn, V& value, Op op, Arrived arrived,
                           Spoken spoken) {
    const bool alone = at_.members == 1;
    const unsigned group = at_.block / places_.group;
    stage next = speaks(alone) ? stage::middle : stage::last;
    if (!one_to_a_member()) {
      p_.fence_release_local();
      if (!places_.grouped()) {
        give_middles(epoch, turn, at_.block, value, alone);
      } else {
        const unsigned in_group = at_.block - group * places_.group;
        if (p_.lane() == 0) give(at_.member, epoch, turn, places_.of_group(group), in_group, value);
        if (in_group == 0) next = stage::group;
      }
      arrived();
      if (hold_ != 0) p_.hold(hold_);
    }
    MGSYNC_ROLLED
    for (;;) {
      if (next != stage::middle || !one_to_a_member()) {
        if (gather(epoch, turn, list_of(next, group, alone), value, op) == 0) return 0;
        if (next == stage::last) break;
        p_.fence_polled_local();
        p_.sync_team();  // what some lanes acquired, before all of them release
      }
      if (next == stage::middle) {
        speak(epoch, turn, value, spoken);
        next = stage::last;
      } else {
        p_.fence_release_local();
        give_middles(epoch, turn, group, value, alone);
        next = speaks(alone) ? stage::middle : stage::last;
      }
    }
    p_.fence_polled_system();
    return 1;
  }

 private:
  enum class stage : unsigned { group, middle, last };
  struct list {
    unsigned chunk, entries;
  };

  MGSYNC_HD list list_of(stage which, unsigned group, bool alone) const {
    if (which == stage::group) {
      const unsigned left = at_.blocks - at_.block;
      return {places_.of_group(group), left < places_.group ? left : places_.group};
    }
    if (which == stage::middle) return {places_.middle(0), places_.middles()};
    if (alone) return {places_.middle(at_.block & (places_.middle_copies() - 1)), places_.middles()};
    return {places_.inbox(at_.block & (places_.inbox_copies() - 1)), at_.members};
  }

  // One block on each of several members: it tells them all at once.
  MGSYNC_HD bool one_to_a_member() const { return at_.blocks == 1 && at_.members != 1; }
  MGSYNC_HD bool speaks(bool alone) const { return !alone && at_.block == 0; }

  // Puts the value down as entry `entry` of the list in that chunk and those behind it.
  template <class V>
  MGSYNC_HD void give(unsigned member, std::uint32_t epoch, unsigned turn, unsigned chunk, unsigned entry,
                      V value) {
    carried<V> bits;
    bits.value = value;
    for (unsigned half = 0; half < carried<V>::halves; ++half)
      p_.store_pair_fenced_system(pair_of(member, turn, half, chunk, entry),
                                  static_cast<std::uint64_t>(bits.words[half]) << 32 | epoch);
  }
  template <class V>
  MGSYNC_HD void give_middles(std::uint32_t epoch, unsigned turn, unsigned entry, V value, bool alone) {
    const unsigned copies = alone ? places_.middle_copies() : 1;
    for (unsigned copy = p_.lane(); copy < copies; copy += P::lanes)
      give(at_.member, epoch, turn, places_.middle(copy), entry, value);
  }
  template <class V, class Spoken>
  MGSYNC_HD void speak(std::uint32_t epoch, unsigned turn, V value, Spoken spoken) {
    p_.fence_release_system();
    for (unsigned copy = 0; copy < places_.inbox_copies(); ++copy)
      for (unsigned to = p_.lane(); to < at_.members; to += P::lanes)
        give(to, epoch, turn, places_.inbox(copy), at_.member, value);
    spoken();
  }

  // Waits for all of a list, and combines it: as many at once as there are SMs, in every lane of its own.
  template <class V, class Op>
  MGSYNC_HD unsigned gather(std::uint32_t epoch, unsigned turn, const list& from, V& value, Op op) {
    constexpr unsigned at_once = 5, halves = carried<V>::halves;
    V mine{};
    const unsigned lane = p_.lane();
    pair* places = &pair_of(at_.member, turn, 0, from.chunk, lane);
    // Of entries that are left: the lane's are 0, lanes, 2 * lanes, ... of these.
    unsigned left = from.entries > lane ? from.entries - lane : 0;
    bool begun = false;
    MGSYNC_ROLLED
    for (unsigned chunk = 0; chunk * P::lanes < from.entries; chunk += at_once) {
      std::uint32_t words[at_once][halves];
      const unsigned all_here = p_.wait_each(epoch, [&] {
        bool here = true;
        MGSYNC_UNROLLED
        for (unsigned i = 0; i < at_once; ++i)
          for (unsigned half = 0; half < halves; ++half)
            if (i * P::lanes < left) {
              const std::uint64_t seen =
                  p_.poll_pair_system(places[i * places_.spacing + half * places_.lanes]);
              words[i][half] = static_cast<std::uint32_t>(seen >> 32);
              here = here && static_cast<std::uint32_t>(seen) == epoch;
            }
        return here;
      });
      if (all_here == 0) return 0;
      MGSYNC_UNROLLED
      for (unsigned i = 0; i < at_once; ++i)
        if (i * P::lanes < left) {
          carried<V> bits;
          for (unsigned half = 0; half < halves; ++half) bits.words[half] = words[i][half];
          mine = begun || i != 0 ? op(mine, bits.value) : bits.value;
        }
      begun = true;
      places += at_once * places_.spacing;
      left = left > at_once * P::lanes ? left - at_once * P::lanes : 0;
    }
    value = p_.combined(mine, from.entries < P::lanes ? from.entries : P::lanes, op);
    return 1;
  }

  MGSYNC_HD pair& pair_of(unsigned member, unsigned turn, unsigned half, unsigned chunk, unsigned entry) {
    return memory_.pair_at(member, places_.pair_of(chunk + entry / P::lanes, turn, half, entry % P::lanes));
  }
  // When the block's own place of that turn was written last.
  MGSYNC_HD std::uint32_t epoch_at(unsigned turn) {
    unsigned chunk = places_.middle(0), entry = at_.block;
    if (one_to_a_member()) {
      chunk = places_.inbox(0);
      entry = at_.member;
    } else if (places_.grouped()) {
      chunk = places_.of_group(at_.block / places_.group);
      entry = at_.block % places_.group;
    }
    return static_cast<std::uint32_t>(p_.poll_pair_system(pair_of(at_.member, turn, 0, chunk, entry)));
  }

  P p_;  // a copy: an object that refers to itself would be kept in memory, not in registers
  M& memory_;
  const Layout places_;
  position at_;
  unsigned hold_;
};

}}}  // namespace mgsync::v1::algorithm
