// Carrier: a barrier whose arrivals carry a value of 32 or 64 bits each, and at which all learn what an
// operation makes of them all. Every block of a member releases and leaves its value; block 0 combines them,
// and speaks for the member: it writes what came out into its place in every copy of every member's inbox,
// which the blocks poll, and of which each combines the members' values. A value travels with its round's
// epoch in one word of 64 bits, in two for a value of 64, so whoever sees the epoch has the value: there is
// no count, and one system fence per member and round, one hop.
//   many blocks: the first block of every group combines the group's ahead of block 0.
// Every value has two places in turn: a member may be one round ahead of a reader, never two.
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
//   lanes, lane(), fence_release_local(), fence_polled_system()
//   pair, store_pair_fenced_system(pair&, v)    as in all_reduce.hpp; `local` ones of a member use it too
//   poll_pair_system(pair&)
//   wait_each(epoch, here)                      polls until here() holds in every lane; 0: given up
//   combined(v, n, op)                          over the first n lanes in the order above, known to all
// and the memory, of the calling block,
//   pair& value(i)                              place i of its member's own values (carried_values)
//   pair& heard(from, turn, half)               what member `from` told, in the inbox that the block polls
//   each_told(turn, half, f)                    f(place) for all that the lane writes as the block speaks
#pragma once

#include "barriers/parts/algorithm/layout.hpp"

namespace mgsync { inline namespace v1 { namespace algorithm {

// Where a member keeps the values of its blocks: in chunks of one for each lane, each on a page of its own,
// since neighbouring lines of a page share a slice of the L2 cache. Indexes count pairs.
struct carried_values {
  unsigned blocks;
  unsigned lanes = 32;
  unsigned spacing = 33 * line_bytes / sizeof(std::uint64_t);  // of chunks: 4 KiB and one line
  unsigned most_direct = 320;  // blocks without groups: two on each SM of an H200
  unsigned group = 32;         // blocks of a group

  MGSYNC_HD constexpr bool grouped() const { return blocks > most_direct; }
  MGSYNC_HD constexpr unsigned groups() const { return (blocks + group - 1) / group; }
  MGSYNC_HD constexpr unsigned of_group(unsigned g) const { return g * chunks(group); }
  // The first chunk of what block 0 looks at: the groups' values, or the blocks'.
  MGSYNC_HD constexpr unsigned top() const { return grouped() ? of_group(groups()) : 0; }
  MGSYNC_HD constexpr unsigned all_chunks() const { return top() + chunks(grouped() ? groups() : blocks); }
  MGSYNC_HD constexpr unsigned chunks(unsigned values) const { return (values + lanes - 1) / lanes; }
  MGSYNC_HD constexpr unsigned place(unsigned chunk, unsigned entry) const {
    return (chunk + entry / lanes) * spacing + entry % lanes;
  }
  // How far behind that place it is, of two turns and two halves.
  MGSYNC_HD constexpr unsigned behind(unsigned turn, unsigned half) const {
    return (2 * turn + half) * lanes;
  }
};

// Where members' values lie behind a line that each copy of an inbox has to itself on its page: of two turns
// the halves, of each a pair of every member.
struct carried_inbox {
  static constexpr unsigned lines_ahead = 8, most_members = 16;
  MGSYNC_HD static constexpr unsigned place(unsigned turn, unsigned half, unsigned from) {
    return (2 * turn + half) * most_members + from;
  }
  static constexpr unsigned places = 4 * most_members;
};

// A value and its words.
template <class V>
union carried {
  static_assert(sizeof(V) == 4 || sizeof(V) == 8, "a carried value has 32 or 64 bits");
  static constexpr unsigned halves = sizeof(V) / sizeof(std::uint32_t);
  V value;
  std::uint32_t words[halves];
};

template <class P, class M>
class carrier {
 public:
  MGSYNC_HD carrier(const P& policy, M& memory, const carried_values& values, const position& at)
      : p_(policy), memory_(memory), values_(values), at_(at) {}

  // 0 or 1: the turn of the last round that this block came to, which its own words tell.
  MGSYNC_HD unsigned last_turn() { return reached(epoch_at(1), epoch_at(0)) ? 1 : 0; }

  // What the team of every block does between the block's own two barriers. `turn`: the other than in
  // the round before. `value`: the block's; then what is made of all. Calls arrived() behind the block's
  // arrival where the member has several, and spoken() as the block has spoken for its member. 0: given up.
  template <class V, class Op, class Arrived, class Spoken>
  MGSYNC_HD unsigned carry(std::uint32_t epoch, unsigned turn, V& value, Op op, Arrived arrived,
                           Spoken spoken) {
    bool speaks = true;
    if (at_.blocks != 1 && gather(epoch, turn, value, op, arrived, speaks) == 0) return 0;
    if (speaks) {
      speak(epoch, turn, value);
      spoken();
    }
    return hear(epoch, turn, value, op);
  }

 private:
  // Leaves the value, and combines those of a group, or in block 0 those of the member. `speaks`: whether the
  // block is to speak for its member. 0: given up.
  template <class V, class Op, class Arrived>
  MGSYNC_HD unsigned gather(std::uint32_t epoch, unsigned turn, V& value, Op op, Arrived arrived,
                            bool& speaks) {
    const unsigned group = at_.block / values_.group, in_group = at_.block - group * values_.group;
    bool top = !values_.grouped();
    unsigned chunk = top ? 0 : values_.of_group(group), entries = at_.blocks;
    p_.fence_release_local();
    give(epoch, turn, chunk, top ? at_.block : in_group, value);
    arrived();
    speaks = at_.block == 0;
    if (top ? !speaks : in_group != 0) return 1;
    if (!top) {
      const unsigned left = at_.blocks - at_.block;
      entries = left < values_.group ? left : values_.group;
    }
    MGSYNC_ROLLED
    for (;;) {
      if (collect(epoch, turn, chunk, entries, value, op) == 0) return 0;
      p_.fence_polled_system();
      p_.sync_team();  // what some lanes acquired and read, before all of them release
      if (top) return 1;
      top = true;
      chunk = values_.top();
      entries = values_.groups();
      p_.fence_release_local();
      give(epoch, turn, chunk, group, value);
      if (!speaks) return 1;
    }
  }

  template <class V>
  MGSYNC_HD void give(std::uint32_t epoch, unsigned turn, unsigned chunk, unsigned entry, V value) {
    if (!p_.leader()) return;
    carried<V> mine;
    mine.value = value;
    MGSYNC_UNROLLED
    for (unsigned half = 0; half < carried<V>::halves; ++half)
      p_.store_pair_fenced_system((&memory_.value(values_.place(chunk, entry)))[values_.behind(turn, half)],
                                  std::uint64_t{mine.words[half]} << 32 | epoch);
  }

  // Waits for all of a list, and combines it: as many at once as have a value on each SM, in every lane of
  // its own.
  template <class V, class Op>
  MGSYNC_HD unsigned collect(std::uint32_t epoch, unsigned turn, unsigned chunk, unsigned entries, V& value,
                             Op op) {
    constexpr unsigned halves = carried<V>::halves, at_once = halves == 1 ? 5 : 3;
    const unsigned lane = p_.lane();
    V mine{};
    auto* places = &memory_.value(values_.place(chunk, 0));
    bool begun = false;
    MGSYNC_ROLLED
    for (unsigned left = entries; left != 0;) {
      std::uint64_t seen[at_once][halves];
      // A lane without an entry looks at the last: nothing is asked between two loads that would wait for the
      // first.
      const unsigned all_here = p_.template wait_each<polling::sums>(epoch, [&] {
        MGSYNC_UNROLLED
        for (unsigned i = 0; i < at_once; ++i)
          for (unsigned half = 0; half < halves; ++half) {
            seen[i][half] = epoch;
            if (i * P::lanes >= left) continue;
            const unsigned last = left - i * P::lanes - 1;
            seen[i][half] = p_.poll_pair_system(
                places[i * values_.spacing + values_.behind(turn, half) + (lane < last ? lane : last)]);
          }
        return are_of(epoch, seen);
      });
      if (all_here == 0) return 0;
      MGSYNC_UNROLLED
      for (unsigned i = 0; i < at_once; ++i)
        if (i * P::lanes + lane < left) {
          const V next = value_in<V>(seen[i]);
          mine = begun || i != 0 ? op(mine, next) : next;
        }
      begun = true;
      places += at_once * values_.spacing;
      left = left > at_once * P::lanes ? left - at_once * P::lanes : 0;
    }
    value = p_.combined(mine, entries < P::lanes ? entries : P::lanes, op);
    return 1;
  }

  template <unsigned N, unsigned Halves>
  MGSYNC_HD static bool are_of(std::uint32_t epoch, const std::uint64_t (&seen)[N][Halves]) {
    std::uint32_t differ = 0;
    MGSYNC_UNROLLED
    for (unsigned i = 0; i < N; ++i)
      for (unsigned half = 0; half < Halves; ++half)
        differ |= static_cast<std::uint32_t>(seen[i][half]) ^ epoch;
    return differ == 0;
  }
  template <class V>
  MGSYNC_HD static V value_in(const std::uint64_t (&seen)[carried<V>::halves]) {
    carried<V> made;
    for (unsigned half = 0; half < carried<V>::halves; ++half)
      made.words[half] = static_cast<std::uint32_t>(seen[half] >> 32);
    return made.value;
  }

  template <class V>
  MGSYNC_HD void speak(std::uint32_t epoch, unsigned turn, V value) {
    carried<V> bits;
    bits.value = value;
    p_.fence_release_system();
    MGSYNC_UNROLLED
    for (unsigned half = 0; half < carried<V>::halves; ++half) {
      const std::uint64_t told = std::uint64_t{bits.words[half]} << 32 | epoch;
      memory_.each_told(turn, half,
                        [&](typename P::pair& place) { p_.store_pair_fenced_system(place, told); });
    }
  }

  // Waits for all members, and combines what they told.
  template <class V, class Op>
  MGSYNC_HD unsigned hear(std::uint32_t epoch, unsigned turn, V& value, Op op) {
    V mine{};
    for (unsigned first = 0; first < at_.members; first += P::lanes) {
      // Lanes without a member poll another's words: no divergence.
      const unsigned from = first + p_.lane() < at_.members ? first + p_.lane() : at_.members - 1;
      std::uint64_t seen[1][carried<V>::halves];
      const unsigned all_here = p_.wait_each(epoch, [&] {
        MGSYNC_UNROLLED
        for (unsigned half = 0; half < carried<V>::halves; ++half)
          seen[0][half] = p_.poll_pair_system(memory_.heard(from, turn, half));
        return are_of(epoch, seen);
      });
      if (all_here == 0) return 0;
      const V told = value_in<V>(seen[0]);
      if (first == 0) mine = told;
      else if (first + p_.lane() < at_.members) mine = op(mine, told);
      if (P::lanes >= carried_inbox::most_members) break;
    }
    value = at_.members == 1 ? mine : p_.combined(mine, at_.members < P::lanes ? at_.members : P::lanes, op);
    p_.fence_polled_system();
    return 1;
  }

  // When the block's own place of that turn was written last.
  MGSYNC_HD std::uint32_t epoch_at(unsigned turn) {
    if (at_.blocks == 1)
      return static_cast<std::uint32_t>(p_.poll_pair_system(memory_.heard(at_.member, turn, 0)));
    const unsigned group = values_.grouped() ? at_.block / values_.group : 0;
    const unsigned place = values_.place(values_.of_group(group), at_.block - group * values_.group);
    return static_cast<std::uint32_t>(p_.poll_pair_system((&memory_.value(place))[values_.behind(turn, 0)]));
  }

  P p_;  // a copy: an object that refers to itself would be kept in memory, not in registers
  M& memory_;
  const carried_values values_;
  position at_;
};

}}}  // namespace mgsync::v1::algorithm
