// Where a process runs its kernels one after the other, only those of one GPU may wait for others: tested
// without a GPU.
#include <cstdlib>

#include <gtest/gtest.h>

#include "barriers/parts/gpu_team/local_gpus.hpp"
#include "tests/gpu/some_gpus.hpp"

namespace mgsync::test { namespace {

// Two GPUs, the second of them of `rank`; this process is rank 0.
topology::group two_gpus(int rank) {
  auto two = group_of(2);
  two.members[1].rank = rank;
  return two;
}

class one_by_one : public testing::Test {
 protected:
  one_by_one() { setenv("CUDA_LAUNCH_BLOCKING", "1", 1); }
  ~one_by_one() override { unsetenv("CUDA_LAUNCH_BLOCKING"); }
  one_rank here_;
};

TEST_F(one_by_one, several_gpus_of_a_process_are_refused) {
  EXPECT_NE(gpu_team::why_not_spin(two_gpus(0), here_.session()).find("give each process one GPU"),
            std::string::npos);
}

TEST_F(one_by_one, one_gpu_of_each_process_may_wait) {
  EXPECT_EQ(gpu_team::why_not_spin(two_gpus(1), here_.session()), "");
}

TEST(one_after_the_other, is_what_a_sanitizer_does_and_nsight_systems_does_not) {
  one_rank here;
  setenv("NV_SANITIZER_INJECTION_PORT_BASE", "1", 1);
  EXPECT_NE(gpu_team::why_not_spin(two_gpus(0), here.session()), "");
  EXPECT_EQ(gpu_team::why_not_spin(two_gpus(1), here.session()), "");
  unsetenv("NV_SANITIZER_INJECTION_PORT_BASE");
  setenv("NSYS_PROFILING_SESSION_ID", "1", 1);
  EXPECT_EQ(gpu_team::why_not_spin(two_gpus(0), here.session()), "");
  unsetenv("NSYS_PROFILING_SESSION_ID");
}

TEST(at_will, kernels_of_one_process_wait_for_each_other) {
  one_rank here;
  EXPECT_EQ(gpu_team::why_not_spin(two_gpus(0), here.session()), "");
}

}}  // namespace mgsync::test
