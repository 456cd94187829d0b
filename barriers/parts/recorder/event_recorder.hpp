// Events of a kernel, stamped by its warps into shared memory and written out at its end. Bounded: of more
// stamps than a warp has room for the last ones stay, and the host is told how many are gone. C++17, compute
// capability 7.0 and later. What was recorded is plain values, for host code too.
#pragma once

#include "barriers/parts/algorithm/integers.hpp"

namespace mgsync { inline namespace v1 {

// One stamp. `clock`: the SM's cycle counter; the counters of two SMs share no zero. `timer_ns`: the timer
// that all SMs of the GPU share (it steps by 32 ns on Hopper); only in recordings with the timer.
template <bool WithTimer>
struct alignas(16) event_stamp {  // one instruction stores it
  std::uint64_t clock;
  std::uint32_t id;
  std::uint32_t reserved;
};
template <>
struct event_stamp<true> {
  std::uint64_t clock;
  std::uint64_t timer_ns;
  std::uint32_t id;
  std::uint32_t reserved;
};

// The stamps of a range's begin and end carry its id and one of these bits.
enum : std::uint32_t { range_begins = std::uint32_t{1} << 31, range_ends = std::uint32_t{1} << 30 };

// What one warp recorded, as flush() writes it to memory: an element per warp of the grid, block by block.
template <unsigned Capacity, bool WithTimer = false>
struct warp_events {
  static_assert(Capacity != 0 && (Capacity & (Capacity - 1)) == 0, "the capacity is a power of two");
  std::uint32_t stamped;  // in all
  std::uint32_t sm;       // where the warp ran
  std::uint32_t block, warp;
  event_stamp<WithTimer> ring[Capacity];

  // Stamps that are there, and that are gone because newer ones took their place.
#if defined(__CUDACC__)
  __host__ __device__
#endif
      std::uint32_t
      kept() const {
    return stamped < Capacity ? stamped : Capacity;
  }
#if defined(__CUDACC__)
  __host__ __device__
#endif
      std::uint32_t
      lost() const {
    return stamped - kept();
  }
  // The i-th of those that are there, 0 the oldest.
#if defined(__CUDACC__)
  __host__ __device__
#endif
      const event_stamp<WithTimer>&
      operator[](std::uint32_t i) const {
    return ring[(lost() + i) & (Capacity - 1)];
  }
};

#if defined(__CUDACC__)

// The shared memory of a block's recorders: `__shared__ mgsync::event_buffer<4, 64> buffer;` for four warps.
// On = false is the switch: the recorder of such a buffer leaves no code behind.
template <unsigned Warps, unsigned Capacity, bool WithTimer = false, bool On = true>
struct event_buffer {
  using events = warp_events<Capacity, WithTimer>;
  enum : unsigned { warps = Warps };  // enumerators, as a constant would be data in every program
  enum : bool { on = true };
  event_stamp<WithTimer> ring[Warps][Capacity];
};
template <unsigned Warps, unsigned Capacity, bool WithTimer>
struct event_buffer<Warps, Capacity, WithTimer, false> {
  using events = warp_events<Capacity, WithTimer>;
  enum : unsigned { warps = Warps };
  enum : bool { on = false };
};

// Constructed by every thread of a warp that stamps; only the first Buffer::warps warps of a block may stamp.
// One lane of a warp writes: the first, or the one that is given. Stamps are made by whole warps, or by that
// lane alone while the others do something else.
template <class Buffer, bool On = Buffer::on>
class event_recorder {
 public:
  using events = typename Buffer::events;

  __device__ __forceinline__ explicit event_recorder(Buffer& buffer, unsigned lane = 0)
      : ring_(buffer.ring[warp() < Buffer::warps ? warp() : 0]),
        lane_(lane),
        leads_(thread() % 32 == lane && warp() < Buffer::warps) {
    // Passes the ring's address through memory once: otherwise the compiler asks for the block's rank in its
    // cluster again in every stamp, which takes longer than the rest of the stamp.
    if (!leads_) return;
    auto* const through = reinterpret_cast<volatile std::uint32_t*>(ring_);
    *through = static_cast<std::uint32_t>(__cvta_generic_to_shared(ring_));
    at_ = *through;
  }

  // Stamps now. Memory accesses and other stamps stay on their side of
  // it for the compiler; what is still on its way in the SM is not waited for.
  __device__ __forceinline__ void stamp(std::uint32_t id) {
    if (leads_) put(id, clock_now());
    ++count_;
  }
  // Stamps once `value` of the lane that writes is there, such as what a load returned. The clock is recorded
  // as 0 if the value happens to be 0xdeadbee1.
  __device__ __forceinline__ void stamp(std::uint32_t id, std::uint32_t value) {
    if (leads_) put(id, clock_after(value));
    ++count_;
  }

  // Stamps the begin and the end of a range, which may hold others.
  __device__ __forceinline__ void begin(std::uint32_t id) { stamp(id | range_begins); }
  __device__ __forceinline__ void end(std::uint32_t id) { stamp(id | range_ends); }
  __device__ __forceinline__ void end(std::uint32_t id, std::uint32_t value) {
    stamp(id | range_ends, value);
  }

  // Writes what the warp recorded to out[block * Buffer::warps + warp]: at the end, by whole warps.
  __device__ __forceinline__ void flush(events* out) const {
    if (warp() < Buffer::warps) flush_to(out[block() * Buffer::warps + warp()]);
  }
  // The same to a place of the caller's choice: by whole warps that may stamp.
  __device__ __forceinline__ void flush_to(events& mine) const {
    const unsigned there = blockDim.x * blockDim.y * blockDim.z - warp() * 32;
    const unsigned lanes = there < 32 ? (1u << there) - 1 : ~0u;
    __syncwarp(lanes);
    const unsigned stamped =
        __shfl_sync(lanes, count_, static_cast<int>(lane_));  // others may have made none
    const unsigned kept = stamped < capacity ? stamped : capacity;
    for (unsigned i = thread() % 32; i < kept; i += there < 32 ? there : 32) mine.ring[i] = ring_[i];
    if (!leads_) return;
    mine.stamped = stamped;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(mine.sm));
    mine.block = block();
    mine.warp = warp();
  }

 private:
  static constexpr unsigned capacity = sizeof(events::ring) / sizeof(events::ring[0]);
  static constexpr bool with_timer = sizeof(events::ring[0]) == sizeof(event_stamp<true>);

  __device__ __forceinline__ static unsigned thread() {
    return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  }
  __device__ __forceinline__ static unsigned warp() { return thread() / 32; }
  __device__ __forceinline__ static unsigned block() {
    return blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  }
  __device__ __forceinline__ static std::uint64_t clock_now() {
    std::uint64_t t;
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(t)::"memory");
    return t;
  }
  __device__ __forceinline__ static std::uint64_t clock_after(std::uint32_t value) {
    std::uint64_t t;
    asm volatile("{\n .reg .pred there;\n setp.ne.u32 there, %1, 0xdeadbee1;\n mov.u64 %0, 0;\n @there "
                 "mov.u64 %0, %%clock64;\n}"
                 : "=l"(t)
                 : "r"(value)
                 : "memory");
    return t;
  }
  __device__ __forceinline__ void put(std::uint32_t id, std::uint64_t clock) {
    using stamp = event_stamp<with_timer>;
    const std::uint32_t slot = at_ + (count_ & (capacity - 1)) * static_cast<std::uint32_t>(sizeof(stamp));
    if constexpr (with_timer) {
      std::uint64_t timer_ns;
      asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(timer_ns)::"memory");
      asm volatile("st.shared.u64 [%0+8], %1;" ::"r"(slot), "l"(timer_ns) : "memory");
      asm volatile("st.shared.u64 [%0], %1;" ::"r"(slot), "l"(clock) : "memory");
      asm volatile("st.shared.u32 [%0+16], %1;" ::"r"(slot), "r"(id) : "memory");
    } else {
      asm volatile("st.shared.v2.u64 [%0], {%1, %2};" ::"r"(slot), "l"(clock),
                   "l"(static_cast<std::uint64_t>(id))
                   : "memory");
    }
  }

  event_stamp<with_timer>* ring_;
  std::uint32_t at_ = 0;  // the same in the shared window
  std::uint32_t count_ = 0;
  unsigned lane_;
  bool leads_;
};

// The recorder of a buffer that is off.
template <class Buffer>
class event_recorder<Buffer, false> {
 public:
  using events = typename Buffer::events;
  __device__ __forceinline__ explicit event_recorder(Buffer&, unsigned = 0) {}
  __device__ __forceinline__ void stamp(std::uint32_t) {}
  __device__ __forceinline__ void stamp(std::uint32_t, std::uint32_t) {}
  __device__ __forceinline__ void begin(std::uint32_t) {}
  __device__ __forceinline__ void end(std::uint32_t) {}
  __device__ __forceinline__ void end(std::uint32_t, std::uint32_t) {}
  __device__ __forceinline__ void flush(events*) const {}
  __device__ __forceinline__ void flush_to(events&) const {}
};

template <class Buffer>
event_recorder(Buffer&) -> event_recorder<Buffer>;
template <class Buffer>
event_recorder(Buffer&, unsigned) -> event_recorder<Buffer>;

#endif  // __CUDACC__

}}  // namespace mgsync::v1
