// The kernels of the study launch, read from the object file that is linked: programmatic dependent launch is
// what two instructions make of it, and without them the attribute of a launch does nothing.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "tests/code/code_files.hpp"

namespace mgsync::machine_code { namespace {

std::ptrdiff_t place_of(const function& f, std::string_view opcode) {
  const auto found = std::ranges::find_if(f.code, [&](const instruction& i) { return i.name() == opcode; });
  return found == f.code.end() ? -1 : found - f.code.begin();
}

TEST(launch_kernels, those_in_turn_let_the_next_one_start_and_wait_for_the_one_before) {
  std::size_t in_turn = 0, plain = 0;
  for (const auto& code : cubins_in(MGSYNC_LAUNCH_KERNELS)) {
    for (const auto& f : code.functions) {
      const auto lets = place_of(f, "PREEXIT"), waits = place_of(f, "ACQBULK");
      const auto where = f.name + " for sm_" + std::to_string(code.architecture);
      if (f.name.find("in_turn") != std::string::npos && code.architecture >= 90) {
        EXPECT_GE(lets, 0) << where;
        EXPECT_GT(waits, lets) << where << ": it lets the next one start before it waits itself";
        ++in_turn;
      } else {
        EXPECT_EQ(lets, -1) << where;
        EXPECT_EQ(waits, -1) << where;
        ++plain;
      }
    }
  }
  EXPECT_GE(in_turn, 5U) << "waiting, null, and null with 8, 128 and 4096 bytes of arguments";
  EXPECT_GE(plain, 5U);
}

// What is timed leaves nothing in memory unless it is asked how long it waited: a store or an atomic behind a
// branch.
TEST(launch_kernels, a_waiting_kernel_asks_the_timer_and_skips_its_only_write) {
  for (const auto& code : cubins_in(MGSYNC_LAUNCH_KERNELS))
    for (const auto& f : code.functions) {
      if (f.name.find("waits") == std::string::npos) continue;
      const auto writes = std::ranges::count_if(f.code, [](const instruction& i) {
        return i.name() == "STG" || i.name() == "REDG" || i.name() == "ATOMG" || i.name() == "ATOM" ||
               i.name() == "ST";
      });
      EXPECT_LE(writes, 1) << f.name << " for sm_" << code.architecture;
    }
}

}}  // namespace mgsync::machine_code
