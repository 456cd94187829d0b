// A policy (policy.hpp) that notes who comes last and who waits, over one that tells neither: for threads, as
// traced_policy.hpp is for kernels. C++17.
#pragma once

#include "barriers/parts/algorithm/policy.hpp"
#include "barriers/parts/recorder/wait_board.hpp"

namespace mgsync { inline namespace v1 { namespace algorithm {

// P has wait_until(epoch, condition). `Now` is a clock: a type whose ns() counts nanoseconds. Each word that
// is polled is of one member, the i-th of member i.
template <class P, class Now>
class traced : public P {
 public:
  static constexpr unsigned polls_per_note = 16;

  traced(const P& policy, wait_trace& trace, unsigned member, unsigned block)
      : P(policy), trace_(&trace), member_(member), block_(block) {}

  template <polling Loop, unsigned N, class Words>
  bool wait_words(typename P::word epoch, Words words) const {
    constexpr bool of_members = Loop == polling::inbox || Loop == polling::quiet;
    const auto missing = [&] {
      return of_members ? this->template those_missing<N>(words) : own_if<N>(words);
    };
    straggler_watch watch(missing(), Now::ns());
    if (watch.missing() == 0) return P::template wait_words<Loop, N>(epoch, words);
    wait_note& note = trace_->notes[block_];
    unsigned polls = 0;
    const bool passed = this->wait_until(epoch, [&] {
      const std::uint64_t now_missing = missing();
      if (now_missing == 0) return true;
      watch.see(now_missing, Now::ns);
      if (++polls % polls_per_note == 0) write_note(note, wait_note::waits, epoch, watch, Now::ns());
      return false;
    });
    const std::uint64_t now = Now::ns();
    if (get_shared(note.epoch) == epoch || !passed)
      write_note(note, passed ? wait_note::passed : wait_note::gave_up, epoch, watch, now);
    if (!passed) return false;
    if (of_members && block_ == 0 && watch.missing() != std::uint64_t{1} << member_) {
      trace_->count(epoch, watch.missing(), now - watch.since_ns());
      trace_->tell();
    }
    return P::template wait_words<Loop, N>(epoch, words);  // with the policy's own ordering
  }

 private:
  template <unsigned N, class Words>
  std::uint64_t those_missing(Words& words) const {
    std::uint64_t missing = 0;
    for (unsigned i = 0; i < N; ++i)
      if (const auto w = words(i);
          w.address != nullptr && !reached(this->load_relaxed_local(*w.address), w.target))
        missing |= std::uint64_t{1} << i;
    return missing;
  }
  template <unsigned N, class Words>
  std::uint64_t own_if(Words& words) const {
    return those_missing<N>(words) == 0 ? 0 : std::uint64_t{1} << member_;
  }

  wait_trace* trace_;
  unsigned member_, block_;
};

}}}  // namespace mgsync::v1::algorithm
