// The team of an OpenMP parallel region, of as many threads as were asked for or of none. The run time may
// give fewer than num_threads() says, and the barrier of two threads is not that of four.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "src/base/worker_pool.hpp"

namespace mgsync {

// It belongs to a thread of its own, and is dissolved after every run: idle OpenMP threads would spin on the
// cores of whatever is measured next.
class openmp_team {
 public:
  // A thread per entry of `cpus`: the OS index to pin it to, negative: not pinned.
  explicit openmp_team(std::vector<int> cpus);

  // Why the run time gives fewer threads than that, in one sentence; empty once it has given all. Asks it
  // with a parallel region, so this is no question about settings.
  std::string why_smaller();

  // Calls work(i) on thread i of the team, which may pass its barrier. Throws api_error, and has called
  // nothing, when the team is smaller or a pin is refused. `work` must not throw.
  void run(const std::function<void(unsigned)>& work);

 private:
  void fork(const std::function<void(unsigned)>* work);

  std::vector<int> cpus_;
  worker_pool starter_;
  std::vector<char>
      displaced_;  // moves what the run time allocates, so that every object's teams have other memory
  std::vector<int> allowed_;  // where the thread that makes the teams may run before it is pinned
  int size_ = 0;              // of the last team
  std::string refused_;       // why a thread of it could not be pinned
};

}  // namespace mgsync
