// A kernel in PTX as compiled from CUDA code, as plain values: made by read_kernels(), executed by
// block_run.hpp.
//   const auto kernels = ptx::read_kernels(text);
//   kernels.at(0).code.at(0).text    "ld.param.u64 %rd1, [kernel_param_0]"
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mgsync::ptx {

// An operand of an instruction. Registers are numbered through the whole kernel; a name in two scopes is two
// registers.
struct operand {
  enum class kind { reg, special, number, symbol, memory, list };
  kind what = kind::number;
  int reg = -1;             // reg; memory: the base, if it is none of `name`
  std::int64_t number = 0;  // number; memory: added to the base
  std::string name;       // special: "%tid.x"; symbol, memory: a parameter, a label, a word of shared memory
  std::vector<int> regs;  // list: {%r1, %r2}, or %r1|%p1
};

struct instruction {
  std::string text;  // without the predicate in front of it
  int line = 0;
  int condition = -1;  // the predicate register: executed only if it is true; -1: always
  bool if_not = false;
  std::vector<std::string> name;  // "ld", "relaxed", "sys", "global", "u32"
  std::vector<operand> operands;

  bool is(std::string_view word) const { return name.front() == word; }
  bool has(std::string_view word) const;
};

struct parameter {
  std::string name;
  std::size_t offset = 0;
  std::size_t bytes = 0;
};

struct label {
  std::string name;
  std::size_t at = 0;  // index of the instruction after it
};

struct kernel {
  std::string name;
  std::vector<parameter> parameters;
  std::vector<parameter> shared;  // words of the block's shared memory
  int registers = 0;
  std::vector<instruction> code;
  std::vector<label> labels;
};

// All kernels of a text. Throws usage_error, naming the line and what stands there, where it is not PTX as a
// compiler writes it.
std::vector<kernel> read_kernels(std::string_view text);
const kernel& kernel_named(const std::vector<kernel>&, std::string_view name);

}  // namespace mgsync::ptx
