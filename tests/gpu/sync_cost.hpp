// Kernels of nothing but barriers, for what sync() costs in a user's kernel.
#pragma once

#include <mgsync/multi_grid_handle.hpp>

namespace mgsync::test {

// (handle, turns). Capped to 32 registers, as mgsync's own rounds are, so that every shape fits.
using turn_kernel = void (*)(multi_grid_handle, unsigned);

// With 1, 2 or 3 calls of sync() in a turn, of a group that the kernel gives a word.
turn_kernel library_kernel(unsigned sites);
// One call, less what makes it safe: the looks of a long wait (the time-out, and others that gave up), the
// verdict of the threads that do not wait themselves; or with all of that, and no word.
enum class alteration { without_looks, without_verdict, without_a_word };
turn_kernel altered_kernel(alteration what);
// The algorithm alone, which the handle's group would run, once in a turn.
turn_kernel algorithm_kernel(const multi_grid_handle&);

}  // namespace mgsync::test
