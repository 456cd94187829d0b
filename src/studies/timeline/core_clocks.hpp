// The cycle counters of the host's cores: how fast they count, and how far apart they are, found out by
// threads on these cores that send each other messages.
#pragma once

#include <string>
#include <vector>

#include "src/base/worker_pool.hpp"
#include "src/studies/timeline/clock_offset.hpp"

namespace mgsync::timelines {

// Ticks of the cycle counter in a ns, by the monotonic clock over 20 ms of the calling thread.
double measure_ticks_per_ns();

class core_clocks {
 public:
  // A thread on each of `cpus`, OS indices of different hardware threads. Throws api_error as worker_pool
  // does.
  explicit core_clocks(const std::vector<int>& cpus) : pool_(cpus) {}

  // The offsets of all clocks to the first one's. Every wait is bounded: nothing, and the reason, where a
  // thread did not answer within ten seconds or the clocks do not run alike.
  std::vector<clock_offset> measure(std::string& reason);

 private:
  worker_pool pool_;
};

}  // namespace mgsync::timelines
