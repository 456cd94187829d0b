// The policy of kernels whose group tells who comes last and who waits (mgsync/traced.cuh). Device code,
// C++17.
#pragma once

#include "barriers/library/multi_grid_policy.hpp"
#include "barriers/parts/recorder/wait_board.hpp"

namespace mgsync { inline namespace v1 { namespace algorithm {

// The first block of each GPU counts who came last; every block writes a note of its waits that take long, at
// their looks. All of it lies in the GPU's own memory but for the notes, which are written only then.
template <class Base>
class traced_policy : public Base {
 public:
  using word = std::uint32_t;
  __device__ __forceinline__ traced_policy(std::uint32_t state, const multi_grid_handle& handle)
      : Base(state, handle) {}

  __device__ __forceinline__ unsigned await(word* polled, word target, word epoch) const {
    return await_by<polling::inbox>(polled, target, epoch);
  }
  // Returns not 0 if given up, after it has reported that.
  template <polling Loop>
  __device__ __forceinline__ unsigned await_by(word* polled, word target, word epoch) const {
    if (watched<Loop>(polled, target, epoch)) return 0;
    this->report_given_up();
    return 1;
  }
  template <polling Loop, unsigned N, class Words>
  __device__ __forceinline__ unsigned wait_words(word epoch, Words lane_words) const {
    const polled_word<word> w = lane_words(0);
    return watched<Loop>(w.address, w.target, epoch) ? 1 : 0;
  }
  // Of values that ride on a barrier: who is missing is not known by member.
  template <polling = polling::quiet, class Here>
  __device__ __forceinline__ unsigned wait_each(word epoch, Here here) const {
    const straggler_watch watch(0, ptx::global_time_ns());
    bool long_wait = false;
    for (;;) {
#pragma unroll 1
      for (unsigned polls = 0; polls < Base::polls_per_look; ++polls)
        if (__ballot_sync(~0u, here()) == ~0u) {
          if (long_wait) note(epoch, watch, ptx::global_time_ns(), wait_note::passed);
          return 1;
        }
      long_wait = true;
      const bool over = this->ends_waiting(epoch);
      note(epoch, watch, ptx::global_time_ns(), over ? given_up() : wait_note::waits);
      if (over) return 0;
    }
  }
  // As the group goes.
  __device__ __forceinline__ void tell() const {
    if (wait_trace* const trace = this->record().trace) trace->tell();
  }

 private:
  // One poll: members that have not come, as bits. Where the words are no members', the own member.
  template <polling Loop>
  __device__ __forceinline__ std::uint64_t missing(word* polled, word target) const {
    constexpr bool of_members = Loop == polling::inbox || Loop == polling::quiet;
    const word seen =
        Loop == polling::quiet ? ptx::load_relaxed<ptx::scope::system>(polled) : this->poll_system(*polled);
    const unsigned lanes = __ballot_sync(~0u, !reached(seen, target));
    const unsigned gpus = this->handle_.gpus;
    if (of_members && gpus != 1) return lanes & (~0u >> (32 - gpus));
    return lanes == 0 ? 0 : own();
  }
  __device__ __forceinline__ std::uint64_t own() const { return std::uint64_t{1} << this->handle_.rank; }

  template <polling Loop>
  __device__ __forceinline__ bool watched(word* polled, word target, word epoch) const {
    wait_trace* const trace = this->record().trace;  // arrives while the first poll is on its way
    std::uint64_t left = missing<Loop>(polled, target);
    straggler_watch watch(left, ptx::global_time_ns());
    bool long_wait = false;
    while (left != 0) {
#pragma unroll 1
      for (unsigned polls = 0; polls < Base::polls_per_look && left != 0; ++polls) {
        watch.see(left, ptx::global_time_ns);
        left = missing<Loop>(polled, target);
      }
      if (left == 0) break;
      long_wait = true;
      const bool over = this->gives_up(epoch);
      note(epoch, watch, ptx::global_time_ns(),
           !over                      ? wait_note::waits
           : this->record().late != 0 ? wait_note::late
                                      : wait_note::gave_up);
      if (over) return false;
    }
    if (trace == nullptr) return true;
    const std::uint64_t now = ptx::global_time_ns();
    if (long_wait) note(epoch, watch, now, wait_note::passed);
    if (Base::block() == 0 && this->is_first_lane() && watch.missing() != 0 && watch.missing() != own())
      trace->count(epoch, watch.missing(), now - watch.since_ns());
    return true;
  }

  __device__ __forceinline__ word given_up() const {
    return this->record().late != 0 ? wait_note::late : wait_note::gave_up;
  }
  __device__ __forceinline__ void note(word epoch, const straggler_watch& watch, std::uint64_t now,
                                       word state) const {
    if (!this->is_first_lane()) return;
    wait_trace* const trace = this->record().trace;
    if (trace == nullptr) return;
    const unsigned block = Base::block();
    if (block == 0) trace->tell();
    write_note(trace->notes[block], state, epoch, watch, now);
  }
};

}}}  // namespace mgsync::v1::algorithm
