// Decides whether PTX's memory consistency model allows an execution of a small program for which the
// program's question holds.
//   const auto found = check(read_litmus(text), std::chrono::seconds(10));
//   if (found.verdict == verdict::allowed) for (const std::string& line : found.story) ...
// The axioms are those of the PTX ISA, chapter "Memory Consistency Model", with the mixed-proxy extension
// (Lustig, Cooksey and Giroux, ISCA 2022): coherence, order of the sequentially consistent fences, atomicity,
// no thin air, causality. Where the published forms differ the weaker is taken, which allows more executions,
// so that "forbidden" holds for all of them: causality order begins with one step of observation, not with a
// chain of atomic operations.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "src/models/memory_order/program.hpp"

namespace mgsync::memory_order {

// unknown: the time limit was reached first.
enum class verdict { allowed, forbidden, unknown };

struct answer {
  memory_order::verdict verdict = memory_order::verdict::unknown;
  std::vector<std::string> story;  // an allowed execution: a line for each read, in the program's order
};

// Asks Z3, for at most `limit` of search (building takes time that grows with the cube of the number of
// events: 0.1 s for 40). Throws usage_error for an invalid program: one that uses a value that no earlier
// read of the same block got, or a memory without an address.
answer check(const program&, std::chrono::milliseconds limit);

}  // namespace mgsync::memory_order
