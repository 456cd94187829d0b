// The kernels of nothing but barriers that are compared. C++17.
#pragma once

namespace mgsync::library {

// The algorithm that a group runs, alone, with everything compiled in that is known beforehand; sync() of the
// library's group at one, two and three places of the kernel's loop; and one call less what makes it safe:
// the looks of a long wait (the time-out, and others that gave up), or the verdict of the threads that do not
// wait themselves. `one_without_a_word` is what ships for groups that are given no word of shared memory.
enum class sync_form {
  algorithm,
  one,
  two,
  three,
  one_without_looks,
  one_without_a_word,
  one_without_a_verdict
};

}  // namespace mgsync::library
