// The policy of kernels whose group tells who comes last and who waits (mgsync/traced.cuh). Device code,
// C++17.
#pragma once

#include "barriers/library/multi_grid_policy.hpp"
#include "barriers/parts/recorder/wait_board.hpp"

namespace mgsync { inline namespace v1 { namespace algorithm {

// The first block of each GPU counts who came last; every block writes a note of its waits that take long, at
// their looks. All of it lies in the GPU's own memory but for the notes, which are written only then.
//
// What is seen of a round stays in a register of the waiting warp, of another lane each round, and goes to
// memory 32 rounds at a time: what a block stores in every round makes every release fence of its SM longer,
// and what it loads between the last arrival and its leaving holds up all that wait for it. The timer is read
// while a poll is on its way.
template <class Base>
class traced_policy : public Base {
 public:
  using word = std::uint32_t;
  static constexpr bool observes = true;

  // A part of the group: the addresses, and what was seen and is not in memory yet.
  class addresses : public Base::addresses {
   public:
    addresses() = default;
    __device__ __forceinline__ addresses(const multi_grid_handle& handle, unsigned block, unsigned lane)
        : Base::addresses(handle, block, lane) {
      if (block != 0) return;
      const wait_trace* const trace = handle.records[0].trace;
      if (trace != nullptr) rounds_ = get_shared(trace->rounds);
    }

   private:
    friend class traced_policy;
    // Of the lane's last round: who came last (0: nothing seen, or in memory), by how much, and which it was.
    std::uint32_t members_ = 0, epoch_ = 0;
    std::uint64_t ns_ = 0;
    std::uint32_t rounds_ = 0;  // how many were seen so far, in all lanes; lane rounds_ % 32 has the next
  };

  __device__ __forceinline__ traced_policy(std::uint32_t state, const multi_grid_handle& handle)
      : Base(state, handle) {}  // which waits for nothing
  __device__ __forceinline__ traced_policy(std::uint32_t state, const multi_grid_handle& handle,
                                           addresses& seen)
      : Base(state, handle), seen_(&seen) {}

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
      tell();
      note(epoch, watch, ptx::global_time_ns(), over ? given_up() : wait_note::waits);
      if (over) return 0;
    }
  }
  // While the wait is long, and as the group goes: by the warp that waits.
  __device__ __forceinline__ void tell() const {
    if (Base::block() != 0) return;
    put();
    __syncwarp();  // the first lane reads what all have put
    if (!this->is_first_lane()) return;
    if (wait_trace* const trace = this->record().trace) trace->tell();
  }

 private:
  // One poll: members that have not come, as bits, and when it was issued. Where the words are no members',
  // the own member.
  template <polling Loop>
  __device__ __forceinline__ std::uint32_t missing(word* polled, word target, std::uint64_t& when) const {
    const word seen =
        Loop == polling::quiet ? ptx::load_relaxed<ptx::scope::system>(polled) : this->poll_system(*polled);
    when = ptx::global_time_ns();  // while the word is on its way
    const unsigned lanes = __ballot_sync(~0u, !reached(seen, target));
    const unsigned gpus = this->handle_.gpus;
    if (of_members<Loop> && gpus != 1) return lanes & (~0u >> (32 - gpus));
    return lanes == 0 ? 0 : own();
  }
  template <polling Loop>
  static constexpr bool of_members = Loop == polling::inbox || Loop == polling::quiet;
  __device__ __forceinline__ std::uint32_t own() const { return 1u << this->handle_.rank; }

  template <polling Loop>
  __device__ __forceinline__ bool watched(word* polled, word target, word epoch) const {
    std::uint64_t polled_at = 0;
    std::uint32_t left = missing<Loop>(polled, target, polled_at);
    straggler_watch watch(left, polled_at);
    const bool counts = of_members<Loop> && Base::block() == 0;
    const bool is_next = counts && this->lane_number() == seen_->rounds_ % 32;
    bool long_wait = false;
    while (left != 0) {
#pragma unroll 1
      for (unsigned polls = 0; polls < Base::polls_per_look && left != 0; ++polls) {
        watch.see(left, [&] { return polled_at; });
        left = missing<Loop>(polled, target, polled_at);
      }
      if (left == 0) break;
      long_wait = true;
      const bool over = this->gives_up(epoch);
      tell();
      note(epoch, watch, polled_at,
           !over                      ? wait_note::waits
           : this->record().late != 0 ? wait_note::late
                                      : wait_note::gave_up);
      if (over) return false;
    }
    if (long_wait) note(epoch, watch, polled_at, wait_note::passed);
    if (counts) keep(is_next, epoch, watch, polled_at);
    return true;
  }

  // Of a round: the last look at who was missing is at those who came last. The own GPU does not count.
  __device__ __forceinline__ void keep(bool is_next, word epoch, const straggler_watch& watch,
                                       std::uint64_t now) const {
    const auto members = static_cast<std::uint32_t>(watch.missing());
    if (members == 0 || members == own()) return;
    if (is_next) {
      seen_->members_ = members;
      seen_->epoch_ = epoch;
      seen_->ns_ = now - watch.since_ns();
    }
    if (++seen_->rounds_ % 32 == 0) put();
  }
  // Puts into the GPU's memory what its lanes keep. Each lane does so for itself: they need not meet here.
  __device__ __forceinline__ void put() const {
    addresses& its = *seen_;
    if (its.members_ == 0) return;
    const std::uint32_t last = its.rounds_ - 1, round = last - (last - this->lane_number()) % 32;
    if (wait_trace* const trace = this->record().trace) {
      trace->last[round % wait_trace::most_rounds] = {its.epoch_, 0, its.members_, its.ns_};
      if (round == last) put_shared(trace->rounds, its.rounds_);
      if ((its.members_ & (its.members_ - 1)) == 0) add(trace->late[__ffs(its.members_) - 1]);
    }
    its.members_ = 0;
  }
  // Of several lanes with one member, that with the most sets the round of it.
  __device__ __forceinline__ void add(late_member& late) const {
    const addresses& its = *seen_;
    ptx::add_relaxed<ptx::scope::gpu>(&late.times, 1);
    ptx::add_relaxed<ptx::scope::gpu>(&late.by[late_member::bits_of(its.ns_)], 1);
    ptx::max_relaxed_gpu(&late.worst_ns, its.ns_);
    if (get_shared(late.worst_ns) == its.ns_) put_shared(late.worst_epoch, its.epoch_);
  }

  __device__ __forceinline__ word given_up() const {
    return this->record().late != 0 ? wait_note::late : wait_note::gave_up;
  }
  __device__ __forceinline__ void note(word epoch, const straggler_watch& watch, std::uint64_t now,
                                       word state) const {
    if (!this->is_first_lane()) return;
    if (wait_trace* const trace = this->record().trace)
      write_note(trace->notes[Base::block()], state, epoch, watch, now);
  }

  addresses* seen_ = nullptr;
};

}}}  // namespace mgsync::v1::algorithm
