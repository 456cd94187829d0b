// What tests on GPUs start from: the GPUs that are here, a group of some of them, and a session of one rank.
#pragma once

#include <chrono>
#include <string>

#include <gtest/gtest.h>

#include "barriers/backend.hpp"
#include "src/base/communicator.hpp"
#include "src/base/session.hpp"
#include "src/base/watchdog.hpp"
#include "tests/gpu/needs_gpus.hpp"

namespace mgsync::test {

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

configuration shape(unsigned blocks_per_sm, unsigned threads);
run_request checked(std::uint32_t rounds, std::chrono::seconds patience = std::chrono::seconds(20));

}  // namespace mgsync::test
