// A chain of dependent operations on one host thread: its latency is known (on x86 three cycles for a
// multiplication of 64 bits, one for an addition), so that it tells whether a method of measuring is right.
#pragma once

#include <cstdint>

#include "src/harness/subject.hpp"

namespace mgsync::verify {

enum class operation { add, multiply };

// Runs chains of `order.count` links, a multiple of links_at_once, on the calling thread. A run yields
// "duration_us" by the monotonic clock; and "ticks", the same by the processor's time-stamp counter, where it
// has one.
class host_chain final : public subject {
 public:
  static constexpr std::uint64_t links_at_once = 64;

  // `cpu`: the hardware thread to run on; -1: wherever the caller is. The caller's affinity is restored after
  // each run.
  host_chain(operation what, int cpu) : what_(what), cpu_(cpu) {}

  seen run(const run_order&) override;

 private:
  operation what_;
  int cpu_;
  std::uint64_t value_ = 3;  // carried from run to run, so that the compiler cannot know it
};

}  // namespace mgsync::verify
