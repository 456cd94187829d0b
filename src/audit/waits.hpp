// Loops that wait on memory.
#pragma once

#include "src/audit/findings.hpp"
#include "src/audit/flow.hpp"

namespace mgsync::audit {

struct waiting_loop {
  const loop* of = nullptr;
  std::size_t poll = 0;
  std::vector<std::size_t> deciding;  // branches out of the loop that go by what the poll got
  bool by_equality = false;           // it ends at one value alone
  bool looks_beside =
      false;  // every so often, in a loop around one that waits: whether that one is to give up
};

// A loop waits if it reads one word of global memory again and again, and a way out of it depends on nothing
// but that word, time, and what does not change in the loop. One that puts ordinary data somewhere works, and
// does not wait.
std::vector<waiting_loop> waiting_loops(const flow&);
// Branches that go back for ever once they do: by what was read of memory before the loop, and is never read
// anew.
std::vector<std::size_t> endless_branches(const flow&);

}  // namespace mgsync::audit
