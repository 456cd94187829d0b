// Groups that gave up a barrier: who is named, what kernels behind it do, and that reset() makes all as new.
#include <chrono>
#include <string>
#include <vector>

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <mgsync/multi_grid.hpp>

#include "tests/gpu/library_groups.hpp"
#include "tests/gpu/needs_gpus.hpp"

namespace mgsync::test { namespace {

using namespace std::chrono_literals;

class given_up : public testing::TestWithParam<int> {};

void launch_leaving(multi_grid& grids, unsigned blocks, unsigned threads, unsigned late, unsigned when,
                    unsigned rounds, found_by& found) {
  const unsigned rank = grids.gpus() - 1;
  grids.launch_each(leave_early_kernel(), blocks, threads, 0, {},
                    [&](unsigned local) { return std::tuple(rank, late, when, rounds, found.of(local)); });
}

std::string timeout_message(multi_grid& grids) {
  try {
    grids.wait();
  } catch (const timeout_error& e) { return e.what(); }
  return "no timeout_error";
}

// Each of a kernel's blocks asked so often, and was let pass never.
void expect_none_passed(multi_grid& grids, found_by& found, unsigned rounds) {
  for (unsigned g = 0; g < grids.gpus(); ++g) {
    EXPECT_EQ(found.of(g)->passed, 0u) << "GPU " << g;
    EXPECT_EQ(found.of(g)->given_up, rounds) << "GPU " << g;
    EXPECT_EQ(found.of(g)->wrong, 0u) << "GPU " << g << ": all threads of a block leave alike";
  }
}

TEST_P(given_up, a_late_block_is_named_and_reset_makes_it_usable_again) {
  MGSYNC_NEEDS_GPUS(GetParam());
  multi_grid grids(first_gpus(GetParam()), 200ms);
  found_by found(grids.gpus());
  const unsigned last = grids.gpus() - 1;
  for (const unsigned blocks : {sms(), 4 * sms(), 16 * sms()}) {
    const auto begin = std::chrono::steady_clock::now();
    // The others ignore that sync() failed, 100,000 times.
    launch_leaving(grids, blocks, 64, 17, 42, 100'000, found);
    const auto why = timeout_message(grids);
    ASSERT_NE(why, "no timeout_error");
    EXPECT_NE(why.find("barrier 43"), std::string::npos) << why;
    EXPECT_NE(why.find("GPU " + std::to_string(last) + " (grid " + std::to_string(last) + "): block 17."),
              std::string::npos)
        << why;
    EXPECT_LT(std::chrono::steady_clock::now() - begin, 3s);
    EXPECT_GT(found.of(0)->given_up, 90'000u) << "every sync() after the time-out fails too";
    for (unsigned g = 0; g < grids.gpus(); ++g)
      EXPECT_EQ(found.of(g)->wrong, 0u) << "all threads of a block leave alike";
    EXPECT_THROW(
        grids.launch_each(leave_early_kernel(), blocks, 64, 0, {},
                          [&](unsigned local) { return std::tuple(99u, 0u, 0u, 1u, found.of(local)); }),
        timeout_error);
    grids.reset();
    expect_sound(grids, blocks, 64, way::mixed, 2, 300);
  }
}

// The late block of a kernel behind would find the arrivals of the others in the kernel before, and pass
// alone.
TEST_P(given_up, kernels_queued_behind_pass_no_barrier) {
  MGSYNC_NEEDS_GPUS(GetParam());
  multi_grid grids(first_gpus(GetParam()), 500ms);
  for (const auto& [blocks, threads] :
       {std::pair{sms(), 32u}, {sms(), 1024u}, {4 * sms(), 75u}, {16 * sms(), 64u}}) {
    const unsigned other = blocks / 2;
    for (const unsigned b : {blocks, other})
      expect_sound(grids, b, threads, way::whole, 1, 10);  // makes the flags, and loads
    {
      found_by warm(grids.gpus());
      launch_leaving(grids, blocks, threads, nobody, 0, 5, warm);
      grids.wait();
    }
    found_by first(grids.gpus()), same(grids.gpus()), another(grids.gpus()), last(grids.gpus());
    launch_leaving(grids, blocks, threads, 3, 7, 20, first);
    launch_leaving(grids, blocks, threads, nobody, 0, 10, same);
    launch_leaving(grids, other, threads, nobody, 0, 11, another);
    launch_leaving(grids, blocks, threads, nobody, 0, 12, last);
    const auto why = timeout_message(grids);
    EXPECT_NE(why.find("(grid " + std::to_string(grids.gpus() - 1) + "): block 3."), std::string::npos)
        << why;
    for (unsigned g = 0; g < grids.gpus(); ++g) EXPECT_EQ(first.of(g)->given_up, 13u);
    expect_none_passed(grids, same, 10);
    expect_none_passed(grids, another, 11);
    expect_none_passed(grids, last, 12);
    grids.reset();
    for (const unsigned b : {blocks, other}) expect_sound(grids, b, threads, way::mixed, 2, 100);
  }
}

// One GPU's kernel ends early and gives up nothing; behind it is one of another grid, which begins before the
// others give up.
TEST_P(given_up, a_kernel_behind_one_that_left_early_passes_no_barrier) {
  MGSYNC_NEEDS_GPUS(GetParam());
  if (GetParam() == 1) GTEST_SKIP() << "on one GPU nobody is left to give up";
  multi_grid grids(first_gpus(GetParam()), 500ms);
  for (const unsigned b : {8u, 16u}) expect_sound(grids, b, 64, way::whole, 1, 10);
  found_by first(grids.gpus()), behind(grids.gpus());
  launch_leaving(grids, 8, 64, every_block, 7, 20, first);
  launch_leaving(grids, 16, 64, nobody, 0, 10, behind);
  EXPECT_NE(timeout_message(grids), "no timeout_error");
  for (unsigned g = 0; g + 1 < grids.gpus(); ++g) EXPECT_EQ(first.of(g)->given_up, 13u);
  EXPECT_EQ(first.of(grids.gpus() - 1)->given_up, 0u);
  expect_none_passed(grids, behind, 10);
  grids.reset();
  for (const unsigned b : {8u, 16u}) expect_sound(grids, b, 64, way::mixed, 2, 100);
}

// check() of the host is not asked before the user's own launch: the kernel finds out by itself.
TEST_P(given_up, a_kernel_that_the_user_launches_before_reset_passes_no_barrier) {
  MGSYNC_NEEDS_GPUS(GetParam());
  multi_grid grids(first_gpus(GetParam()), 200ms);
  found_by first(grids.gpus()), by_hand(grids.gpus());
  launch_leaving(grids, 8, 64, 3, 7, 20, first);
  EXPECT_NE(timeout_message(grids), "no timeout_error");
  for (unsigned g = 0; g < grids.gpus(); ++g) {
    ASSERT_EQ(cudaSetDevice(grids.ordinal(g)), cudaSuccess);
    multi_grid_handle handle = grids.handle_for(8, g);
    unsigned rank = 0, late = nobody, when = 0, rounds = 10;
    findings* into = by_hand.of(g);
    void* arguments[] = {&handle, &rank, &late, &when, &rounds, &into};
    ASSERT_EQ(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(leave_early_kernel()), dim3(8),
                                          dim3(64), arguments, 0, nullptr),
              cudaSuccess);
  }
  for (unsigned g = 0; g < grids.gpus(); ++g) {
    ASSERT_EQ(cudaSetDevice(grids.ordinal(g)), cudaSuccess);
    ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  }
  expect_none_passed(grids, by_hand, 10);
  grids.reset();
  grids.check();
  expect_sound(grids, 8, 64, way::mixed, 2, 100);
}

INSTANTIATE_TEST_SUITE_P(gpus, given_up, testing::Values(1, 2, 4));

}}  // namespace mgsync::test
