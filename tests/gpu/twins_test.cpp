// The check is checked: barriers broken on purpose are caught by the same check, on 1, 2 and 4 GPUs.
#include <cstdio>

#include "barriers/kernel_boundary/boundary_graph.hpp"
#include "tests/gpu/some_gpus.hpp"
#include "tests/gpu/twins.hpp"

namespace mgsync::test { namespace {

class weakened : public testing::TestWithParam<std::tuple<twin, int>> {};

TEST_P(weakened, is_caught) {
  const auto [which, gpus] = GetParam();
  MGSYNC_NEEDS_GPUS(gpus);
  one_rank here;
  const auto made = make_twin(which, group_of(gpus), shape(1, 256), here.session());
  ASSERT_TRUE(made.barrier) << made.reason;
  const auto seen = made.barrier->run(checked(1000, std::chrono::seconds(5)));
  if (which == twin::none) {
    EXPECT_EQ(seen.outcome, outcome::completed);
    EXPECT_EQ(seen.violations, 0u);
    return;
  }
  if (which == twin::narrow_release || which == twin::no_release) {
    // What the hardware lets pass shows nothing: the order test reads the code. docs/results/library-lab.md
    // says what these show.
    std::printf("%s release, %d GPUs: %llu violations of %llu observations\n",
                which == twin::no_release ? "no" : "a narrow", gpus,
                static_cast<unsigned long long>(seen.violations),
                static_cast<unsigned long long>(seen.observations));
    return;
  }
  // A broken barrier is caught as a violation, or because somebody waits for ever.
  EXPECT_TRUE(seen.violations > 0 || seen.outcome == outcome::timed_out);
  if (which == twin::stale_acquire || which == twin::quiet) { EXPECT_GT(seen.violations, 0u); }
  if (which == twin::quiet) { EXPECT_EQ(seen.outcome, outcome::completed); }
}

INSTANTIATE_TEST_SUITE_P(twins, weakened,
                         testing::Combine(testing::Values(twin::none, twin::arrival_left_out,
                                                          twin::one_flag_two_epochs, twin::early_reset,
                                                          twin::stale_acquire, twin::narrow_release,
                                                          twin::no_release, twin::quiet),
                                          testing::Values(1, 2, 4)));

// Leaves out the edges from one GPU to another, and where there is but one, every eighth edge from round to
// round.
class missing_edges final : public boundary_graph {
 public:
  using boundary_graph::boundary_graph;

 protected:
  std::vector<cudaGraphNode_t> awaited(unsigned local, std::uint32_t round,
                                       const std::vector<cudaGraphNode_t>& before) const override {
    if (before.size() > 1) return {before[local]};
    return round % 8 == 7 ? std::vector<cudaGraphNode_t>{} : before;
  }
};

class replayed : public testing::TestWithParam<std::tuple<bool, int>> {};

// A graph of checked rounds is built once and replayed: each of its runs must tell a graph that lacks edges
// from one that has all.
TEST_P(replayed, graph_without_some_edges_is_caught_in_every_run) {
  const auto [whole, gpus] = GetParam();
  MGSYNC_NEEDS_GPUS(gpus);
  one_rank here;
  auto rounds = round_loop::make_launch_rounds(group_of(gpus), shape(1, 256), here.session());
  ASSERT_TRUE(rounds.rounds) << rounds.reason;
  std::unique_ptr<boundary_method> method;
  if (whole) method = std::make_unique<boundary_graph>(*rounds.rounds, false);
  else method = std::make_unique<missing_edges>(*rounds.rounds, false);
  const auto barrier = make_boundary("graph", std::move(rounds.rounds), std::move(method));
  for (int run = 0; run < 3; ++run) {
    const auto seen = barrier->run(checked(300, std::chrono::seconds(5)));
    EXPECT_EQ(seen.outcome, outcome::completed);
    EXPECT_EQ(seen.violations == 0, whole) << seen.violations << " violations in run " << run;
    EXPECT_GT(seen.observations, 0u);
  }
}

INSTANTIATE_TEST_SUITE_P(twins, replayed,
                         testing::Combine(testing::Values(true, false), testing::Values(1, 2, 4)));

TEST(inside_a_block, nothing_is_no_barrier) {
  MGSYNC_NEEDS_GPUS(1);
  one_rank here;
  for (const auto& [which, threads] :
       {std::pair{fact::scope::lanes, 32u}, {fact::scope::block, 64u}, {fact::scope::block, 1024u}}) {
    const auto made = make_nothing_inside(which, group_of(1), shape(0, threads), here.session());
    ASSERT_TRUE(made.barrier) << made.reason;
    EXPECT_GT(made.barrier->run(checked(1000, std::chrono::seconds(5))).violations, 0u) << threads;
  }
}

}}  // namespace mgsync::test
