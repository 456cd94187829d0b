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
template <unsigned Warps, unsigned Capacity, bool WithTimer = false>
struct event_buffer {
  using events = warp_events<Capacity, WithTimer>;
  static constexpr unsigned warps = Warps;
  event_stamp<WithTimer> ring[Warps][Capacity];
};

// Constructed by every thread of a warp that stamps; only the first Buffer::warps warps of a block may stamp.
template <class Buffer>
class event_recorder {
 public:
  using events = typename Buffer::events;

  __device__ __forceinline__ explicit event_recorder(Buffer& buffer)
      : ring_(buffer.ring[warp() < Buffer::warps ? warp() : 0]),
        leads_(thread() % 32 == 0 && warp() < Buffer::warps) {
    // Passes the ring's address through memory once: otherwise the compiler asks for the block's rank in its
    // cluster again in every stamp, which takes longer than the rest of the stamp.
    if (!leads_) return;
    auto* const through = reinterpret_cast<volatile std::uint32_t*>(ring_);
    *through = static_cast<std::uint32_t>(__cvta_generic_to_shared(ring_));
    at_ = *through;
  }

  // Stamps now. Called by whole warps; a lane writes. Memory accesses and other stamps stay on their side of
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

  // Writes what the warp recorded to out[block * Buffer::warps + warp]: at the end, by whole warps.
  __device__ __forceinline__ void flush(events* out) const {
    if (warp() < Buffer::warps) flush_to(out[block() * Buffer::warps + warp()]);
  }
  // The same to a place of the caller's choice: by whole warps that may stamp.
  __device__ __forceinline__ void flush_to(events& mine) const {
    __syncwarp();
    const unsigned kept = count_ < capacity ? count_ : capacity;
    for (unsigned i = thread() % 32; i < kept; i += 32) mine.ring[i] = ring_[i];
    if (!leads_) return;
    mine.stamped = count_;
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
  bool leads_;
};

#endif  // __CUDACC__

}}  // namespace mgsync::v1
