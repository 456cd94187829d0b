// The memory of a carrier (carrier.hpp) for one lane of a block, over whatever gives a member's pairs by
// number: its own values first, then each copy of its inbox.
#pragma once

#include "barriers/parts/algorithm/carrier.hpp"

namespace mgsync::race {

// `places`: of the most blocks that any shape has, so that every inbox lies at the same place.
template <class Pairs>
struct carrier_memory {
  Pairs& pairs;
  algorithm::carried_values places;
  unsigned most_members;
  unsigned copies;
  algorithm::position at;
  unsigned lane = 0, lanes = 1;
  unsigned turns = 2;

  static unsigned pairs_of(const algorithm::carried_values& places, unsigned most_members, unsigned copies) {
    return places.all_chunks() * places.spacing + copies * 4 * most_members;
  }

  auto& value(unsigned index) const { return pairs.pair_at(at.member, index); }
  auto& heard(unsigned from, unsigned turn, unsigned half) const {
    return pairs.pair_at(at.member, told(at.block % copies, turn, half, from));
  }
  template <class F>
  void each_told(unsigned turn, unsigned half, F f) const {
    for (unsigned i = lane; i < at.members * copies; i += lanes)
      f(pairs.pair_at(i % at.members, told(i / at.members, turn, half, at.member)));
  }

 private:
  unsigned told(unsigned copy, unsigned turn, unsigned half, unsigned from) const {
    return pairs_of(places, most_members, copy) + (2 * (turn % turns) + half) * most_members + from;
  }
};

}  // namespace mgsync::race
