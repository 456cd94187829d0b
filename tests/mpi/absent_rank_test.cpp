// absent_rank_test, by three ranks on hosts of their own: rank 1 does not come to a barrier of the
// communicator. Rank 0, whose time is over first, ends the job and names that one alone: rank 2 came.
#include <chrono>
#include <cstdio>
#include <string>
#include <thread>

#include "src/base/communicator.hpp"
#include "src/base/errors.hpp"
#include "src/base/watchdog.hpp"

int main() {
  using namespace std::chrono_literals;
  mgsync::watchdog dog([](const std::string&) {}, [](const std::string&) {});
  const auto job = mgsync::communicator::world(2s, dog);
  if (job.rank() == 1) std::this_thread::sleep_for(20s);  // rank 0 has ended the job by then
  if (job.rank() == 2) std::this_thread::sleep_for(1s);   // it still waits when rank 0 asks
  try {
    job.barrier("waiting for rank 1");
  } catch (const mgsync::timeout_error& error) {
    std::printf("rank %d says: %s\n", job.rank(), error.what());
    std::fflush(stdout);
  }
  job.abort(3);
}
