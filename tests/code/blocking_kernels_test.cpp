// The machine code of the study blocking, read from the object files that are linked: where lanes are to be
// in branches of their own they are, and what is to be predicated is.
#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <string>
#include <vector>

#include "tests/code/code_files.hpp"

namespace mgsync::machine_code { namespace {

// As ptxas of CUDA 13 writes them.
constexpr std::initializer_list<unsigned> end_of_collective = {0x91b}, bar_sync = {0xb1d},
                                          shuffle = {0x389, 0x589, 0x989, 0xf89}, vote = {0x806},
                                          redux = {0x3c4};

std::size_t count(const function& f, std::initializer_list<unsigned> opcodes) {
  return static_cast<std::size_t>(std::count_if(f.code.begin(), f.code.end(), [&](const instruction& i) {
    return std::find(opcodes.begin(), opcodes.end(), i.opcode()) != opcodes.end();
  }));
}

std::size_t clock_reads(const function& f) {
  return static_cast<std::size_t>(
      std::count_if(f.code.begin(), f.code.end(), [](const instruction& i) { return i.reads_clock_64(); }));
}

std::vector<const function*> kernels_named(const cubin& code, const std::string& part,
                                           const std::string& other = "") {
  std::vector<const function*> all;
  for (const auto& f : code.functions)
    if (f.name.find(part) != std::string::npos && f.name.find(other) != std::string::npos) all.push_back(&f);
  return all;
}

const function& rounds_of(const cubin& code, const std::string& method) {
  const auto found = kernels_named(code, "rounds_of_lanes", method);
  if (found.size() != 1) throw std::runtime_error(std::to_string(found.size()) + " kernels of " + method);
  return *found.front();
}

TEST(lane_rounds, every_lane_has_a_branch_of_its_own) {
  const auto all = cubins_in(MGSYNC_LANE_ROUNDS);
  ASSERT_FALSE(all.empty());
  for (const auto& code : all)
    for (const auto* f : kernels_named(code, "rounds_of_lanes")) {
      if (f->name.find("holds_redux") != std::string::npos && code.architecture < 80)
        continue;  // no such instruction there
      // The wait and two stamps of each: merged branches would have them once.
      EXPECT_GE(clock_reads(*f), 3 * 32U) << f->name << " for sm_" << code.architecture;
    }
}

TEST(lane_rounds, every_branch_has_the_barrier_and_the_control_has_none) {
  for (const auto& code : cubins_in(MGSYNC_LANE_ROUNDS)) {
    const auto& control = rounds_of(code, "holds_nothing");
    EXPECT_EQ(count(rounds_of(code, "holds_syncthreads"), bar_sync), 32U);
    EXPECT_EQ(count(rounds_of(code, "holds_named_barrier"), bar_sync), 32U);
    EXPECT_EQ(count(control, bar_sync), 0U);
    EXPECT_GE(count(rounds_of(code, "holds_shuffle"), shuffle), count(control, shuffle) + 32);
    EXPECT_GE(count(rounds_of(code, "holds_ballot"), vote), count(control, vote) + 32);
    if (code.architecture >= 80) { EXPECT_GE(count(rounds_of(code, "holds_redux"), redux), 32U); }
    if (code.architecture < 90) continue;
    EXPECT_EQ(count(control, end_of_collective), 0U);
    for (const auto* method : {"holds_syncwarp", "holds_tile", "holds_coalesced"})
      EXPECT_GE(count(rounds_of(code, method), end_of_collective), 32U) << method;
  }
}

TEST(absent_threads, predicated_barriers_are_and_those_in_branches_are_not) {
  const auto unguarded = [](const function& f) {
    return std::count_if(f.code.begin(), f.code.end(), [](const instruction& i) {
      return i.opcode() == 0xb1d && i.guard() == true_predicate && !i.guard_negated();
    });
  };
  const auto all = cubins_in(MGSYNC_ABSENT_CASES);
  ASSERT_FALSE(all.empty());
  for (const auto& code : all)
    for (const auto* level :
         {"case_of_lanesINS0_16with_syncthreads", "case_of_warpsINS0_16with_syncthreads"}) {
      const auto predicated = kernels_named(code, level, "Lb1E"), branch = kernels_named(code, level, "Lb0E");
      ASSERT_EQ(predicated.size(), 1U) << level;
      ASSERT_EQ(branch.size(), 1U) << level;
      EXPECT_EQ(unguarded(*predicated.front()), 0) << level << " for sm_" << code.architecture;
      EXPECT_GE(unguarded(*branch.front()), 1) << level << " for sm_" << code.architecture;
    }
}

}}  // namespace mgsync::machine_code
