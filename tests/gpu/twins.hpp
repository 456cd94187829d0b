// Barriers broken on purpose, for the test that the check notices each.
#pragma once

#include "barriers/backend.hpp"

namespace mgsync::test {

enum class twin {
  none,                 // as it should be
  arrival_left_out,     // the last block speaks before one other has arrived
  one_flag_two_epochs,  // leaves on the flag of the epoch before
  early_reset,          // a counter that is set back while others may still look at it
  stale_acquire,        // polls without the fence that makes them an acquire
  narrow_release,       // a flag for other GPUs behind a fence that reaches its own only
  no_release,           // and behind none
  quiet,  // all come, and nothing is ordered: the library's order::none, without the check's fences
};

creation make_twin(twin, const topology::group&, const configuration&, session&);
// Nothing at all in place of the barrier of a warp's lanes, or of a block's warps.
creation make_nothing_inside(fact::scope, const topology::group&, const configuration&, session&);

}  // namespace mgsync::test
