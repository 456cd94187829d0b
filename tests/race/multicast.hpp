// Memory whose lines can also be added to at all members at once, where no switch does it: one after the
// other.
#pragma once

#include "barriers/peers/multimem.hpp"

namespace mgsync::race {

template <class M>
struct multicast : M {
  unsigned members;

  multicast(const M& of, unsigned count) : M(of), members(count) {}
  template <class P>
  void add_everywhere(P& p, unsigned index) {
    for (unsigned m = 0; m < members; ++m) p.add_fenced_system(this->word(m, index, 0), 1);
  }
};

}  // namespace mgsync::race
