// Reads the machine code of a cubin: an ELF64 file with a section ".text.<kernel>" per kernel, of 16-byte
// instructions. Needs no disassembler and no GPU. Instruction words of compute capability 7.5 to 10.x.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/probes/machine_code/instruction.hpp"

namespace mgsync::machine_code {

struct function {
  std::string name;  // the symbol's name, mangled unless it is extern "C"
  std::vector<instruction> code;
};

struct cubin {
  unsigned architecture = 0;        // 90 for compute capability 9.0; 0 where the header does not contain it
  std::vector<function> functions;  // in the order of the file

  // The kernel `name`; nullptr where there is none.
  const function* find(std::string_view name) const;
};

// Throws std::invalid_argument with a sentence where `bytes` are not a cubin: no ELF64 header, sections
// outside the file, a function whose size is no multiple of 16.
cubin read_cubin(std::span<const std::byte> bytes);

}  // namespace mgsync::machine_code
