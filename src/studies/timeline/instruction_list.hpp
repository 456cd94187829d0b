// The single instructions and the pairs that are laid side by side (paper 002), and how they are launched.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>

#include "src/probes/catalogue.hpp"

namespace mgsync::timelines {

// The entries of instructions.cu.
using instruction = probes::probe;
inline std::span<const instruction> instructions() { return probes::probes_of("instructions"); }
inline bool has_single_shot(const instruction& i) { return i.has(probes::once); }

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
inline std::string pair_kernel(const lone_instruction& first, const lone_instruction& second) {
  return std::string(first.name) + "_beside_" + std::string(second.name);
}

}  // namespace mgsync::timelines
