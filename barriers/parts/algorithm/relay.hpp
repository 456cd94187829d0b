// Relay: the blocks of a member arrive at counters of their own GPU; one block speaks for the member: it
// writes the epoch into the member's word of every replica of every member's inbox. Every block polls one
// replica of its own member's inbox. One local step, one system fence per member and round, one hop, no
// release step.
//   counters == 1: the last block to arrive speaks, as it learns from its addition. Least latency with few
//     blocks.
//   counters > 1: blocks arrive at one of the counters, by additions that return nothing; block 0 polls all
//     counters, knowing how many blocks come to each, and speaks. Additions to one address are served one
//     after the other (0.8 a cycle on Hopper), and so are polls: with thousands of blocks the spread decides.
// Arrival and wait may also be two calls (arrive, await), in any order with whole rounds. Such an arrival
// waits for nobody: where there are several counters, the blocks of each meet at a count of their own, and
// the last of these at one of the member's, whose last block speaks.
//
// Memory ordering: what any thread of any member wrote before is visible after to all threads of all members:
// block barrier, release to the counter; acquire of the counter by the speaker's lanes, a barrier of its
// warp, one system release per lane; system acquire of the polls, block barrier. A member of one block has no
// counter: it only releases.
//
// A quiet round releases nothing and has no fence: arrivals at the same counters, then one is added to the
// word behind that of the inbox. Not a store: where the last block speaks, those of two such rounds are not
// ordered, so of two stores the older could come last; additions do not mind. Where block 0 always speaks, it
// stores their count. So quiet rounds are counted by themselves, and may stand between any others.
//
// A mixed round is a quiet one in which some blocks release: such a block has a release fence ahead of its
// arrival, and its arrival says so (some_release). The block that speaks acquires, and releases to the
// system, where one of those who came to it did, and speaks without a fence otherwise.
//
// Besides policy.hpp the policy supplies
//   lanes, lane(), kept(value), any(bool)
//   behind(word&)                         the word of quiet rounds that belongs to a word of an inbox
//   wait_words<loop, n>(epoch, words)     polls words(i), i < n, of every lane until all are reached (of one
//                                         member; the inbox with system scope)
//   wait_each<loop>(epoch, here)          polls until here() holds in every lane
//   poll_local(word&)                     what fence_polled_local() makes an acquire
//   fence_polled_local(), fence_polled_system()                  make polls before them acquires
//   add_release_local(word&, v), fetch_add_release_local(word&, v)
//                                         fence_polled_local() acquires what the second returns
//   store_relaxed_local(word&, v), add_relaxed_local(word&, v)
// and the memory supplies word& word(member, line, offset).
//
// Every instruction between two rounds is issued by every warp of an SM: by 64 of them in 16 cycles, 8 ns on
// an H200. So values that do not change are computed once and kept, verdicts are words (a bool between
// branches is converted twice), and each kind of vote stands in only one polling loop of a kernel: where two
// loops have the same, ptxas reconverges the warp at every poll (BREAK in the SASS), which costs up to 0.1 us
// a round.
#pragma once

#include "barriers/parts/algorithm/relay_addresses.hpp"

namespace mgsync { inline namespace v1 { namespace algorithm {

// The arrival of a team that learns at run time how it arrives. The release fence comes first, so that the
// branches are evaluated while the team waits for it. The lane adds to a counter without needing the value
// before (`tells`), adds and returns the value before (`asks`), which fence_polled_local() acquires, or does
// nothing. Returns `none` if it did not ask.
template <class P>
MGSYNC_HD std::uint32_t arrive_released(P& p, typename P::word* arrival, bool tells, bool asks,
                                        std::uint32_t none) {
  p.fence_release_local();
  if (tells) p.add_relaxed_local(*arrival, 1);
  else if (asks) return p.fetch_add_polled_local(*arrival, 1);
  return none;
}

// One look at a word of every lane in place of a wait. True: all are reached, and what came with them is
// acquired.
template <unsigned N = 1, class P, class Words>
MGSYNC_HD bool look_and_acquire(P& p, Words words) {
  if (!p.template all_reached<polling::inbox, N>(words)) return false;
  p.fence_polled_system();
  return true;
}

// arrive_released() in a round that releases nothing.
template <class P>
MGSYNC_HD std::uint32_t arrive_quietly(P& p, typename P::word* arrival, bool tells, bool asks,
                                       std::uint32_t none) {
  if (tells) p.add_relaxed_local(*arrival, 1);
  else if (asks) return p.fetch_add_relaxed_local(*arrival, 1);
  return none;
}

// What rides with the arrivals of a mixed round. A block that releases subtracts `said` besides adding its
// one, and gives that back once it has passed, ahead of its next arrival: both are its own accesses to one
// word, so whoever finds all arrivals of a later round finds nothing left of it. Until it is given back the
// counter lies below what it would be, so nobody who waits for a later round takes it for reached. Of less
// than 2^15 blocks a member; a GPU holds some thousands.
struct some_release {
  static constexpr std::uint32_t said = 1u << 16;
  // Of what a counter is beyond its value when all have come and nobody said so.
  MGSYNC_HD static constexpr bool all_came(std::uint32_t beyond) { return beyond % said == 0; }
};

// arrive_released() in a mixed round; `releases`: whether this block does.
template <class P>
MGSYNC_HD std::uint32_t arrive_mixed(P& p, typename P::word* arrival, bool tells, bool asks,
                                     std::uint32_t none, bool releases) {
  std::uint32_t mine = 1;
  if (releases) {
    mine -= some_release::said;
    p.fence_release_local();
  }
  if (tells) p.add_relaxed_local(*arrival, mine);
  else if (asks) return p.fetch_add_polled_local(*arrival, mine) + mine - 1;
  return none;
}
// Behind the wait of such a round, by the lanes that arrived.
template <class P>
MGSYNC_HD void unsay_release(P& p, typename P::word& arrival) {
  p.add_relaxed_local(arrival, some_release::said);
}

template <class P, class M, class Addresses = relay_addresses<P, M>>
class relay {
  using word = typename P::word;

 public:
  static constexpr const char* name = "relay";

  // Called by every thread of every block, once per launch where the addresses are kept.
  MGSYNC_HD relay(const P& policy, M& memory, const position& at, const relay_shape& shape)
      : p_(policy), a_(policy, memory, at, shape) {}
  MGSYNC_HD relay(const P& policy, const Addresses& addresses) : p_(policy), a_(addresses) {}

  // Called by every thread of every block of every member. 0: given up.
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

  // The first half of meet(). Block 0 may give up here: then its member never speaks, and every await() gives
  // up too.
  MGSYNC_HD void come(std::uint32_t epoch) {
    if (a_.is(relay_way::counted)) {
      if (!arrive_counted(epoch)) return;
    } else if (a_.is(relay_way::spread)) {
      if (!arrive_spread(epoch)) return;
    }
    speak(epoch);
  }

  // The rest of the first half after arrive_released(), for a member of several blocks. `before`: what that
  // returned; in lanes that did not ask, blocks * epoch.
  MGSYNC_HD void go_on(std::uint32_t epoch, std::uint32_t before) {
    if (a_.is(relay_way::counted)) {
      if (!p_.any(before + 1 == a_.blocks() * epoch)) return;
    } else if (!sums_up(epoch)) {
      return;
    }
    acquire_counters();
    tell(epoch);
  }
  // Speaks for the member. The whole first half where the member has one block.
  MGSYNC_HD void tell(std::uint32_t epoch) {
    p_.fence_release_system();
    say(epoch);
  }
  // The same behind the fence.
  MGSYNC_HD void say(std::uint32_t epoch) {
    a_.out().each([&](word& w) { p_.store_fenced_system(w, epoch); });
  }

  // Both of a quiet round, behind arrive_quietly().
  MGSYNC_HD void go_on_quietly(std::uint32_t epoch, std::uint32_t before, std::uint32_t count) {
    if (a_.is(relay_way::counted)) {
      if (!p_.any(before + 1 == a_.blocks() * epoch)) return;
    } else if (!sums_up(epoch)) {
      return;
    }
    tell_quietly(count);
  }
  // Where it is always the same block that speaks, its stores come in their order.
  MGSYNC_HD void tell_quietly(std::uint32_t count) {
    const bool counted = a_.is(relay_way::counted);
    a_.out().each([&](word& w) {
      if (counted) p_.add_fenced_system(P::behind(w), 1);
      else p_.store_fenced_system(P::behind(w), count);
    });
  }
  // Both of a mixed round, behind arrive_mixed().
  MGSYNC_HD void go_on_mixed(std::uint32_t epoch, std::uint32_t before, std::uint32_t count) {
    std::uint32_t said = 0;
    if (a_.is(relay_way::counted)) {
      const std::uint32_t beyond = before + 1 - a_.blocks() * epoch;
      const bool last = some_release::all_came(beyond);
      if (!p_.any(last)) return;
      said = last ? beyond : 0;
    } else if (!sums_up_mixed(epoch, said)) {
      return;
    }
    const bool releases = p_.any(said != 0);
    if (releases) acquire_counters();
    tell_mixed(releases, count);
  }
  MGSYNC_HD void tell_mixed(bool releases, std::uint32_t count) {
    if (releases) p_.fence_release_system();
    tell_quietly(count);
  }
  // The second half of quiet or mixed round `count` of the barrier's life. Returns 0 if given up.
  MGSYNC_HD unsigned await_quietly(std::uint32_t epoch, std::uint32_t count) {
    return p_.template wait_words<polling::quiet, Addresses::ins>(epoch, [&](unsigned i) {
      word* const w = a_.in(i);
      return polled_word<word>{w == nullptr ? nullptr : &P::behind(*w), count};
    });
  }

  // The same in two calls. The first, by every thread of every block of every member, waits for no other
  // block.
  MGSYNC_HD void arrive(std::uint32_t epoch) {
    p_.sync();
    if (p_.in_team()) meet_later(epoch);
  }

  // The team's part of arrive(); the block's own barrier must have come before it.
  MGSYNC_HD void meet_later(std::uint32_t epoch) {
    if (a_.is(relay_way::counted)) {
      if (!arrive_counted(epoch)) return;
    } else if (a_.is(relay_way::spread)) {
      if (!arrive_split()) return;
    }
    speak(epoch);
  }

  // The second call, by the team; the block's own barrier must come after it. Returns 0 if given up.
  MGSYNC_HD unsigned await(std::uint32_t epoch) {
    const unsigned ok = p_.template wait_words<polling::inbox, Addresses::ins>(epoch, [&](unsigned i) {
      return polled_word<word>{a_.in(i), epoch};
    });
    p_.fence_polled_system();
    return ok;
  }

 private:
  // True in the last block.
  MGSYNC_HD bool arrive_counted(std::uint32_t epoch) {
    bool last = false;
    if (p_.leader()) last = p_.fetch_add_release_local(a_.arrival(), 1) + 1 == a_.blocks() * epoch;
    return p_.any(last);
  }

  // True in block 0, once all blocks have arrived.
  MGSYNC_HD bool arrive_spread(std::uint32_t epoch) {
    if (p_.leader()) p_.add_release_local(a_.arrival(), 1);
    return sums_up(epoch);
  }
  MGSYNC_HD bool sums_up(std::uint32_t epoch) {
    return a_.is(relay_way::sums_up) &&
           p_.template wait_words<polling::sums, Addresses::sums>(epoch, [&](unsigned i) {
             return polled_word<word>{a_.sum(i), a_.share(i) * epoch};
           });
  }

  // The same of a mixed round. `said`: not 0 if a block that arrived at the lane's counters releases.
  MGSYNC_HD bool sums_up_mixed(std::uint32_t epoch, std::uint32_t& said) {
    return a_.is(relay_way::sums_up) && p_.template wait_each<polling::sums>(epoch, [&] {
      bool all = true;
      said = 0;
      for (unsigned i = 0; i < Addresses::sums; ++i) {
        word* const counter = a_.sum(i);
        if (Addresses::sums != 1 && counter == nullptr) continue;
        const std::uint32_t beyond = p_.poll_local(*counter) - a_.share(i) * epoch;
        all = all && some_release::all_came(beyond);
        said |= beyond;
      }
      return all;
    }) != 0;
  }

  // True in the last block, which adds the round to the spread counters, as no block did. The blocks of each
  // counter come to a count beside it, and the last of these to one of the member's; whoever is the last
  // resets what it came to. Nobody arrives again before the last of all has spoken, and the fence in speak()
  // comes after.
  MGSYNC_HD bool arrive_split() {
    if (!last_of(a_.split(), a_.split_share())) return false;
    acquire_counters();
    if (!last_of(a_.split_of_all(), a_.splits())) return false;
    a_.each_counter([&](word& counter, unsigned share) { p_.add_relaxed_local(counter, share); });
    return true;
  }
  MGSYNC_HD bool last_of(word& count, unsigned all) {
    bool last = false;
    if (p_.leader()) {
      last = p_.fetch_add_release_local(count, 1) + 1 == all;
      if (last) p_.store_relaxed_local(count, 0);
    }
    return p_.any(last);
  }

  // What some lanes read from the counters must be ordered before the stores of all lanes: by an acquire, a
  // barrier of the team, and the release. A vote in place of that barrier would order nothing. A member of
  // one block has no counter to acquire.
  MGSYNC_HD void speak(std::uint32_t epoch) {
    if (a_.counts()) acquire_counters();
    tell(epoch);
  }
  MGSYNC_HD void acquire_counters() {
    p_.fence_polled_local();
    p_.sync_team();
  }

  P p_;  // a copy: an object that refers to itself would be kept in memory, not in registers
  Addresses a_;
};

}}}  // namespace mgsync::v1::algorithm
