// All-reduce (sum modulo 2^32) of one value per block: a barrier that carries data, with epoch and value in
// one 64-bit word, so that no second flag and no second fence is needed. Besides policy.hpp, the policy
// supplies:
//   pair                              a 64-bit word, alone in its line: the epoch below, the value above
//   store_pair_release_local(pair&, v), store_pair_fenced_system(pair&, v)
//   wait_pair_local(pair&, epoch, v), wait_pair_system(pair&, epoch, v)
//                                     poll with acquire until the epoch is reached; the value goes to v;
//                                     false: given up
//   load_relaxed_local(word&), store_relaxed_local(word&, v), add_relaxed_local(word&, v)
//   sum(v)                            over the team, known to all of it
// and the memory supplies pair& pair_line(member, index).
// Slots alternate with the epoch's parity: a member may be one epoch ahead of a reader, never two.
// Memory ordering: as inbox (push) and hub (pull).
#pragma once

#include "barriers/parts/algorithm/policy.hpp"

namespace mgsync { inline namespace v1 { namespace algorithm {

struct reduction_layout {
  unsigned members;

  MGSYNC_HD unsigned arrivals() const { return 0; }     // counter of this member's blocks
  MGSYNC_HD unsigned running_sum() const { return 1; }  // of all contributions of this member, never reset
  MGSYNC_HD unsigned sum_before() const { return 2; }   // running_sum at the end of the last epoch
  MGSYNC_HD unsigned result(std::uint32_t epoch) const { return 3 + (epoch & 1); }
  MGSYNC_HD unsigned slot(unsigned from, std::uint32_t epoch) const { return 5 + 2 * from + (epoch & 1); }
  MGSYNC_HD unsigned lines() const { return 5 + 2 * members; }
};

MGSYNC_HD constexpr std::uint64_t pack(std::uint32_t epoch, std::uint32_t value) {
  return static_cast<std::uint64_t>(value) << 32 | epoch;
}
MGSYNC_HD constexpr std::uint32_t value_of(std::uint64_t pair) {
  return static_cast<std::uint32_t>(pair >> 32);
}

// Adds the block's value to its member's. True in the whole team of the last block, which gets the member's
// sum.
template <class P, class M>
MGSYNC_HD bool combine_locally(P& p, M& memory, const position& at, std::uint32_t epoch, std::uint32_t value,
                               std::uint32_t& member_sum) {
  if (at.blocks == 1) {
    member_sum = value;
    return true;
  }
  const reduction_layout lines{at.members};
  bool last = false;
  std::uint32_t sum = 0;
  if (p.leader()) {
    p.add_relaxed_local(memory.line(at.member, lines.running_sum()), value);
    const std::uint32_t before = p.add_acq_rel_local(memory.line(at.member, lines.arrivals()), 1);
    last = before + 1 == at.blocks * epoch;
    if (last) {
      const std::uint32_t now = p.load_relaxed_local(memory.line(at.member, lines.running_sum()));
      sum = now - p.load_relaxed_local(memory.line(at.member, lines.sum_before()));
      p.store_relaxed_local(memory.line(at.member, lines.sum_before()), now);
    }
  }
  member_sum = p.broadcast(sum);
  last = p.broadcast(last);
  p.sync_team();  // only the leader acquired the counter, but every lane releases by itself
  return last;
}

// Push: the last block of each member writes the member's sum into its slot at every member; every block adds
// up the slots of its own member.
struct push {
  static constexpr const char* name = "push";

  template <class P, class M>
  MGSYNC_HD static bool all_reduce(P& p, M& memory, const position& at, std::uint32_t epoch,
                                   std::uint32_t value, std::uint32_t& total) {
    const reduction_layout lines{at.members};
    p.sync();
    bool ok = true;
    if (p.in_team()) {
      std::uint32_t mine = 0;
      if (combine_locally(p, memory, at, epoch, value, mine)) {
        p.fence_release_system();
        p.for_each(at.members, [&](unsigned i) {
          const unsigned to = (at.member + i) % at.members;
          p.store_pair_fenced_system(memory.pair_line(to, lines.slot(at.member, epoch)), pack(epoch, mine));
        });
      }
      std::uint32_t part = 0;
      p.for_each(at.members, [&](unsigned i) {
        const unsigned from = (at.member + i) % at.members;
        std::uint64_t seen = 0;
        ok = ok && p.wait_pair_system(memory.pair_line(at.member, lines.slot(from, epoch)), epoch, seen);
        part += value_of(seen);
      });
      ok = p.all(ok);
      total = p.sum(part);
    }
    return p.sync_and(ok);
  }
};

// Pull: the last block of each member publishes the member's sum in its own part, reads those of the others
// over the link, and releases its blocks with the total.
struct pull {
  static constexpr const char* name = "pull";

  template <class P, class M>
  MGSYNC_HD static bool all_reduce(P& p, M& memory, const position& at, std::uint32_t epoch,
                                   std::uint32_t value, std::uint32_t& total) {
    p.sync();
    bool ok = true;
    if (p.in_team()) {
      std::uint32_t mine = 0;
      const bool last = combine_locally(p, memory, at, epoch, value, mine);
      if (last) ok = exchange(p, memory, at, epoch, mine, total);
      if (ok && at.blocks > 1) ok = release(p, memory, at, epoch, last, total);
    }
    return p.sync_and(ok);
  }

 private:
  template <class P, class M>
  MGSYNC_HD static bool exchange(P& p, M& memory, const position& at, std::uint32_t epoch, std::uint32_t mine,
                                 std::uint32_t& total) {
    const reduction_layout lines{at.members};
    p.fence_release_system();
    if (p.leader())
      p.store_pair_fenced_system(memory.pair_line(at.member, lines.slot(at.member, epoch)),
                                 pack(epoch, mine));
    bool ok = true;
    std::uint32_t part = 0;
    p.for_each(at.members, [&](unsigned i) {
      const unsigned from = (at.member + i) % at.members;
      if (i == 0) {
        part += mine;
        return;
      }
      std::uint64_t seen = 0;
      ok = ok && p.wait_pair_system(memory.pair_line(from, lines.slot(from, epoch)), epoch, seen);
      part += value_of(seen);
    });
    total = p.sum(part);
    return p.all(ok);
  }

  template <class P, class M>
  MGSYNC_HD static bool release(P& p, M& memory, const position& at, std::uint32_t epoch, bool last,
                                std::uint32_t& total) {
    const reduction_layout lines{at.members};
    bool ok = true;
    std::uint64_t seen = pack(epoch, total);
    if (p.leader()) {
      auto& line = memory.pair_line(at.member, lines.result(epoch));
      if (last) p.store_pair_release_local(line, seen);
      else ok = p.wait_pair_local(line, epoch, seen);
    }
    total = p.broadcast(value_of(seen));
    return p.all(ok);
  }
};

}}}  // namespace mgsync::v1::algorithm
