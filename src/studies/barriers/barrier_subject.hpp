// A barrier as a subject: an order is carried out as a run of rounds on this rank's members, and what all
// ranks saw is combined.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "barriers/backend.hpp"
#include "src/base/awake_clock.hpp"
#include "src/base/communicator.hpp"
#include "src/harness/subject.hpp"
#include "src/studies/barriers/plan.hpp"

namespace mgsync::barriers {

// A fault that an order may ask for, the positive control: the order's faulty member arrives early.
inline constexpr std::string_view early_arrival = "arrives early";

// The bandwidth of the load beside a barrier, on the member where it was lowest.
inline const metric_name load_rate{"load", "GB/s", better::more};

// A timed run yields "duration_us" (the longest of the members' own durations, less the work in its rounds)
// and, where there are any, "worked_us", "slowest" (the member's index in the group, where one took longest),
// "load" and "load_gbps" with "load_members", "taken" (of host members that are not oversubscribed and wait
// awake); it is void where the load was misplaced. A checking run is checked, and yields "far_violations".
class barrier_subject final : public subject {
 public:
  // `mine`: the group's indices of this rank's members; without any, this rank makes no barrier. The cell
  // must outlive the subject.
  barrier_subject(communicator& job, const point&, const cell&, std::vector<unsigned> mine,
                  std::unique_ptr<mgsync::barrier>, std::uint64_t seed, std::chrono::nanoseconds timeout);

  seen run(const run_order&) override;
  seen put_together(seen mine) override;

 private:
  communicator* job_;
  point point_;
  const cell* where_;
  std::vector<unsigned> mine_;
  std::unique_ptr<mgsync::barrier> barrier_;
  std::uint64_t seed_;
  std::chrono::nanoseconds timeout_;
  std::uint32_t work_units_;
  awake_clock::time_point began_;
  trial last_;
};

}  // namespace mgsync::barriers
