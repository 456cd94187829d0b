// One axis of time for the workers of a barrier, whose own clocks share no zero.
#pragma once

#include <memory>
#include <string>

#include "barriers/backend.hpp"
#include "topology/group.hpp"

namespace mgsync::timelines {

class common_clock {
 public:
  virtual ~common_clock() = default;
  // Finds out how far the clocks are apart. Called before a run and after it: what holds over the run lies
  // between. False, and the reason: they cannot be compared.
  virtual bool before_run(std::string& reason) = 0;
  virtual bool after_run(std::string& reason) = 0;
  // A worker's moment on the common axis, in ns from some zero that stays the same for the life of this
  // object.
  virtual double at_ns(const worker_id&, const moment&) const = 0;
  // Two moments of different workers that are less than this apart stand in no order.
  virtual double uncertainty_ns() const = 0;
  virtual std::string description() const = 0;  // for the result: "cycle counters, 2.45 ticks per ns"
};

// Host members pinned to hardware threads of their own: cycle counters, their offsets by messages.
std::unique_ptr<common_clock> make_host_clock(const topology::group&);
// GPUs of this process: the timer that the SMs of each share, which steps by 32 ns; between GPUs by messages
// through their memory. Builds with CUDA only.
std::unique_ptr<common_clock> make_gpu_clock(const topology::group&);

}  // namespace mgsync::timelines
