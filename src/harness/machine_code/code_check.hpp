// The gate before every figure of an SM's cycle counter: what stands between a probe's two clock reads, read
// from its machine code (docs/method.md, "Machine code"). A probe whose code is not what it says has no
// figure.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "src/harness/machine_code/cubin.hpp"

namespace mgsync::machine_code {

// Instructions by name. Copies of a register are "MOV", whatever unit the compiler has them done by.
using counts = std::map<std::string, std::uint64_t, std::less<>>;

// Work between arriving at a barrier and waiting for it: all of `work` stands between a `first` and the next
// `last`.
struct enclosure {
  std::string first, work, last;  // empty: nothing is asked for
};

// What a probe says that its code is.
struct expected_code {
  std::string kernel;
  std::uint64_t links = 1;  // of the chain in the code: all of them, or those of the loop's body
  counts per_link;          // exactly these for each link
  counts extras;            // at most these besides, in all
  std::string
      result_of;  // the opcode whose result the next link takes; empty: links hold the warp up by themselves
  unsigned side_by_side = 1;  // chains that run next to each other: the halves of a 64-bit shuffle are two
  bool looped = false;      // the links are the body of one loop, whose own instructions are among the extras
  bool side_paths = false;  // a branch may leave the stretch (a path for lanes that are apart, a retry)
  counts side_per_link;     // what that path holds for each link, where it runs in place of the links
  unsigned reads_before =
      0;  // further reads of the counter ahead of the pair: what brings the warps to one start
  enclosure enclosed;
  bool prepared = false;      // nothing between the reads waits for what was begun before the first of them
  bool library_code = false;  // many instructions of a library's: its clock reads alone are looked at
  std::map<unsigned, double>
      stall_per_link;  // chains of fixed latency: stall counts by architecture; 0: of all others
};

// full: everything was looked at. clocks_and_stalls: library code, or an architecture whose opcodes are not
// known in full.
enum class depth { full, clocks_and_stalls };

struct code_verdict {
  std::string kernel;
  depth looked_at = depth::full;
  std::vector<std::string> complaints;  // sentences; none: the code is what it says
  counts found;                         // between the first pair of clock reads
  std::uint64_t instructions = 0;       // between them
  std::uint64_t stall_sum =
      0;  // cycles from issuing the first read until what takes the last result may issue
  bool passed() const { return complaints.empty(); }
};

// The architecture that is known in full.
inline constexpr unsigned architecture_known_in_full = 90;

// Stall counts may differ from the prediction by this much in all: the first read's own, and the last link's.
inline constexpr double stall_slack = 8;
// Long chains: ptxas schedules them in pieces, and for 7.5 some links of the last piece wait 4 cycles more.
inline constexpr double stall_slack_share = 1e-4;

// Looks at `expected.kernel` of the cubin. (a) A pair of 64-bit clock reads (the last ones, where others
// stand before), and no 32-bit one. (b) Between them exactly the links' instructions and only allowed extras.
// (c) Each link takes the one before it, and the second read stands behind an instruction that takes the last
// result, its scoreboard waited for; where the probe says that it is prepared, nothing waits there for a load
// that was begun before (paper 002). (d) The stall counts of a chain of fixed latency add up to the
// prediction.
code_verdict check_code(const cubin&, const expected_code&);

}  // namespace mgsync::machine_code
