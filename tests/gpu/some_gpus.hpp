// What tests on GPUs start from: the GPUs that are here, a group of some of them, and a session of one rank.
#pragma once

#include <chrono>
#include <cstdlib>
#include <string>

#include <gtest/gtest.h>

#include "barriers/backend.hpp"
#include "src/base/communicator.hpp"
#include "src/base/session.hpp"
#include "src/base/watchdog.hpp"

namespace mgsync::test {

// How many GPUs CUDA shows; 0 without a driver.
int gpus_here();

// Skips the test, with a sentence, where there are fewer than `wanted` GPUs; where MGSYNC_REQUIRE_GPUS says that there
// are to be as many, it fails instead.
#define MGSYNC_NEEDS_GPUS(wanted)                                                                             \
  if (const int here_ = ::mgsync::test::gpus_here(); here_ < (wanted)) {                                      \
    const char* required_ = std::getenv("MGSYNC_REQUIRE_GPUS");                                               \
    if (required_ != nullptr && std::atoi(required_) >= (wanted))                                             \
      FAIL() << "MGSYNC_REQUIRE_GPUS=" << required_ << ", but only " << here_ << " GPUs are here";            \
    GTEST_SKIP() << "needs " << (wanted) << " GPU(s), and " << here_ << " are here";                          \
  }

// The first `count` GPUs, all in this process, host threads not pinned.
topology::group group_of(int count);

class one_rank {
 public:
  one_rank();
  mgsync::session& session() { return session_; }

 private:
  communicator job_;
  watchdog dog_;
  mgsync::session session_;
};

configuration shape(std::string_view variant, unsigned blocks_per_sm, unsigned threads);
run_request checked(std::uint32_t rounds, std::chrono::seconds patience = std::chrono::seconds(20));

}  // namespace mgsync::test
