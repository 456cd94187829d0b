// Part 1 on the host (paper 000, figures 17 and 18): does the barrier hold everybody? Every participant comes
// at a time of its own, stamps, synchronizes, stamps; then the same without the barrier, which must show.
#pragma once

#include <span>

#include "src/studies/blocking/case_board.hpp"
#include "src/studies/blocking/flag_meeting.hpp"

namespace mgsync::blocking {

// What all participants see: stamps by kind, round and participant, and their slots. All zero.
struct held_memory {
  static std::size_t stamps(unsigned rounds, unsigned participants) {
    return std::size_t{4} * rounds * participants;
  }
  std::int64_t* stamp;   // stamps()
  std::uint32_t* wrong;  // 1: rounds x participants that read a slot of another round, barrier only
  std::uint32_t* slots;  // 2 x participants, a line apart
};

// By every participant at once. `line` is what brings them together before each round.
void take_rounds(const blocking_case&, unsigned participants, unsigned me, meeting& barrier,
                 flag_barrier& line, const held_memory&);

// From all stamps.
holding judge_rounds(const blocking_case&, unsigned participants, const held_memory&);

void say_holding(const holding&);

}  // namespace mgsync::blocking
