// The rate of the cycle counters of the host's cores, and their offsets, measured by threads on these cores
// that send each other messages.
#pragma once

#include <string>
#include <vector>

#include "src/base/worker_pool.hpp"
#include "src/studies/timeline/clock_offset.hpp"

namespace mgsync::timelines {

// Ticks of the cycle counter per ns, measured on the calling thread against 20 ms of the monotonic clock.
double measure_ticks_per_ns();

class core_clocks {
 public:
  // A thread on each of `cpus`, OS indices of different hardware threads. Throws api_error as worker_pool
  // does.
  explicit core_clocks(const std::vector<int>& cpus) : pool_(cpus) {}

  // The offset of each clock to the first one's. Returns nothing, and sets `reason`, where a thread did not
  // answer within ten seconds or the clocks run at different rates.
  std::vector<clock_offset> measure(std::string& reason);

 private:
  worker_pool pool_;
};

}  // namespace mgsync::timelines
