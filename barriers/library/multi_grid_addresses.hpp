// The addresses at which a block of a library's kernel arrives, polls and writes, and the state bits that
// select them. Device code, C++17; a part of the public header mgsync/multi_grid.cuh.
#pragma once

#include <mgsync/multi_grid_handle.hpp>

#include "barriers/parts/algorithm/ptx.hpp"
#include "barriers/parts/algorithm/relay.hpp"
#include "barriers/parts/algorithm/spread_counter.hpp"

namespace mgsync { inline namespace v1 { namespace algorithm {

// What a thread knows of its group, in one register.
struct multi_grid_state {
  static constexpr std::uint32_t counted = 1, spread = 2, sums_up = 4;  // relay_way
  static constexpr std::uint32_t counter = 8;                           // the algorithm; else the relay
  static constexpr std::uint32_t keeps = 16;  // this thread writes the block's record as it leaves the kernel
  static constexpr std::uint32_t lost = 32;   // given up, or no handle that fits: every barrier fails
  static constexpr std::uint32_t in_team = 64;  // works between the block's two barriers
  static constexpr std::uint32_t arrives = counted | spread | counter;  // any way to arrive at a counter
  static constexpr std::uint32_t alone = 128;                           // no other GPU
  static constexpr std::uint32_t asks =
      256;  // the lane adds to the word where it arrives, and asks what was there
  static constexpr std::uint32_t tells = 2048;  // the lane adds to it
  static constexpr std::uint32_t writes =
      512;  // the lane writes a word as the block speaks, and from this bit on: how many more
  static constexpr unsigned more_words = 16;
  static constexpr std::uint32_t counts_quiet = 4096;  // multi_grid_addresses::quiet_ is known
  static constexpr std::uint32_t carries = 8192;       // the turn of the last round that carried is known
  static constexpr std::uint32_t second_turn = 16384;  // it was the second of two
};

// The addresses of the calling lane, computed once: nine registers together with the state and the epoch.
// What only the block that speaks needs is computed while it waits for an answer.
class multi_grid_addresses {
  using word = std::uint32_t;

 public:
  multi_grid_addresses() = default;
  __device__ __forceinline__ multi_grid_addresses(const multi_grid_handle& handle, unsigned block,
                                                  unsigned lane) {
    const unsigned counter = block & (handle.counters - 1), copy = block & (handle.copies - 1);
    if (handle.algorithm == multi_grid_handle::relay) {
      arrival_ = line(handle, relay_layout{}.counter(counter));
      // Lanes without a member of their own poll the last member's word too, so that the warp does not
      // diverge.
      polled_ = line(handle, relay_layout{}.inbox(copy)) + (lane < handle.gpus ? lane : handle.gpus - 1);
      share_ = 1;
      if (writes(handle, lane)) {
        const unsigned replica = first_replica(handle, lane);
        out_ = part_of(handle, lane - replica * handle.gpus) + relay_layout{}.inbox(replica) * words_of_line +
               handle.rank;
      }
    } else {
      const unsigned k = lane & (handle.counters - 1);
      if (lane < handle.copies) arrival_ = line(handle, spread_layout{}.counter(lane, counter));
      polled_ = line(handle, spread_layout{}.counter(copy, k));
      share_ = share_of_counter(handle, k);
    }
    asm volatile("" : "+l"(arrival_), "+l"(polled_), "+l"(out_), "+r"(share_));
  }

  // The bits that never change for thread `thread` of a block.
  __device__ __forceinline__ static std::uint32_t state_of(const multi_grid_handle& handle, unsigned block,
                                                           unsigned thread) {
    std::uint32_t state = thread == 0 ? multi_grid_state::keeps : 0;
    // A single block on a single GPU has no other block to wait for; only its threads meet.
    if (thread >= 32 || handle.blocks * handle.gpus == 1) return state;
    state |= multi_grid_state::in_team;
    if (handle.gpus == 1) state |= multi_grid_state::alone;
    if (handle.algorithm == multi_grid_handle::counter) {
      state |= multi_grid_state::counter;
      if (thread < handle.copies) state |= multi_grid_state::tells;
      return state;
    }
    state |= relay_ways(block, handle.blocks, {handle.counters, handle.copies});
    if (thread == 0)
      state |= (state & multi_grid_state::counted) != 0 ? multi_grid_state::asks : multi_grid_state::tells;
    if (writes(handle, thread)) {
      state |= multi_grid_state::writes;
      state |= (handle.copies - 1 - first_replica(handle, thread)) / at_once(handle)
               << multi_grid_state::more_words;
    }
    return state;
  }

  // How many quiet rounds this GPU spoke for. Its own word of its own inbox: only it writes there, and not
  // before this block has come.
  __device__ __forceinline__ static word quiet_rounds(const multi_grid_handle& handle, unsigned block) {
    return ptx::load_relaxed<ptx::scope::system>(
        line(handle, relay_layout{}.inbox(block & (handle.copies - 1)) + 1) + handle.rank);
  }

  // The flags of GPU `member`. No index that is computed, and no address that is selected: either makes the
  // compiler copy a handle that is no __grid_constant__ into local memory.
  __device__ __forceinline__ static word* part_of(const multi_grid_handle& handle, unsigned member) {
    static_assert(multi_grid_handle::gpus_inside == 8);
    if (handle.gpus > multi_grid_handle::gpus_inside)
      return reinterpret_cast<word*>(
          ptx::load_relaxed<ptx::scope::gpu>(reinterpret_cast<const std::uint64_t*>(handle.table + member)));
    word* const of[4] = {one_of(member & 1, handle.parts[0], handle.parts[1]),
                         one_of(member & 1, handle.parts[2], handle.parts[3]),
                         one_of(member & 1, handle.parts[4], handle.parts[5]),
                         one_of(member & 1, handle.parts[6], handle.parts[7])};
    return one_of(member & 4, one_of(member & 2, of[0], of[1]), one_of(member & 2, of[2], of[3]));
  }
  __device__ __forceinline__ static word* one_of(unsigned second, word* a, word* b) {
    return second != 0 ? b : a;
  }

  // The i-th word that the lane polls.
  __device__ __forceinline__ word* polled(const multi_grid_handle&, unsigned) const { return polled_; }

  static constexpr unsigned words_of_line = line_bytes / sizeof(word);
  __device__ __forceinline__ static word* line(const multi_grid_handle& handle, unsigned number) {
    return handle.own + number * words_of_line;
  }
  // How many blocks arrive at counter `k`.
  __device__ __forceinline__ static unsigned share_of_counter(const multi_grid_handle& handle, unsigned k) {
    return (handle.blocks + handle.counters - 1 - k) >> handle.counter_bits;
  }
  // How many replicas a warp writes at once, with one lane per word; and the first replica of this lane.
  __device__ __forceinline__ static unsigned at_once(const multi_grid_handle& handle) {
    return 32 * handle.gpus_inverse >> 12;
  }
  __device__ __forceinline__ static unsigned first_replica(const multi_grid_handle& handle, unsigned lane) {
    return lane * handle.gpus_inverse >> 12;
  }
  __device__ __forceinline__ static bool writes(const multi_grid_handle& handle, unsigned lane) {
    return first_replica(handle, lane) < at_once(handle) && first_replica(handle, lane) < handle.copies;
  }

  word* arrival_ = nullptr;  // where the lane arrives, if it adds
  word* polled_ = nullptr;   // its word of the inbox, or its counter
  word* out_ = nullptr;      // the first of the words that it writes when the block speaks, if it writes
  word share_ = 0;           // by how much the polled word grows in a round
  word quiet_;  // quiet rounds so far (relay.hpp), in a kernel that has any: read ahead of its first
};

class multi_grid_relay_addresses {
  using word = std::uint32_t;

 public:
  static constexpr unsigned ins = 1, sums = 1;

  __device__ __forceinline__ multi_grid_relay_addresses(const multi_grid_handle& handle, std::uint32_t state,
                                                        const multi_grid_addresses& words)
      : handle_(handle), state_(state), words_(words) {}

  __device__ __forceinline__ bool is(relay_way way) const {
    return (state_ & static_cast<unsigned>(way)) != 0;
  }
  __device__ __forceinline__ bool counts() const {
    return (state_ & (multi_grid_state::counted | multi_grid_state::spread)) != 0;
  }
  __device__ __forceinline__ unsigned blocks() const { return handle_.blocks; }
  __device__ __forceinline__ word* in(unsigned) const { return words_.polled_; }
  __device__ __forceinline__ word& arrival() const { return *words_.arrival_; }
  __device__ __forceinline__ word* sum(unsigned) const {
    return multi_grid_addresses::line(handle_, relay_layout{}.counter(lane() & (handle_.counters - 1)));
  }
  __device__ __forceinline__ unsigned share(unsigned) const {
    return multi_grid_addresses::share_of_counter(handle_, lane() & (handle_.counters - 1));
  }
  __device__ __forceinline__ word& split() const {
    return *multi_grid_addresses::line(handle_, relay_layout{}.split(my_counter()));
  }
  __device__ __forceinline__ word& split_of_all() const {
    return *multi_grid_addresses::line(handle_, relay_layout{}.split_of_all());
  }
  __device__ __forceinline__ unsigned split_share() const {
    return multi_grid_addresses::share_of_counter(handle_, my_counter());
  }
  // A member of several counters has more blocks than these.
  __device__ __forceinline__ unsigned splits() const { return handle_.counters; }
  template <class F>
  __device__ __forceinline__ void each_counter(F f) const {
    if (lane() < handle_.counters) f(*sum(0), share(0));
  }

  // The words that the lane writes: all of one GPU, one per replica.
  struct outbox {
    const multi_grid_handle& handle;
    std::uint32_t state;
    word* first;
    template <class F>
    __device__ __forceinline__ void each(F f) {
      if ((state & multi_grid_state::writes) == 0) return;
      f(*first);
#pragma unroll 1
      for (unsigned more = state >> multi_grid_state::more_words; more != 0; --more)
        f(*(first += handle.out_step));
    }
  };
  __device__ __forceinline__ outbox out() const { return {handle_, state_, words_.out_}; }

 private:
  // The number of the counter at which the block arrives.
  __device__ __forceinline__ unsigned my_counter() const {
    return static_cast<unsigned>(words_.arrival_ - handle_.own) /
           (relay_layout::stride * multi_grid_addresses::words_of_line);
  }
  // Read anew in every round (volatile), so that values derived from it are not kept in registers.
  __device__ __forceinline__ static unsigned lane() {
    unsigned mine;
    asm volatile("mov.u32 %0, %%laneid;" : "=r"(mine));
    return mine;
  }

  const multi_grid_handle& handle_;
  std::uint32_t state_;
  const multi_grid_addresses& words_;
};

class multi_grid_counter_addresses {
  using word = std::uint32_t;

 public:
  static constexpr unsigned per_lane = 1;

  __device__ __forceinline__ multi_grid_counter_addresses(const multi_grid_handle& handle,
                                                          std::uint32_t state,
                                                          const multi_grid_addresses& words)
      : handle_(handle), state_(state), words_(words) {}

  __device__ __forceinline__ bool adds(unsigned) const { return (state_ & multi_grid_state::tells) != 0; }
  __device__ __forceinline__ word& added(unsigned) const { return *words_.arrival_; }
  __device__ __forceinline__ word* polled(unsigned) const { return words_.polled_; }
  __device__ __forceinline__ unsigned share(unsigned) const { return words_.share_; }

 private:
  const multi_grid_handle& handle_;
  std::uint32_t state_;
  const multi_grid_addresses& words_;
};

}}}  // namespace mgsync::v1::algorithm
