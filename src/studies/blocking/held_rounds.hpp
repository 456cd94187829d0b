// Part 1 on the host (paper 000, figures 17 and 18): does the barrier hold everybody? Every participant
// arrives at a time of its own, stamps, synchronizes and stamps again. The control is the same without the
// barrier, which must show violations.
#pragma once

#include <span>

#include "src/studies/blocking/case_board.hpp"
#include "src/studies/blocking/flag_meeting.hpp"

namespace mgsync::blocking {

// Memory that all participants share, all zero at first: stamps by kind, round and participant, and their
// slots.
struct held_memory {
  static std::size_t stamps(unsigned rounds, unsigned participants) {
    return std::size_t{4} * rounds * participants;
  }
  std::int64_t* stamp;   // stamps()
  std::uint32_t* wrong;  // one word: how often a participant read a slot of another round; barrier only
  std::uint32_t* slots;  // 2 x participants, a line apart
};

// Carries out the rounds; called by every participant at once. `line` brings them together before each round.
void take_rounds(const blocking_case&, unsigned participants, unsigned me, meeting& barrier,
                 flag_barrier& line, const held_memory&);

// Judges all rounds by their stamps.
holding judge_rounds(const blocking_case&, unsigned participants, const held_memory&);

}  // namespace mgsync::blocking
