// The machine code of the backend warp, read from the object file that is linked: lanes that are together
// meet in no instruction, lanes from two branches in one of each branch.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "tests/code/code_files.hpp"

namespace mgsync::machine_code { namespace {

constexpr unsigned end_of_collective =
    0x91b;  // as ptxas of CUDA 13 writes it, behind every barrier of lanes that are apart

const function& timed(const cubin& code, const std::string& pass) {
  const auto found = std::find_if(code.functions.begin(), code.functions.end(), [&](const function& f) {
    return f.name.find("timed_inner_rounds") != std::string::npos && f.name.find(pass) != std::string::npos;
  });
  if (found == code.functions.end()) throw std::runtime_error("no kernel of " + pass);
  return *found;
}

std::size_t barriers_of(const function& f) {
  return static_cast<std::size_t>(std::count_if(
      f.code.begin(), f.code.end(), [](const instruction& i) { return i.opcode() == end_of_collective; }));
}

TEST(warp_barriers, are_instructions_where_lanes_are_apart_alone) {
  std::size_t read = 0;
  for (const auto& code : cubins_in(MGSYNC_WARP_KERNELS)) {
    if (code.architecture != architecture_known_in_full) continue;
    ++read;
    for (const auto* const together : {"syncwarp_pass", "tile_pass", "coalesced_pass"})
      EXPECT_EQ(barriers_of(timed(code, together)), 0U) << together;
    EXPECT_GE(barriers_of(timed(code, "apart_pass")), 2U);
  }
  if (read == 0) GTEST_SKIP() << "this build has no code for compute capability 9.0";
}

}}  // namespace mgsync::machine_code
