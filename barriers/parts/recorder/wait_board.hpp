// Who waits, and who comes last: what the blocks of traced barriers note, plain values in memory that other
// processes may read while the job hangs (wait_file.hpp). Every value has one writer. C++17, also in kernels.
#pragma once

#include "barriers/parts/algorithm/integers.hpp"

#if defined(__CUDACC__)
#define MGSYNC_ON_BOTH __host__ __device__ __forceinline__
#else
#define MGSYNC_ON_BOTH inline
#endif

namespace mgsync { inline namespace v1 {

// A value that others may read meanwhile.
template <class T>
MGSYNC_ON_BOTH void put_shared(T& to, T value) {
#if defined(__CUDA_ARCH__)
  *static_cast<volatile T*>(&to) = value;
#else
  __atomic_store_n(&to, value, __ATOMIC_RELEASE);
#endif
}
template <class T>
MGSYNC_ON_BOTH T get_shared(const T& from) {
#if defined(__CUDA_ARCH__)
  return *static_cast<const volatile T*>(&from);
#else
  return __atomic_load_n(&from, __ATOMIC_ACQUIRE);
#endif
}

// The note of one block of its last wait that took long.
struct wait_note {
  // late: it came when others had given up already.
  static constexpr std::uint32_t none = 0, waits = 1, passed = 2, gave_up = 3, late = 4;

  std::uint32_t epoch;     // of the barrier
  std::uint32_t state;     // written last
  std::uint64_t since_ns;  // when the block began to wait, by a clock of its own
  std::uint64_t seen_ns;   // when it wrote this, by the same
  std::uint64_t missing;   // members that had not come by then, as bits
};

// How often a member came last, as one of the others saw it.
struct late_member {
  static constexpr unsigned most_bits = 32;

  std::uint64_t worst_ns;
  std::uint32_t worst_epoch;
  std::uint32_t times;
  std::uint32_t by[most_bits];  // by[k]: so often by 2^k ns and more, less than 2^(k+1)

  MGSYNC_ON_BOTH static unsigned bits_of(std::uint64_t ns) {
#if defined(__CUDA_ARCH__)
    const unsigned k = 63 - static_cast<unsigned>(__clzll(static_cast<long long>(ns | 1)));
#else
    const unsigned k = 63 - static_cast<unsigned>(__builtin_clzll(ns | 1));
#endif
    return k < most_bits ? k : most_bits - 1;
  }
};

// A round: who came last, and how long after the last but one. Several members: they came at once, as far as
// could be seen.
struct late_round {
  std::uint32_t epoch;
  std::uint32_t reserved;
  std::uint64_t members;  // as bits
  std::uint64_t ns;
};

// Follows who is still missing, at every poll of one waiter: its own clock alone is read.
class straggler_watch {
 public:
  MGSYNC_ON_BOTH straggler_watch(std::uint64_t missing, std::uint64_t now)
      : came_(now), since_(now), missing_(missing) {}
  // `missing`: not 0. `now` is a function, asked only where something changed.
  template <class Now>
  MGSYNC_ON_BOTH void see(std::uint64_t missing, Now now) {
    if (missing == missing_) return;
    missing_ = missing;
    since_ = now();
  }
  MGSYNC_ON_BOTH std::uint64_t missing() const { return missing_; }
  MGSYNC_ON_BOTH std::uint64_t came_ns() const { return came_; }
  MGSYNC_ON_BOTH std::uint64_t since_ns() const { return since_; }  // when the last but one came

 private:
  std::uint64_t came_, since_, missing_;
};

// Where one member keeps what it saw. The notes and a copy of `late` are for other processes, since kernels
// keep the rest in their GPU's memory; `late` and `told` may be the same.
struct wait_trace {
  static constexpr unsigned most_members = 32;
  static constexpr unsigned most_rounds = 1024;  // the last ones; a power of two

  wait_note* notes;   // one per block
  late_member* told;  // one per member
  std::uint32_t members;
  std::uint32_t rounds;  // so far
  late_member late[most_members];
  late_round last[most_rounds];

  // By one waiter, behind each round that it waited for. `members`: who came last; several count for none of
  // them.
  MGSYNC_ON_BOTH void count(std::uint32_t epoch, std::uint64_t who, std::uint64_t ns) {
    last[rounds++ % most_rounds] = {epoch, 0, who, ns};
    if ((who & (who - 1)) != 0) return;
    unsigned member = 0;
    while (who >> (member + 1) != 0) ++member;
    late_member& its = late[member];
    ++its.times;
    ++its.by[late_member::bits_of(ns)];
    if (ns < its.worst_ns) return;
    its.worst_ns = ns;
    its.worst_epoch = epoch;
  }
  // By the same waiter, now and then.
  MGSYNC_ON_BOTH void tell() {
    for (unsigned m = 0; m < members; ++m) told[m] = late[m];
  }
};

// The note of a block that waits for long, written by it alone: the state comes last.
MGSYNC_ON_BOTH void write_note(wait_note& note, std::uint32_t state, std::uint32_t epoch,
                               const straggler_watch& watch, std::uint64_t now) {
  if (get_shared(note.epoch) != epoch) {
    put_shared(note.state, wait_note::none);
    put_shared(note.epoch, epoch);
    put_shared(note.since_ns, watch.came_ns());
  }
  put_shared(note.missing, watch.missing());
  put_shared(note.seen_ns, now);
  put_shared(note.state, state);
}

}}  // namespace mgsync::v1

#undef MGSYNC_ON_BOTH
