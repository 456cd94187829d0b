// Addresses and policy of kernels whose group may have more GPUs than a warp has lanes: each lane polls and
// writes a word for every 32 GPUs. Device code, C++17; a part of the public header mgsync/many_gpus.cuh.
#pragma once

#include "barriers/library/multi_grid_policy.hpp"

namespace mgsync { inline namespace v1 { namespace algorithm {

// The words of one inbox, that of the own GPU or of another, lie in every second line (relay_layout). There
// is one replica of each inbox.
class many_gpus_addresses : public multi_grid_addresses {
  using word = std::uint32_t;

 public:
  static constexpr unsigned lanes = 32;
  static constexpr unsigned words_of_lane = (multi_grid_handle::most_gpus_of_many + lanes - 1) / lanes;

  many_gpus_addresses() = default;
  __device__ __forceinline__ many_gpus_addresses(const multi_grid_handle& handle, unsigned block,
                                                 unsigned lane)
      : multi_grid_addresses(handle, block, lane) {
    if (!is_many(handle)) return;
    for (unsigned i = 0; i < words_of_lane; ++i)
      outs_[i] = lane + i * lanes < handle.gpus ? handle.table[lane + i * lanes] + place_in_inbox(handle.rank)
                                                : nullptr;
  }

  __device__ __forceinline__ static bool is_many(const multi_grid_handle& handle) {
    return handle.version == multi_grid_handle::many_version;
  }
  // The inbox's word of member `from`, counted from the beginning of a part.
  __device__ __forceinline__ static unsigned place_in_inbox(unsigned from) {
    return (relay_layout{}.inbox(0) + relay_layout::lines_ahead(from, words_of_line)) * words_of_line +
           from % words_of_line;
  }
  __device__ __forceinline__ static std::uint32_t state_of(const multi_grid_handle& handle, unsigned block,
                                                           unsigned thread) {
    std::uint32_t state = multi_grid_addresses::state_of(handle, block, thread);
    if (is_many(handle) && thread < lanes) state |= multi_grid_state::writes;
    return state;
  }
  __device__ __forceinline__ static word quiet_rounds(const multi_grid_handle& handle, unsigned block) {
    if (!is_many(handle)) return multi_grid_addresses::quiet_rounds(handle, block);
    return ptx::load_relaxed<ptx::scope::system>(handle.own + place_in_inbox(handle.rank) + words_of_line);
  }
  // Null: nothing more to wait for. Counters are polled alike by all, and lie elsewhere.
  __device__ __forceinline__ word* polled(const multi_grid_handle& handle, unsigned i) const {
    if (i == 0) return polled_;
    const unsigned from = static_cast<unsigned>(polled_ - handle.own) % words_of_line + i * lanes;
    return is_many(handle) && from < handle.gpus ? polled_ + i * 2 * words_of_line : nullptr;
  }

  word* outs_[words_of_lane];  // of many GPUs
};

class many_gpus_relay_addresses : public multi_grid_relay_addresses {
  using word = std::uint32_t;

 public:
  __device__ __forceinline__ many_gpus_relay_addresses(const multi_grid_handle& handle, std::uint32_t state,
                                                       const many_gpus_addresses& words)
      : multi_grid_relay_addresses(handle, state, words),
        many_(handle, words, multi_grid_relay_addresses::out()) {}

  struct outbox {
    const multi_grid_handle& handle;
    const many_gpus_addresses& words;
    multi_grid_relay_addresses::outbox few;
    __device__ __forceinline__ outbox(const multi_grid_handle& h, const many_gpus_addresses& w,
                                      const multi_grid_relay_addresses::outbox& f)
        : handle(h), words(w), few(f) {}
    template <class F>
    __device__ __forceinline__ void each(F f) {
      if (!many_gpus_addresses::is_many(handle)) return few.each(f);
      for (unsigned i = 0; i < many_gpus_addresses::words_of_lane; ++i)
        if (words.outs_[i] != nullptr) f(*words.outs_[i]);
    }
  };
  __device__ __forceinline__ outbox out() const { return many_; }

 private:
  outbox many_;
};

template <class Base>
class many_gpus_policy : public Base {
 public:
  using word = std::uint32_t;
  using addresses = many_gpus_addresses;
  using relay_addresses = many_gpus_relay_addresses;
  static constexpr unsigned words_of_lane = many_gpus_addresses::words_of_lane;

  __device__ __forceinline__ many_gpus_policy(std::uint32_t state, const multi_grid_handle& handle)
      : Base(state, handle) {}
  __device__ __forceinline__ static word why_unknown(const multi_grid_handle& handle) {
    return handle.version == multi_grid_handle::many_version ? 0 : Base::why_unknown(handle);
  }

  __device__ __forceinline__ unsigned await(word* polled, word target, word epoch) const {
    return await_by<polling::inbox>(polled, target, epoch);
  }
  // Returns not 0 if given up, after it has reported that.
  template <polling Loop>
  __device__ __forceinline__ unsigned await_by(word* polled, word target, word epoch) const {
    addresses words;
    words.polled_ = polled;
    if (Loop == polling::quiet) words.polled_ -= addresses::words_of_line;
    for (;;) {
#pragma unroll 1
      for (unsigned polls = 0; polls < Base::polls_per_look; ++polls)
        if (this->template all_reached<Loop, words_of_lane>([&](unsigned i) {
              word* const w = i == 0 ? words.polled_ : words.polled(this->handle_, i);
              constexpr unsigned behind = Loop == polling::quiet ? addresses::words_of_line : 0;
              return polled_word<word>{w == nullptr ? nullptr : w + behind, target};
            }))
          return 0;
      if (this->gives_up(epoch)) break;
    }
    this->report_given_up();
    return 1;
  }
};

}}}  // namespace mgsync::v1::algorithm
