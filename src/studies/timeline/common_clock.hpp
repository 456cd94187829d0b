// One axis of time for the workers of a barrier, whose own clocks have different zeros.
#pragma once

#include <memory>
#include <string>

#include "barriers/backend.hpp"
#include "topology/group.hpp"

namespace mgsync::timelines {

class common_clock {
 public:
  virtual ~common_clock() = default;
  // Measures the offsets between the clocks. Called before a run and after it: the bounds that hold during
  // the run cover both measurements. Returns false and sets `reason` where the clocks cannot be compared.
  virtual bool before_run(std::string& reason) = 0;
  virtual bool after_run(std::string& reason) = 0;
  // A worker's moment on the common axis, in ns from some zero that stays the same for the life of this
  // object.
  virtual double at_ns(const worker_id&, const moment&) const = 0;
  // The uncertainty of a time difference between two workers: events closer together than this cannot be put
  // in order.
  virtual double uncertainty_ns() const = 0;
  virtual std::string description() const = 0;  // for the result: "cycle counters, 2.45 ticks per ns"
};

// A clock for host members pinned to hardware threads of their own: cycle counters, whose offsets are
// measured by messages.
std::unique_ptr<common_clock> make_host_clock(const topology::group&);
// A clock for GPUs of this process: the global timer that the SMs of a GPU share; between GPUs, offsets are
// measured by messages through their memory. Builds with CUDA only.
std::unique_ptr<common_clock> make_gpu_clock(const topology::group&);

}  // namespace mgsync::timelines
