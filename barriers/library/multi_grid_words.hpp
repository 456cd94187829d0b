// Where a block of a library's kernel arrives, polls and speaks, and the few bits that say how. Device code, C++17; a part
// of the public header mgsync/multi_grid.cuh.
#pragma once

#include <cstdint>

#include <mgsync/multi_grid_handle.hpp>

#include "barriers/parts/algorithm/relay.hpp"
#include "barriers/parts/algorithm/spread_counter.hpp"

namespace mgsync::algorithm {

// What a thread knows of its group, in one register.
struct multi_grid_state {
  static constexpr std::uint32_t counted = 1, spread = 2, sums_up = 4;  // relay_way
  static constexpr std::uint32_t relay = 8, counter = 16;               // the algorithm; none: given up
  static constexpr std::uint32_t member = 32, in_team = 64, one_warp = 128, alone = 256, leader = 512;
};

// The words of the caller's lane, worked out once: nine registers with the state and the epoch. What only the block that
// speaks needs is worked out while it waits for an answer.
class multi_grid_words {
  using word = std::uint32_t;

 public:
  multi_grid_words() = default;
  __device__ __forceinline__ multi_grid_words(const multi_grid_handle& handle, unsigned block, unsigned lane) {
    const unsigned counter = block & (handle.counters - 1), copy = block & (handle.copies - 1), k = lane & (handle.counters - 1);
    if (handle.algorithm == multi_grid_handle::relay) {
      arrival_ = line(handle, relay_layout{}.counter(counter));
      // Lanes without a member of their own poll the last one's word too: no divergence.
      polled_ = line(handle, relay_layout{}.inbox(copy)) + (lane < handle.gpus ? lane : handle.gpus - 1);
      const unsigned replica = lane * handle.gpus_inverse >> 12, at_once = 32 * handle.gpus_inverse >> 12;
      if (replica < at_once && replica < handle.copies)
        out_ = handle.parts[lane - replica * handle.gpus] + relay_layout{}.inbox(replica) * words_of_line + handle.rank;
    } else {
      if (lane < handle.copies) arrival_ = line(handle, spread_layout{}.counter(lane, counter));
      polled_ = line(handle, spread_layout{}.counter(copy, k));
    }
    share_ = (handle.blocks + handle.counters - 1 - k) >> handle.counter_bits;
    asm volatile("" : "+l"(arrival_), "+l"(polled_), "+l"(out_), "+r"(share_));
  }

  static constexpr unsigned words_of_line = line_bytes / sizeof(word);
  __device__ __forceinline__ static word* line(const multi_grid_handle& handle, unsigned number) {
    return handle.own + number * words_of_line;
  }

  word* arrival_ = nullptr;  // where the lane arrives; counter: nothing for lanes beyond the copies
  word* polled_ = nullptr;   // its word of the inbox, or its counter
  word* out_ = nullptr;      // relay: the first of the words that it writes when the block speaks
  word share_ = 0;           // how many arrive at the counter that it polls
};

class multi_grid_relay_words {
  using word = std::uint32_t;

 public:
  static constexpr unsigned ins = 1, sums = 1;

  __device__ __forceinline__ multi_grid_relay_words(const multi_grid_handle& handle, std::uint32_t state, const multi_grid_words& words)
      : handle_(handle), state_(state), words_(words) {}

  __device__ __forceinline__ bool is(relay_way way) const { return (state_ & static_cast<unsigned>(way)) != 0; }
  __device__ __forceinline__ bool counts() const { return (state_ & (multi_grid_state::counted | multi_grid_state::spread)) != 0; }
  __device__ __forceinline__ unsigned blocks() const { return handle_.blocks; }
  __device__ __forceinline__ word* in(unsigned) const { return words_.polled_; }
  __device__ __forceinline__ word& arrival() const { return *words_.arrival_; }
  __device__ __forceinline__ word* sum(unsigned) const {
    return multi_grid_words::line(handle_, relay_layout{}.counter(lane() & (handle_.counters - 1)));
  }
  __device__ __forceinline__ unsigned share(unsigned) const { return words_.share_; }
  __device__ __forceinline__ word& split() const { return *multi_grid_words::line(handle_, relay_layout{}.split()); }
  template <class F>
  __device__ __forceinline__ void each_counter(F f) const {
    if (lane() < handle_.counters) f(*sum(0), share(0));
  }

  // The words that the lane writes: of one GPU, in one replica after the other.
  struct outbox {
    const multi_grid_handle& handle;
    word* first;
    template <class F>
    __device__ __forceinline__ void each(F f) {
      const unsigned at_once = 32 * handle.gpus_inverse >> 12;
      if (first == nullptr) return;
      f(*first);
      if (handle.copies <= at_once) return;
#pragma unroll 1
      for (unsigned replica = (lane() * handle.gpus_inverse >> 12) + at_once; replica < handle.copies; replica += at_once)
        f(*(first += at_once * relay_layout::stride * multi_grid_words::words_of_line));
    }
  };
  __device__ __forceinline__ outbox out() const { return {handle_, words_.out_}; }

 private:
  // Anew in every round: what follows from it is not kept.
  __device__ __forceinline__ static unsigned lane() {
    unsigned mine;
    asm volatile("mov.u32 %0, %%laneid;" : "=r"(mine));
    return mine;
  }

  const multi_grid_handle& handle_;
  std::uint32_t state_;
  const multi_grid_words& words_;
};

class multi_grid_counter_words {
  using word = std::uint32_t;

 public:
  static constexpr unsigned per_lane = 1;

  __device__ __forceinline__ multi_grid_counter_words(const multi_grid_handle& handle, std::uint32_t, const multi_grid_words& words)
      : handle_(handle), words_(words) {}

  __device__ __forceinline__ unsigned hold() const { return handle_.hold; }
  __device__ __forceinline__ bool adds(unsigned) const { return words_.arrival_ != nullptr; }
  __device__ __forceinline__ word& added(unsigned) const { return *words_.arrival_; }
  __device__ __forceinline__ word* polled(unsigned) const { return words_.polled_; }
  __device__ __forceinline__ unsigned share(unsigned) const { return words_.share_; }

 private:
  const multi_grid_handle& handle_;
  const multi_grid_words& words_;
};

}  // namespace mgsync::algorithm
