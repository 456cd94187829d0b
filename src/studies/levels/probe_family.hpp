// The probes of this study by family: what each times, with which lanes and shapes, and what its machine code
// must be.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/harness/machine_code/code_check.hpp"

namespace mgsync::levels {

// which: what makes the machine code of a family special.
enum class kind {
  chain,           // links of instructions, each taking the result of the one before
  barrier,         // links that hold the warp up by themselves
  no_instruction,  // what the compiler leaves of it holds nobody up: its figure is no latency of a barrier
  library,         // many instructions of a library's: labelled so, and not code-checked
};

struct probe_family {
  std::string name;         // kernels are <name>_<links>
  std::string_view source;  // "warp", "block", "cluster", "memory": which cubin
  std::string_view what;    // for tables: "shuffle, tile of 8"
  levels::kind kind = kind::chain;
  std::vector<unsigned> lengths;
  machine_code::expected_code code;  // of one link; kernel and links are filled in by expected()
  unsigned cluster = 1;
  unsigned threads = 32;  // per block, of the latency
  unsigned lanes = 32;    // of a warp that take part
  bool diverged = false;  // lanes come from two branches
  bool relaxed = false;   // a barrier that orders no memory
  unsigned oldest = 75;   // architecture that has it
  unsigned loop_body =
      0;  // links of the kernel <name>_loop_<loop_body>, for the host's clock; 0: there is none

  // What the machine code of the kernel with that many links must be.
  machine_code::expected_code expected(unsigned links) const;
  // What that of the looped kernel must be, where there is one.
  machine_code::expected_code expected_loop() const;
  // All kernels of the family.
  std::vector<machine_code::expected_code> all_expected() const;
};

std::span<const probe_family> families();
const probe_family& family(std::string_view name);  // std::invalid_argument where there is none

// The lowest `count` lanes, 1 to 32. The papers' program took one lane too many.
std::uint32_t first_lanes(unsigned count);
// Every `step`-th lane from the first on, `count` of them; std::invalid_argument where a warp has not that
// many.
std::uint32_t spread_lanes(unsigned count, unsigned step);

// What is said of a family's figure beside it: "no instruction", "library code, not code-checked" or nothing.
std::string_view label_of(const probe_family&);

}  // namespace mgsync::levels
