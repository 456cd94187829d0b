// Which line of a member's part of the leave board (leave_board.hpp) holds what. C++17: kernels write there
// too.
#pragma once

#include "barriers/parts/round_loop/phase_check.hpp"

namespace mgsync::nodes {

// What a member gives in a round: fresh in every round, and the greatest is another member's each time.
MGSYNC_HD constexpr std::uint32_t word_of(std::uint32_t epoch, unsigned member) {
  return round_loop::mix(epoch, member);
}

struct leave_layout {
  unsigned blocks, nodes;  // of a member, and of the group

  // The word that a member gives, and what its proxy brings back: two of each, in turn, since a proxy may let
  // its members go on while another proxy of the node still reads.
  MGSYNC_HD unsigned given(std::uint32_t epoch) const { return epoch % 2; }
  MGSYNC_HD unsigned carried(std::uint32_t epoch) const { return 2 + epoch % 2; }
  MGSYNC_HD unsigned said(unsigned block) const { return 4 + block; }  // which round the block left, to whom
  MGSYNC_HD unsigned heard(unsigned node) const { return 4 + blocks + node; }
  MGSYNC_HD unsigned lines() const { return 4 + blocks + nodes; }
};

}  // namespace mgsync::nodes
