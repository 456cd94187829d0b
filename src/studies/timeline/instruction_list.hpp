// The single instructions of instructions.cu and the pairs that are laid side by side (paper 002): what their
// machine code must be, and how they are launched. Plain values.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/probes/machine_code/code_check.hpp"

namespace mgsync::timelines {

struct instruction {
  std::string name;               // kernels are <name>_<links>, <name>_once and <name>_as_compiled
  std::string_view what;          // for tables: "store and load, shared memory"
  std::string_view published;     // what others measured, for tables; may be empty
  machine_code::counts per_link;  // of one link: exactly these opcodes
  std::string result_of;  // the opcode whose result the next link takes; empty: links wait by themselves
  machine_code::counts extras_per_link;  // of one link: at most these in addition
  std::string_view varied;               // "ways", "warps": what is varied; empty: nothing
  unsigned published_at = 1;             // the number of ways or warps that `published` is for
  unsigned cluster = 1;
  unsigned threads = 32;    // per block
  unsigned oldest = 75;     // the oldest architecture that has it: 75 for sm_75
  unsigned newest = 0;      // the newest that has it; 0: all since `oldest`
  bool chained = true;      // there are chains of it
  bool once = true;         // there is a single shot, and its twin as the compiler leaves it
  bool side_paths = false;  // has waits that retry, and so branches
};

std::span<const instruction> instructions();
// The instruction of that name; std::invalid_argument where there is none.
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

// The expected code of every kernel of instructions.cu that exists on the architecture.
std::vector<machine_code::expected_code> instruction_code(unsigned architecture);
// The expected code of one instruction's kernels; and twin_claims(), the code of the single shot under the
// twin's name, which the check must refuse.
std::vector<machine_code::expected_code> code_of(const instruction&);
machine_code::expected_code twin_claims(const instruction&);
std::vector<machine_code::expected_code> code_of_pairs();

}  // namespace mgsync::timelines
