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
  const barrier_variant* variant = nullptr;  // of it
  topology::group group;
  mgsync::configuration configuration;
  bool recorder = true;
  std::uint32_t kept_rounds = 4;
  std::uint32_t late_us = 0;  // how much later than the others the last member comes
};

// The barrier, or why there is none. A run yields "duration_us", the largest of its members' own, less what
// the last member was late; with the recorder its own value is the recording of its last rounds in ns. The
// order's fault "early" lets the last member read its clock after it went through: what looks at the
// recordings must find it.
subject_creation make_recorded_barrier(const recorded_barrier_settings&);

}  // namespace mgsync::timelines
