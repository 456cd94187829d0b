// Data with its epoch: what is carried is its own flag, as in Lamport's form of TensorRT-LLM and FlashInfer
// and in NCCL's LL protocol. TensorRT-LLM marks a buffer as empty with -0.0, which the data must not be; here
// a store of 8 bytes carries a word and the round's number, as LL does. Nothing is released and nothing
// acquired: who passes has the words of this round, and no other memory is ordered between members. Two slots
// in turn. An all-reduce, as those of all_reduce.hpp, whose layout it has.
#pragma once

#include "barriers/parts/algorithm/all_reduce.hpp"
#include "barriers/peers/form.hpp"

namespace mgsync::peers {

struct data_with_epoch {
  static constexpr const char* name = "data-with-epoch";

  // Every member's word: the sum of what its blocks bring. take(member, word), once for each, by the team of
  // every block.
  template <class P, class M, class Take>
  MGSYNC_HD static bool gather(P& p, M& memory, const position& at, std::uint32_t epoch, std::uint32_t value,
                               Take take) {
    const algorithm::reduction_layout lines{at.members};
    std::uint32_t mine = 0;
    if (algorithm::combine_locally(p, memory, at, epoch, value, mine))
      each_member(p, at, [&](unsigned to) {
        p.store_pair_fenced_system(memory.pair_line(to, lines.slot(at.member, epoch)),
                                   algorithm::pack(epoch, mine));
      });
    bool ok = true;
    each_member(p, at, [&](unsigned from) {
      auto& slot = memory.pair_line(at.member, lines.slot(from, epoch));
      std::uint64_t seen = 0;
      ok = ok && p.wait_lane([&] {
        seen = p.load_pair_relaxed_system(slot);
        return algorithm::reached(static_cast<std::uint32_t>(seen), epoch);
      });
      take(from, algorithm::value_of(seen));
    });
    return p.all(ok);
  }

  template <class P, class M>
  MGSYNC_HD static bool all_reduce(P& p, M& memory, const position& at, std::uint32_t epoch,
                                   std::uint32_t value, std::uint32_t& total) {
    p.sync();
    bool ok = true;
    if (p.in_team()) {
      std::uint32_t part = 0;
      ok = gather(p, memory, at, epoch, value, [&](unsigned, std::uint32_t word) { part += word; });
      total = p.sum(part);
    }
    return p.sync_and(ok);
  }
};

}  // namespace mgsync::peers
