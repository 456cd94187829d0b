// Checks, before a probe is run, what its machine code contains between the two reads of the SM's clock
// (docs/method.md, "Machine code"). A probe whose code is not as expected gets no value.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "src/probes/machine_code/cubin.hpp"

namespace mgsync::machine_code {

// Instructions by name. Copies of a register count as "MOV", whichever instruction the compiler uses for
// them.
using counts = std::map<std::string, std::uint64_t, std::less<>>;

// For work between arriving at a barrier and waiting for it: every instruction `work` must stand between a
// `first` and the next `last`.
struct enclosure {
  std::string first, work, last;  // `work` empty: not checked
};

// The code that a probe is expected to have.
struct expected_code {
  std::string kernel;
  std::uint64_t links = 1;  // of the chain, as they stand in the code: all links, or those in the loop's body
  counts per_link;          // the instructions of each link, exactly
  counts extras;            // at most these further instructions, in all
  std::string
      result_of;  // the opcode whose result the next link uses; empty: each link stalls the warp by itself
  unsigned side_by_side = 1;  // independent chains side by side: two for the halves of a 64-bit shuffle
  bool looped = false;  // the links are the body of one loop, whose own instructions are among the extras
  bool side_paths =
      false;             // a branch may leave the code between the reads (a path for diverged lanes, a retry)
  counts side_per_link;  // the instructions of that path for each link, where it runs in place of the links
  unsigned reads_before =
      0;  // further clock reads before the pair, which let all warps start at the same time
  enclosure enclosed;
  bool prepared =
      false;  // nothing between the reads may wait for an instruction issued before the first of them
  bool library_code = false;                  // much code of a library: only its clock reads are checked
  std::map<unsigned, double> stall_per_link;  // for chains of fixed latency: stall cycles per link by
                                              // architecture; key 0: all other architectures
};

// full: everything was checked. clocks_and_stalls: only the clock reads and the stall counts, for library
// code and for architectures whose opcodes are not all known.
enum class depth { full, clocks_and_stalls };

struct code_verdict {
  std::string kernel;
  depth looked_at = depth::full;
  std::vector<std::string> complaints;  // sentences; none: the code is as expected
  counts found;                         // between the first pair of clock reads
  std::uint64_t instructions = 0;       // between them
  std::uint64_t stall_sum = 0;  // cycles from the issue of the first read to the earliest issue of the
                                // instruction that uses the last result
  bool passed() const { return complaints.empty(); }
};

// The architecture (10 x compute capability) whose opcodes are all known.
inline constexpr unsigned architecture_known_in_full = 90;

// Stall counts may differ from the prediction by this much in all: the first read's own, and the last link's.
inline constexpr double stall_slack = 8;
// Long chains: ptxas schedules them in pieces, and for 7.5 some links of the last piece wait 4 cycles more.
inline constexpr double stall_slack_share = 1e-4;

// Looks at `expected.kernel` of the cubin. (a) A pair of 64-bit clock reads (the last ones, where others
// stand before), and no 32-bit one. (b) Between them exactly the links' instructions and only allowed extras.
// (c) Each link uses the result of the one before it, and the second read comes after an instruction that
// uses the last result and waits for its scoreboard; where `prepared` is set, nothing in between waits for a
// load that was issued before the first read (paper 002). (d) The stall counts of a chain of fixed latency
// add up to the prediction.
code_verdict check_code(const cubin&, const expected_code&);

}  // namespace mgsync::machine_code
