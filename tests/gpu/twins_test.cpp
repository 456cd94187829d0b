// The proof is proven: barriers broken on purpose are caught by the same check, on 1, 2 and 4 GPUs.
#include <cstdio>

#include "tests/gpu/some_gpus.hpp"
#include "tests/gpu/twins.hpp"

namespace mgsync::test {

namespace {

class weakened : public testing::TestWithParam<std::tuple<twin, int>> {};

TEST_P(weakened, is_caught) {
  const auto [which, gpus] = GetParam();
  MGSYNC_NEEDS_GPUS(gpus);
  one_rank here;
  const auto made = make_twin(which, group_of(gpus), shape("", 1, 256), here.session());
  ASSERT_TRUE(made.barrier) << made.reason;
  const auto seen = made.barrier->run(checked(1000, std::chrono::seconds(5)));
  if (which == twin::none) {
    EXPECT_EQ(seen.outcome, outcome::completed);
    EXPECT_EQ(seen.violations, 0u);
    return;
  }
  if (which == twin::narrow_release || which == twin::no_release) {
    // What the hardware lets pass is no proof: the order test reads the code. docs/library.md says what these show.
    std::printf("%s release, %d GPUs: %llu violations of %llu observations\n", which == twin::no_release ? "no" : "a narrow", gpus,
                static_cast<unsigned long long>(seen.violations), static_cast<unsigned long long>(seen.observations));
    return;
  }
  // A broken barrier is caught as a violation, or because somebody waits for ever.
  EXPECT_TRUE(seen.violations > 0 || seen.outcome == outcome::timed_out);
  if (which == twin::stale_acquire) { EXPECT_GT(seen.violations, 0u); }
}

INSTANTIATE_TEST_SUITE_P(twins, weakened,
                         testing::Combine(testing::Values(twin::none, twin::arrival_left_out, twin::one_flag_two_epochs,
                                                          twin::early_reset, twin::stale_acquire, twin::narrow_release,
                                                          twin::no_release),
                                          testing::Values(1, 2, 4)));

TEST(inside_a_block, nothing_is_no_barrier) {
  MGSYNC_NEEDS_GPUS(1);
  one_rank here;
  for (const auto& [which, threads] : {std::pair{level::warp, 32u}, {level::block, 64u}, {level::block, 1024u}}) {
    const auto made = make_nothing_inside(which, group_of(1), shape("", 0, threads), here.session());
    ASSERT_TRUE(made.barrier) << made.reason;
    EXPECT_GT(made.barrier->run(checked(1000, std::chrono::seconds(5))).violations, 0u) << threads;
  }
}

}  // namespace

}  // namespace mgsync::test
