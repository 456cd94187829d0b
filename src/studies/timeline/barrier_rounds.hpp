// What a recording of a barrier's rounds says: who came when, who waited for whom, who left when, and whether
// anybody left before all had come. Pure; no order is claimed within the recording's uncertainty.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "src/results/recording.hpp"

namespace mgsync::timelines {

// The kinds of a recording of rounds, in this order.
inline constexpr std::uint32_t arrived = 0, left = 1, spoke = 2;
std::vector<event_kind> kinds_of_rounds();

// One round of all workers, in the recording's unit from its first event on.
struct barrier_round {
  std::uint32_t number = 0;
  std::vector<double> arrived, left;  // by worker
  std::vector<double>
      spoke;  // when it told the other members that all of its own had come; not a number: it did not
  std::vector<std::uint32_t> last;  // who may have come last: within the uncertainty of the latest arrival
  double first_arrival = 0, last_arrival = 0, first_departure = 0, last_departure = 0;

  // How long the barrier itself took: from the last arrival until the last worker had left.
  double release() const { return last_departure - last_arrival; }
};

// Rounds of which every worker's arrival and departure were recorded, in their order.
std::vector<barrier_round> rounds_of(const recording&);

// Workers that left a round earlier than the uncertainty allows before the last had come: a barrier never
// lets them. One sentence each.
std::vector<std::string> left_too_early(const recording&, std::span<const barrier_round>);

// The typical stretch of a run: the mean time from one round's last arrival to the next one's; of one round,
// until all left.
double round_time(std::span<const barrier_round>);

// A row per worker: it waits for the last to come, then it is released. Behind them a row for every member of
// which it is known when it spoke: from its own last worker's coming until then, and from then until its
// first worker is free.
timeline picture_of_rounds(const recording&, std::span<const barrier_round>, figure_heading);

// A line per round: who came last, how long the first had to wait for it, when the first and the last left.
table table_of_rounds(const recording&, std::span<const barrier_round>, figure_heading);

// A line per member ("GPU 1" of "GPU 1 block 7"), of one round: when its first and its last worker came, when
// it spoke ("-": not known), and when they left.
table table_of_members(const recording&, const barrier_round&, figure_heading);

}  // namespace mgsync::timelines
