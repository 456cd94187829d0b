// The probes of this study by family: what each times, with which lanes and shapes, and what its machine code
// must be.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/probes/machine_code/code_check.hpp"

namespace mgsync::levels {

// What the links of a family are in its machine code.
enum class kind {
  chain,           // links of instructions, each taking the result of the one before
  barrier,         // links that make the warp wait by themselves, without a result
  no_instruction,  // the compiler leaves nothing that waits: the value is no latency of a barrier
  library,         // many instructions of a library: labelled so, and not code-checked
};

struct probe_family {
  std::string name;         // kernels are <name>_<links>
  std::string_view source;  // "warp", "block", "cluster", "memory": which cubin
  std::string_view what;    // for tables: "shuffle, tile of 8"
  levels::kind kind = kind::chain;
  std::vector<unsigned> lengths;
  machine_code::expected_code code;  // of one link; expected() adds the kernel and the links
  unsigned cluster = 1;
  unsigned threads = 32;  // per block, for the latency
  unsigned lanes = 32;    // of a warp: how many take part
  bool diverged = false;  // the lanes come from two branches
  bool relaxed = false;   // the barrier orders no memory
  unsigned oldest = 75;   // the oldest architecture that has it: 75 for sm_75
  unsigned loop_body =
      0;  // links of the kernel <name>_loop_<loop_body>, for the host's clock; 0: there is none

  // What the machine code of the kernel with that many links must be.
  machine_code::expected_code expected(unsigned links) const;
  // What the machine code of the looped kernel must be, where there is one.
  machine_code::expected_code expected_loop() const;
  // What the machine code of each kernel of the family must be.
  std::vector<machine_code::expected_code> all_expected() const;
};

std::span<const probe_family> families();
const probe_family& family(std::string_view name);  // std::invalid_argument where there is none

// A mask of the lowest `count` lanes, 1 to 32. (The papers' program took one lane too many.)
std::uint32_t first_lanes(unsigned count);
// A mask of `count` lanes, every `step`-th from the first on; std::invalid_argument where a warp has too few.
std::uint32_t spread_lanes(unsigned count, unsigned step);

// The label beside a value of the family: "no instruction", "library code, not code-checked" or empty.
std::string_view label_of(const probe_family&);

}  // namespace mgsync::levels
