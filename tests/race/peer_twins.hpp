// A twin of every barrier of barriers/peers with one thing of its structure left out: each must be caught.
#pragma once

#include "barriers/parts/algorithm/all_reduce.hpp"
#include "barriers/peers/form.hpp"

namespace mgsync::race {

using peers::each_member;
using peers::each_other;
using peers::led_by_one;

// What most of the twins are made of: one line of words, which begin at `First`.
template <class Twin, bool FromZero = true>
struct of_one_line : led_by_one<Twin> {
  static constexpr unsigned lines = 1;
  static constexpr std::uint32_t first(unsigned, unsigned, unsigned, std::uint32_t start) {
    return FromZero ? 0 : start;
  }
  template <class M>
  static auto& word(M& memory, unsigned member, unsigned offset) {
    return memory.word(member, Twin::own(0), offset);
  }
};

// Flags per block without a second one: a fast member's next number overwrites what a slow one waits for.
struct one_flag_for_all_rounds : of_one_line<one_flag_for_all_rounds, false> {
  template <class P, class M>
  static bool exchange(P& p, M& memory, const algorithm::position& at, std::uint32_t epoch) {
    p.fence_release_system();
    each_other(p, at, [&](unsigned to) { p.store_fenced_system(word(memory, to, at.member), epoch); });
    each_other(p, at, [&](unsigned from) {
      p.wait_lane([&] { return p.load_acquire_system(word(memory, at.member, from)) == epoch; });
    });
    return true;
  }
};

// A flag of two states: the next one is that of the round before.
struct two_states : of_one_line<two_states> {
  template <class P, class M>
  static bool exchange(P& p, M& memory, const algorithm::position& at, std::uint32_t epoch) {
    const std::uint32_t now = (epoch + 1) % 2;  // the tests begin at an even epoch, whose state is 1
    p.fence_release_system();
    each_other(p, at, [&](unsigned to) { p.store_fenced_system(word(memory, to, at.member), 1 + now); });
    each_other(p, at, [&](unsigned from) {
      p.wait_lane([&] {
        const std::uint32_t seen = p.load_acquire_system(word(memory, at.member, from));
        return seen != 0 && seen != 2 - now;
      });
    });
    return true;
  }
};

// A mailbox whose letters are not awaited: the next one overwrites one that nobody took.
struct letters_not_awaited : of_one_line<letters_not_awaited> {
  template <class P, class M>
  static bool exchange(P& p, M& memory, const algorithm::position& at, std::uint32_t) {
    p.fence_release_system();
    each_other(p, at, [&](unsigned to) { p.store_fenced_system(word(memory, to, at.member), 1); });
    each_other(p, at, [&](unsigned from) {
      p.wait_lane([&] { return p.swap_acquire_system(word(memory, at.member, from), 1, 0); });
    });
    return true;
  }
};

// A counter for each peer, of which only the first one's is looked at.
struct counted_by_one : of_one_line<counted_by_one, false> {
  template <class P, class M>
  static bool exchange(P& p, M& memory, const algorithm::position& at, std::uint32_t epoch) {
    p.fence_release_system();
    each_other(p, at, [&](unsigned to) { p.add_fenced_system(word(memory, to, at.member), 1); });
    return p.wait_system(word(memory, at.member, (at.member + 1) % at.members), epoch);
  }
};

// Counters that sum to zero, to which nobody adds his own.
struct sum_of_one_sign : of_one_line<sum_of_one_sign> {
  template <class P, class M>
  static bool exchange(P& p, M& memory, const algorithm::position& at, std::uint32_t) {
    p.fence_release_system();
    each_other(p, at, [&](unsigned to) { p.add_fenced_system(word(memory, to, at.member), 0u - 1u); });
    each_other(p, at, [&](unsigned from) {
      p.wait_lane([&] {
        return static_cast<std::int32_t>(p.load_acquire_system(word(memory, at.member, from))) <= 0;
      });
    });
    return true;
  }
};

// A counter whose sign alternates, without a second one: one is taken off before a slow member has seen it
// complete.
struct one_alternating_counter : of_one_line<one_alternating_counter> {
  template <class P, class M>
  static bool exchange(P& p, M& memory, const algorithm::position& at, std::uint32_t epoch) {
    const bool adds = epoch % 2 != 0;  // the tests begin at an even epoch
    p.fence_release_system();
    each_member(p, at, [&](unsigned to) { p.add_fenced_system(word(memory, to, 0), adds ? 1u : 0u - 1u); });
    return p.wait_lane(
        [&] { return p.load_acquire_system(word(memory, at.member, 0)) == (adds ? at.members : 0); });
  }
};

// A flag that others read, where the round before is enough.
struct read_before_written : of_one_line<read_before_written, false> {
  template <class P, class M>
  static bool exchange(P& p, M& memory, const algorithm::position& at, std::uint32_t epoch) {
    p.fence_release_system();
    p.store_fenced_system(word(memory, at.member, 0), epoch);
    bool ok = true;
    each_other(p, at, [&](unsigned from) { ok = ok && p.wait_system(word(memory, from, 0), epoch - 1); });
    return ok;
  }
};

// One addition for all, whose sum is taken off after a poll for equality: a fast member's next one comes
// before a slow member has looked.
struct taken_off_again : of_one_line<taken_off_again> {
  template <class P, class M>
  static bool exchange(P& p, M& memory, const algorithm::position& at, std::uint32_t) {
    p.fence_release_system();
    memory.add_everywhere(p, own(0));
    p.wait_lane([&] { return p.load_acquire_system(word(memory, at.member, 0)) == at.members; });
    p.add_fenced_system(word(memory, at.member, 0), 0u - at.members);
    return true;
  }
};

// Flags of block 0, which does not wait for the other blocks of its member.
struct block_0_alone : of_one_line<block_0_alone, false> {
  template <class P, class M>
  static bool arrive_and_wait(P& p, M& memory, const algorithm::position& at, std::uint32_t epoch) {
    p.fence_release_system();
    if (at.block == 0)
      each_member(p, at, [&](unsigned to) { p.store_fenced_system(word(memory, to, at.member), epoch); });
    bool ok = true;
    each_member(p, at,
                [&](unsigned from) { ok = ok && p.wait_system(word(memory, at.member, from), epoch); });
    return ok;
  }
};

// Data with its epoch in one slot: a fast member's next word is taken for this one.
struct data_of_one_slot {
  template <class P, class M>
  static bool all_reduce(P& p, M& memory, const algorithm::position& at, std::uint32_t epoch,
                         std::uint32_t value, std::uint32_t& total) {
    const algorithm::reduction_layout lines{at.members};
    each_member(p, at, [&](unsigned to) {
      p.store_pair_fenced_system(memory.pair_line(to, lines.slot(at.member, 0)),
                                 algorithm::pack(epoch, value));
    });
    total = 0;
    each_member(p, at, [&](unsigned from) {
      std::uint64_t seen = 0;
      p.wait_lane([&] {
        seen = p.load_pair_relaxed_system(memory.pair_line(at.member, lines.slot(from, 0)));
        return algorithm::reached(static_cast<std::uint32_t>(seen), epoch);
      });
      total += algorithm::value_of(seen);
    });
    return true;
  }
};

}  // namespace mgsync::race
