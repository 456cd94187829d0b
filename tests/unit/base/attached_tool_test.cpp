#include "src/base/attached_tool.hpp"

#include <vector>

#include <gtest/gtest.h>

namespace mgsync { namespace {

std::optional<attached_tool> found_in(std::vector<const char*> environment) {
  environment.push_back(nullptr);
  return attached_tool_of(environment.data());
}

TEST(attached_tool, is_known_by_its_variable) {
  EXPECT_FALSE(found_in({"PATH=/bin", "NV_=1", "CUDA_INJECTION64_PATHS=x"}));
  EXPECT_FALSE(attached_tool_of(nullptr));
  for (const char* one : {"NV_SANITIZER_INJECTION_PORT_BASE=1", "NV_COMPUTE_PROFILER_PERFWORKS_DIR=/x",
                          "NV_TPS_LAUNCH_UUID=1", "CUDA_INJECTION64_PATH=/tool.so"}) {
    const auto tool = found_in({"PATH=/bin", one});
    ASSERT_TRUE(tool) << one;
    EXPECT_EQ(tool->variable, std::string(one).substr(0, std::string(one).find('=')));
    EXPECT_TRUE(tool->one_by_one) << one;
  }
}

TEST(attached_tool, nsight_systems_lets_kernels_run_beside_each_other) {
  const auto tool =
      found_in({"CUDA_INJECTION64_PATH=/libToolsInjection64.so", "NSYS_PROFILING_SESSION_ID=7"});
  ASSERT_TRUE(tool);
  EXPECT_EQ(tool->variable, "NSYS_PROFILING_SESSION_ID");
  EXPECT_FALSE(tool->one_by_one);
  EXPECT_TRUE(found_in({"NSYS_PROFILING_SESSION_ID=7", "NV_SANITIZER_INJECTION_PORT_BASE=1"})->one_by_one);
}

}}  // namespace mgsync
