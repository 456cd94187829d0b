// A barrier of any backend whose rounds are timed, with or without every worker reading its clock around each
// of them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "barriers/backend.hpp"
#include "src/base/session.hpp"
#include "src/harness/study.hpp"
#include "src/studies/timeline/common_clock.hpp"

namespace mgsync::timelines {

struct recorded_barrier_settings {
  const mgsync::backend* backend = nullptr;
  const barrier_variant* variant = nullptr;  // a variant of `backend`
  topology::group group;
  mgsync::configuration configuration;
  bool recorder = true;
  std::uint32_t kept_rounds = 4;
  std::uint32_t late_us = 0;  // how much later than the others the last member comes
};

// Makes the barrier, or gives the reason why there is none. A run yields "duration_us", the longest duration
// of any member, less the time by which the last member was late; with the recorder it also carries the
// recording of its last rounds, in ns. With the fault "early" in the order the last member reads its clock
// only after it has passed the barrier: a positive control for what looks at the recordings.
subject_creation make_recorded_barrier(const recorded_barrier_settings&);

}  // namespace mgsync::timelines
