// The offset between two clocks with different zeros, found from messages that were sent back and forth
// (docs/method.md, "Time across processors"). Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace mgsync::timelines {

// One message and its answer: the asker's clock before it asked and after it had the answer, and the other's
// clock when it answered.
struct exchange {
  std::uint64_t asked = 0;
  std::uint64_t answered = 0;
  std::uint64_t heard = 0;
};

// Bounds of the other clock's reading minus the asker's, in ticks. They hold without assuming that the two
// directions of a message take equally long: only that an answer comes after its question.
struct clock_offset {
  double low = 0;
  double high = 0;
  double ticks() const { return (low + high) / 2; }
  double bound() const { return (high - low) / 2; }
};

// The offsets that are consistent with all exchanges. std::nullopt where there are no exchanges, or where
// they contradict each other, since the clocks then run at different rates. `step`: the clocks' resolution in
// ticks.
std::optional<clock_offset> offset_of(std::span<const exchange>, double step = 1);

// The bounds that hold throughout a run, from those found before and after it: the lowest to the highest of
// both.
clock_offset over_run(const clock_offset& before, const clock_offset& after);

// The offset of a clock to itself: exactly zero.
inline constexpr clock_offset same_clock{};

}  // namespace mgsync::timelines
