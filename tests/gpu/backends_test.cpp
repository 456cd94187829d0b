// Every backend on 1, 2 and 4 GPUs: it is a barrier, its check notices one that is not, its waits end.
#include <algorithm>
#include <iostream>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "src/studies/barriers/checked_code.hpp"
#include "src/studies/barriers/trial_exchange.hpp"
#include "tests/gpu/some_gpus.hpp"

namespace mgsync::test { namespace {

struct tried {
  const mgsync::backend* backend;
  const barrier_variant* variant;
  int gpus;
  unsigned blocks_per_sm;  // 0: one block per GPU
  unsigned threads;
};

std::vector<tried> all_tries() {
  std::vector<tried> tries;
  for (const auto* b : backends())
    for (const auto& v : b->variants)
      for (const int gpus : {1, 2, 4})
        for (const auto& [blocks, threads] :
             {std::pair{0u, 32u}, {0u, 256u}, {1u, 32u}, {4u, 256u}, {32u, 64u}})
          if (v.facts.joins_all()) tries.push_back({b, &v, gpus, blocks, threads});
  return tries;
}

std::string name_of(const testing::TestParamInfo<tried>& info) {
  const auto& t = info.param;
  std::string name = std::string(t.backend->name) + "_" + std::string(t.variant->name) + "_" +
                     std::to_string(t.gpus) + "gpus_" + std::to_string(t.blocks_per_sm) + "x" +
                     std::to_string(t.threads);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

std::string first_of(const trial& seen) {
  if (!seen.first_violation) return "none";
  const auto& v = *seen.first_violation;
  return fmt::format("in round {} member {} block {} left before the {} of member {} block {} was there (saw "
                     "{:#x}, expected {:#x})",
                     v.round, v.reader.member, v.reader.block, v.what, v.offender.member, v.offender.block,
                     v.seen, v.expected);
}

// A barrier inside a kernel names its kernel, whose machine code is found in this program.
TEST(checked_code, is_found_of_barriers_inside_kernels) {
  MGSYNC_NEEDS_GPUS(1);
  one_rank here;
  const auto group = group_of(1);
  const auto wanted = shape(1, 256);
  std::map<std::string, std::string> codes;
  for (const auto* b : backends())
    for (const auto& v : b->variants) {
      if (!can_run(*b, v, {}, group, wanted).ok) continue;
      const auto made = v.make.of(group.device)(group, wanted, here.session());
      if (!made.barrier || made.checked.name.empty()) continue;
      const auto name = fmt::format("{}:{}", b->name, v.name), code = barriers::code_of(made.checked);
      EXPECT_EQ(code.size(), 20u) << name << ": '" << code << "' of " << made.checked.name << " in "
                                  << made.checked.file << " for " << made.checked.architecture;
      codes[name] = code;
    }
  for (const auto& [name, code] : codes) std::cout << name << ' ' << code << '\n';
  ASSERT_EQ(codes.count("multigrid:hub"), 1u);
  EXPECT_NE(codes["multigrid:hub"], codes["multigrid:inbox"]);
}

class on_gpus : public testing::TestWithParam<tried> {};

TEST_P(on_gpus, is_a_barrier_and_the_check_would_notice) {
  const auto& t = GetParam();
  MGSYNC_NEEDS_GPUS(t.gpus);
  one_rank here;
  const auto group = group_of(t.gpus);
  const auto wanted = shape(t.blocks_per_sm, t.threads);
  const auto possible = can_run(*t.backend, *t.variant, {}, group, wanted);
  if (!possible.ok) GTEST_SKIP() << "waived: " << possible.reason;
  const auto made = t.variant->make.of(group.device)(group, wanted, here.session());
  if (!made.barrier) GTEST_SKIP() << "waived: " << made.reason;

  // Enough rounds for the epochs to wrap, in two launches of the same object.
  for (int launch = 0; launch < 2; ++launch) {
    const auto seen = made.barrier->run(checked(400));
    EXPECT_EQ(seen.outcome, outcome::completed);
    EXPECT_EQ(seen.violations, 0u) << "run " << launch << ": " << first_of(seen);
  }
  const bool inside_a_block = t.variant->facts.scope <= fact::scope::lanes ||
                              (t.variant->facts.scope == fact::scope::block && t.threads > 32);
  if (t.gpus == 1 && t.blocks_per_sm == 0 && !inside_a_block) return;  // nobody to meet
  auto control = checked(256);
  control.fault.what = fault::kind::arrive_early;
  control.fault.member = static_cast<unsigned>(t.gpus - 1);
  const auto broken = made.barrier->run(control);
  EXPECT_EQ(broken.outcome, outcome::completed);
  EXPECT_GT(broken.violations, 0u);
  ASSERT_TRUE(broken.first_violation);
  EXPECT_EQ(broken.first_violation->offender.member, control.fault.member);

  run_request timed;
  timed.rounds = 64;
  timed.deadline = awake_clock::now() + std::chrono::seconds(20);
  const auto time = made.barrier->run(timed);
  EXPECT_EQ(time.outcome, outcome::completed);
  EXPECT_EQ(time.elapsed.size(), static_cast<std::size_t>(t.gpus));
}

TEST_P(on_gpus, a_block_that_never_arrives_ends_in_a_report) {
  const auto& t = GetParam();
  MGSYNC_NEEDS_GPUS(t.gpus);
  if (!t.variant->bounded) GTEST_SKIP() << "its waits are not ours: the watchdog ends them";
  if (t.blocks_per_sm > 1) GTEST_SKIP() << "the shape makes no difference";
  one_rank here;
  const auto group = group_of(t.gpus);
  const auto wanted = shape(t.blocks_per_sm, t.threads);
  if (const auto possible = can_run(*t.backend, *t.variant, {}, group, wanted); !possible.ok)
    GTEST_SKIP() << "waived: " << possible.reason;
  if (t.gpus == 1 && t.blocks_per_sm == 0) GTEST_SKIP() << "nobody to meet";
  const auto stuck = t.variant->make.of(group.device)(group, wanted, here.session());
  if (!stuck.barrier) GTEST_SKIP() << "waived: " << stuck.reason;
  auto request = checked(100);
  request.deadline = awake_clock::now() + std::chrono::milliseconds(300);
  request.fault.what = fault::kind::never_arrive;
  request.fault.member = static_cast<unsigned>(t.gpus - 1);
  request.fault.block = t.blocks_per_sm == 0 ? 0 : 17;
  request.fault.round = 42;
  const auto begin = std::chrono::steady_clock::now();
  const auto seen = stuck.barrier->run(request);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(2));
  EXPECT_EQ(seen.outcome, outcome::timed_out);
  std::vector<unsigned> members(seen.elapsed.size());
  std::iota(members.begin(), members.end(), 0u);
  const auto told = merge_trials({pack_trial(seen, members, false)});
  EXPECT_EQ(told.stuck_round, 43u);
  ASSERT_EQ(told.missing.size(), 1u);
  EXPECT_EQ(told.missing[0].member, request.fault.member);
  EXPECT_EQ(told.missing[0].block, request.fault.block);
  // The GPUs are as good as before.
  const auto again = t.variant->make.of(group.device)(group, wanted, here.session());
  ASSERT_TRUE(again.barrier) << again.reason;
  EXPECT_EQ(again.barrier->run(checked(100)).violations, 0u);
}

INSTANTIATE_TEST_SUITE_P(backends, on_gpus, testing::ValuesIn(all_tries()), name_of);

TEST(gpu_shapes, blocks_that_do_not_fit_are_refused_with_a_sentence) {
  MGSYNC_NEEDS_GPUS(1);
  one_rank here;
  for (const auto* b : backends()) {
    const auto& first = b->variants.front();
    const auto wanted = shape(32, 1024);
    if (b->name == "nvshmem") continue;  // its object is beside mgsync, not beside this program
    if (!can_run(*b, first, {}, group_of(1), wanted).ok) continue;
    const auto made = first.make.of(topology::device::gpu)(group_of(1), wanted, here.session());
    EXPECT_FALSE(made.barrier) << b->name;
    EXPECT_NE(made.reason.find("not resident at once"), std::string::npos) << b->name << ": " << made.reason;
  }
}

}}  // namespace mgsync::test
