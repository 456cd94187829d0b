// What processes tell each other of the launch that each is about to make.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "barriers/library/launch_plan.hpp"
#include "src/base/errors.hpp"

namespace mgsync::library { namespace {

launch_plan step(dim3 grid, dim3 block) {
  return {volume(grid), "_Z4stepPf", grid, block, "relay: few blocks"};
}

std::string refusal(std::vector<launch_plan> all) {
  for (auto& plan : all) plan = launch_plan::of_bytes(plan.bytes());
  return why_not_one_launch(all);
}

constexpr const char* ending = ": the kernel, its grid and the barrier's algorithm are the same on all GPUs";

TEST(launch_plan, of_one_launch_is_not_refused) {
  EXPECT_EQ(refusal({step(8, 256)}), "");
  EXPECT_EQ(refusal({step({4, 2, 1}, {16, 16, 1}), step({4, 2, 1}, {16, 16, 1})}), "");
}

TEST(launch_plan, of_unequal_grids_names_both) {
  EXPECT_EQ(
      refusal({step(8, 256), step(8, 256), step(16, 256)}),
      std::string(
          "process 2 wants 16 blocks of 256 threads of step(float*) and process 0 wants 8 blocks of 256 "
          "threads of step(float*)") +
          ending);
  // As many blocks in another shape would give threads other ranks.
  EXPECT_EQ(
      refusal({step({4, 2, 1}, 64), step(8, 64)}),
      std::string(
          "process 1 wants 8 blocks of 64 threads of step(float*) and process 0 wants (4, 2, 1) blocks of "
          "64 threads of step(float*)") +
          ending);
  EXPECT_NE(refusal({step(8, 64), step(8, 128)}), "");
}

TEST(launch_plan, of_two_kernels_names_both) {
  auto other = step(8, 256);
  other.kernel = "not_of_cpp";
  EXPECT_EQ(
      refusal({step(8, 256), other}),
      std::string("process 1 wants 8 blocks of 256 threads of not_of_cpp and process 0 wants 8 blocks of 256 "
                  "threads of step(float*)") +
          ending);
}

TEST(launch_plan, of_two_algorithms_names_both) {
  auto other = step(8, 256);
  other.algorithm = "counter: another";
  EXPECT_EQ(
      refusal({step(8, 256), other}),
      std::string(
          "process 1 wants 8 blocks of 256 threads of step(float*) by counter: another and process 0 wants "
          "8 blocks of 256 threads of step(float*) by relay: few blocks") +
          ending);
}

TEST(launch_plan, without_a_kernel_fits_any_with_its_blocks) {
  EXPECT_EQ(refusal({launch_plan{8}, step(8, 256)}), "");
  EXPECT_EQ(
      refusal({step(8, 256), launch_plan{9}}),
      std::string("process 1 wants 9 blocks and process 0 wants 8 blocks of 256 threads of step(float*)") +
          ending);
  auto untold = step(8, 256);  // before CUDA 12.3
  untold.kernel.clear();
  EXPECT_EQ(refusal({step(8, 256), untold}), "");
}

TEST(launch_plan, is_nothing_else_that_a_process_may_have_sent) {
  for (const char* bytes : {"", "8", "1 2 3", "no plan\n\n", "-"})
    EXPECT_THROW(launch_plan::of_bytes(bytes), usage_error) << bytes;
}

// Of 132 SMs clusters of four fill 128: a part of the GPU holds its share, where the quotient of blocks per
// SM would be none.
TEST(fit_on_part, is_the_share_of_the_sms) {
  EXPECT_EQ(fit_on_part(128, 64, 132), 62u);
  EXPECT_EQ(fit_on_part(8 * 132, 16, 132), 8 * 16u);
  EXPECT_EQ(fit_on_part(132, 132, 132), 132u);
  EXPECT_EQ(fit_on_part(0, 16, 132), 0u);
}

}}  // namespace mgsync::library
