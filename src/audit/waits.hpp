// Loops that wait on memory.
#pragma once

#include "src/audit/findings.hpp"
#include "src/audit/flow.hpp"

namespace mgsync::audit {

struct waiting_loop {
  const loop* of = nullptr;
  std::size_t poll = 0;
  std::vector<std::size_t> deciding;  // branches out of the loop that depend on the polled value
  bool by_equality = false;           // it ends at a single value only
  bool has_bound = false;             // it may also end by a count, a clock, another word or a call
  bool looks_beside =
      false;  // every so often, in a loop around one that waits: whether that one is to give up
};

// A loop waits if it reads one word of global memory repeatedly, and an exit depends only on that word's
// value, on time, and on what does not change in the loop. What only tells where the word is, or what it is
// compared with, is read beside it. A loop that stores ordinary data does not count as waiting.
std::vector<waiting_loop> waiting_loops(const flow&);
// Of a function without any such loop, what its loops lack.
std::string why_none_waits(const flow&);

// A branch that loops forever once taken, because it depends on a value that was read from memory before the
// loop and is not read again. Where the loop has no way out, it is the branch that leads into it.
struct endless_branch {
  std::size_t at = 0, read = 0;
};
std::vector<endless_branch> endless_branches(const flow&);

}  // namespace mgsync::audit
