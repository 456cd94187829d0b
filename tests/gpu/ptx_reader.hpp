// Reads PTX: the instructions of a kernel, and the orders of a barrier along every path through it. As much
// of the instructions' meaning is followed as tells which way a branch goes where the text settles it; else
// both ways are gone.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace mgsync::test {

struct ptx_instruction {
  std::string guard;  // "%p3", empty: always
  bool negated = false;
  std::string opcode;  // "setp.eq.u32"
  std::vector<std::string> operands;
  std::string text;
  int target = -1;  // of a branch
};

using ptx_code = std::vector<ptx_instruction>;

// By the names of the kernels and functions of the text.
std::map<std::string, ptx_code> read_ptx(const std::string& text);

enum class reach { gpu, system };

// Empty, or the first thing wrong on some path:
// - a flag store (st.relaxed) or an arrival (red, atom) to which some path leads without, in this order: an
// acquire behind
//   what was observed before (a poll, an addition's answer), a barrier of the warp or block, a release fence
//   that reaches as far as `wanted` for stores, and the GPU for arrivals (which add one: other additions, and
//   stores that reach the GPU only, put counters right, and must themselves be behind a barrier and a release
//   before a flag goes out);
// - the payload's load, if some path leads there without an acquire behind the last thing observed and a
// barrier behind
//   that;
// - no flag store, where `stores`; no poll; no payload.
std::string what_is_wrong(const ptx_code&, reach wanted, bool stores);

}  // namespace mgsync::test
