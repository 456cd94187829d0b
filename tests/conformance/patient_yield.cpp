// How the programs of this folder let others run, in place of the C library's sched_yield(), in every wait:
// ours, std::barrier's and MPI's. Beside programs that compute, a yield costs a whole time slice of theirs,
// several ms in each wait: minutes in a test that takes seconds. So after such a yield a thread sleeps in its
// next waits instead: who wakes up is let in soon. Hundreds of threads of one program yield to one another,
// and asleep they would only wake up without end: they go on as ever. What is measured for users is measured
// with the C library's; and where yields are quick, nothing changes here either.
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace {

// The threads that have yielded and live.
std::atomic<unsigned> threads{0};

struct one_thread {
  one_thread() { threads.fetch_add(1, std::memory_order_relaxed); }
  ~one_thread() { threads.fetch_sub(1, std::memory_order_relaxed); }
  unsigned sleeps_left = 0;
};

}  // namespace

extern "C" int sched_yield() noexcept {
  using clock = std::chrono::steady_clock;
  constexpr auto a_slice = std::chrono::milliseconds(1);
  constexpr unsigned sleeps_after_a_slice = 1000;  // then a yield is tried again
  constexpr unsigned most_threads = 32;
  thread_local one_thread here;
  const bool patient = threads.load(std::memory_order_relaxed) <= most_threads;
  if (patient && here.sleeps_left > 0) {
    --here.sleeps_left;
    std::this_thread::sleep_for(std::chrono::microseconds(1));
    return 0;
  }
  const auto before = clock::now();
  syscall(SYS_sched_yield);
  if (patient && clock::now() - before >= a_slice) here.sleeps_left = sleeps_after_a_slice;
  return 0;
}
