// How conformance_test lets others run, in place of the C library's sched_yield(), in every wait: ours,
// std::barrier's and MPI's. Beside programs that compute, a yield costs a whole time slice of theirs, several ms in each wait:
// minutes in a test that takes seconds. So after such a yield this thread sleeps in its next waits instead: who wakes up is let in
// soon. What is measured is measured with the C library's; and where yields are quick, nothing changes here either.
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <thread>

extern "C" int sched_yield() noexcept {
  using clock = std::chrono::steady_clock;
  constexpr auto a_slice = std::chrono::milliseconds(1);
  constexpr unsigned sleeps_after_a_slice = 1000;  // then a yield is tried again
  thread_local unsigned sleeps_left = 0;
  if (sleeps_left > 0) {
    --sleeps_left;
    std::this_thread::sleep_for(std::chrono::microseconds(1));
    return 0;
  }
  const auto before = clock::now();
  syscall(SYS_sched_yield);
  if (clock::now() - before >= a_slice) sleeps_left = sleeps_after_a_slice;
  return 0;
}
