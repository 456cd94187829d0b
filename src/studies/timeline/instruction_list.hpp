// The single instructions of instructions.cu and the pairs that are laid side by side (paper 002): what their
// machine code must be, and how they are launched. Plain values.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/harness/machine_code/code_check.hpp"

namespace mgsync::timelines {

struct instruction {
  std::string name;               // kernels are <name>_<links>, <name>_once and <name>_as_compiled
  std::string_view what;          // for tables: "store and load, shared memory"
  std::string_view published;     // what others measured, for tables; may be empty
  machine_code::counts per_link;  // exactly these
  std::string result_of;  // whose result the next link takes; empty: the links hold the warp up by themselves
  machine_code::counts extras_per_link;  // at most these besides
  std::string_view varied;               // "ways", "warps": what it is measured over; empty: once
  unsigned published_at = 1;             // of how many ways or warps that is
  unsigned cluster = 1;
  unsigned threads = 32;    // per block
  unsigned oldest = 75;     // architecture that has it
  unsigned newest = 0;      // the last that has it; 0: all since
  bool chained = true;      // there are chains of it
  bool once = true;         // there is a single shot, and its twin as the compiler leaves it
  bool side_paths = false;  // waits that try again
};

std::span<const instruction> instructions();
// std::invalid_argument where there is none.
const instruction& instruction_called(std::string_view name);

// The chains through which a slope is laid.
inline constexpr std::array<unsigned, 4> chain_lengths{4, 8, 16, 32};
// What bank_conflict needs for 32 rows of a ring of eight; enough for all.
inline constexpr unsigned instruction_shared_bytes = 8 * 32 * 32 * 4;

// Pairs: what stands alone, and which of them are laid side by side (each with each).
struct lone_instruction {
  std::string_view name;    // "lds"
  std::string_view opcode;  // "LDS"
  std::string_view what;
};
inline constexpr std::array<lone_instruction, 6> lone_instructions{{{"lds", "LDS", "load, shared"},
                                                                    {"shfl", "SHFL", "shuffle"},
                                                                    {"ldg", "LDG", "load, L1"},
                                                                    {"mufu", "MUFU", "reciprocal root"},
                                                                    {"atoms", "ATOMS", "atomic, shared"},
                                                                    {"popc", "POPC", "count of bits"}}};
std::string pair_kernel(const lone_instruction& first, const lone_instruction& second);

// Of every kernel of instructions.cu that an architecture has.
std::vector<machine_code::expected_code> instruction_code(unsigned architecture);
// Of one instruction's kernels; what its twin claims to be, and is not: the single shot.
std::vector<machine_code::expected_code> code_of(const instruction&);
machine_code::expected_code twin_claims(const instruction&);
std::vector<machine_code::expected_code> code_of_pairs();

}  // namespace mgsync::timelines
