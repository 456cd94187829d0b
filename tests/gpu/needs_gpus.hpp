// Skips a test where there are too few GPUs. For tests of what is installed: without any header of the
// program.
#pragma once

#include <cstdlib>

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

namespace mgsync::test {

// How many GPUs CUDA shows; 0 without a driver.
inline int gpus_here() {
  int count = 0;
  return cudaGetDeviceCount(&count) == cudaSuccess ? count : 0;
}

}  // namespace mgsync::test

// With a sentence; where MGSYNC_REQUIRE_GPUS says that there are to be as many, it fails instead.
#define MGSYNC_NEEDS_GPUS(wanted)                                                                            \
  if (const int here_ = ::mgsync::test::gpus_here(); here_ < (wanted)) {                                     \
    const char* required_ = std::getenv("MGSYNC_REQUIRE_GPUS");                                              \
    if (required_ != nullptr && std::atoi(required_) >= (wanted))                                            \
      FAIL() << "MGSYNC_REQUIRE_GPUS=" << required_ << ", but only " << here_ << " GPUs are here";           \
    GTEST_SKIP() << "needs " << (wanted) << " GPU(s), and " << here_ << " are here";                         \
  }
