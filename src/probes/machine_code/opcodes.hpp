// What the opcodes are called, and where their operands stand: compute capability 9.0, as ptxas of CUDA 13
// writes it. Names are common to 7.5 to 10.x where an opcode exists there.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "src/probes/machine_code/instruction.hpp"

namespace mgsync::machine_code {

// A register of one of a warp's three files. Numbers of RZ, URZ and PT are never handed out.
struct register_name {
  enum class file : std::uint8_t { general, uniform, predicate };
  file where = file::general;
  std::uint32_t number = 0;
  auto operator<=>(const register_name&) const = default;
};

// What an instruction reads and writes, guard included. Of pairs that are read the first.
struct operands {
  bool known = false;  // false: the table does not say where this opcode has them
  std::vector<register_name> reads;
  std::vector<register_name> writes;
};

std::string_view opcode_name(std::uint32_t opcode);  // of 12 bits; empty where the table does not have it
operands operands_of(const instruction&);
// Uniform predicates, a file of their own, are not among the operands.
bool reads_uniform_predicate(const instruction&);

}  // namespace mgsync::machine_code
