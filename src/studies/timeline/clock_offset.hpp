// What two clocks that share no zero are apart, from messages that were sent back and forth (docs/method.md,
// "Time across processors"). Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace mgsync::timelines {

// One message and its answer: the asker's clock before it asked and after it had the answer, and in between
// the other's.
struct exchange {
  std::uint64_t asked = 0;
  std::uint64_t answered = 0;
  std::uint64_t heard = 0;
};

// The other clock less the asker's lies from low to high, in ticks. Nothing is assumed of the two ways of a
// message, not that they take equally long either: only that an answer comes after its question.
struct clock_offset {
  double low = 0;
  double high = 0;
  double ticks() const { return (low + high) / 2; }
  double bound() const { return (high - low) / 2; }
};

// What all exchanges allow. Nothing: there are none, or they contradict each other, so that the clocks do not
// run alike. `step`: by how much the clocks go on at once.
std::optional<clock_offset> offset_of(std::span<const exchange>, double step = 1);

// What holds over a run, of exchanges before and after it: from the lowest to the highest of both.
clock_offset over_run(const clock_offset& before, const clock_offset& after);

// No offset, no bound: a clock beside itself.
inline constexpr clock_offset same_clock{};

}  // namespace mgsync::timelines
