// What a recording of a barrier's rounds says: who came when, who waited for whom, who left when, and whether
// anybody left before all had come. Pure. Two moments closer together than the recording's uncertainty are
// not put in order.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "src/results/frame/recording.hpp"

namespace mgsync::timelines {

// The kinds of events in a recording of rounds; the values are the events' indices.
inline constexpr std::uint32_t arrived = 0, left = 1, spoke = 2;
std::vector<event_kind> kinds_of_rounds();

// One round of all workers. Times are in the recording's unit, counted from its first event.
struct barrier_round {
  std::uint32_t number = 0;
  std::vector<double> arrived, left;  // indexed by worker
  std::vector<double>
      spoke;  // when it told the other members that all of its workers had come; NaN where it did not
  std::vector<std::uint32_t> last;  // who may have come last: within the uncertainty of the latest arrival
  double first_arrival = 0, last_arrival = 0, first_departure = 0, last_departure = 0;

  // How long the barrier itself took: from the last arrival until the last worker had left.
  double release() const { return last_departure - last_arrival; }
};

// The rounds in which every worker's arrival and departure were recorded, in ascending order.
std::vector<barrier_round> rounds_of(const recording&);

// Violations, one sentence each: workers that left a round before its last arrival by more than the
// uncertainty.
std::vector<std::string> left_too_early(const recording&, std::span<const barrier_round>);

// The mean time from one round's last arrival to the next round's; of a single round, the time from its first
// arrival until all have left.
double round_time(std::span<const barrier_round>);

// A timeline with a row per worker: it waits for the last worker to come, then it is released. Below them,
// for every member whose signal was recorded, a row with the time from its last worker's arrival to the
// signal, and from then until its first worker leaves.
timeline picture_of_rounds(const recording&, std::span<const barrier_round>, figure_heading);

// A line per round: who came last, how long the first had to wait for it, when the first and the last left.
table table_of_rounds(const recording&, std::span<const barrier_round>, figure_heading);

// A line per member of one round: when its first and its last worker came, when it told the other members
// ("-": not recorded), and when its workers left.
table table_of_members(const recording&, const barrier_round&, figure_heading);

}  // namespace mgsync::timelines
