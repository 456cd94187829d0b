// This process's place in the job: its communicators, its watchdog and its time-out. Passed to whatever
// starts runs.
#pragma once

#include <chrono>

#include "src/base/communicator.hpp"
#include "src/base/watchdog.hpp"

namespace mgsync {

class session {
 public:
  session(communicator& job, communicator& group_ranks, watchdog& dog, std::chrono::nanoseconds timeout)
      : job_(&job), ranks_(&group_ranks), watchdog_(&dog), timeout_(timeout) {}

  int rank() const { return job_->rank(); }    // in the whole job: what topology::member::rank holds
  communicator& job() const { return *job_; }  // all ranks
  const communicator& ranks() const { return *ranks_; }  // the ranks that own members of the group under test
  mgsync::watchdog& watchdog() const { return *watchdog_; }
  std::chrono::nanoseconds timeout() const { return timeout_; }  // the longest that a wait may last

 private:
  communicator* job_;
  communicator* ranks_;
  mgsync::watchdog* watchdog_;
  std::chrono::nanoseconds timeout_;
};

}  // namespace mgsync
