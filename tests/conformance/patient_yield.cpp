// How the programs of this folder let others run, in place of the C library's sched_yield(), in every wait:
// ours, std::barrier's and MPI's. Beside programs that compute, a yield costs a whole time slice of theirs,
// several ms in each wait: minutes in a test that takes seconds. So after such a yield a thread sleeps in its
// next waits instead: who wakes up is let in soon. Hundreds of threads of one program yield to one another,
// and asleep they would only wake up without end: they go on as ever. What is measured for users is measured
// with the C library's; and where yields are quick, nothing changes here either.
// A yield allocates nothing: a leak checker yields while it holds the allocator's lock.
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace {

// The threads that have yielded and live: each has a value of the key, whose end counts it out. A
// thread_local with a destructor would be registered by an allocation.
std::atomic<unsigned> threads{0};
pthread_key_t of_thread;
const bool has_key = pthread_key_create(&of_thread, [](void*) { threads.fetch_sub(1); }) == 0;

thread_local bool is_counted = false;
thread_local unsigned sleeps_left = 0;

void count_this_thread() {
  if (is_counted || !has_key) return;
  is_counted = pthread_setspecific(of_thread, &threads) == 0;
  if (is_counted) threads.fetch_add(1);
}

}  // namespace

extern "C" int sched_yield() noexcept {
  using clock = std::chrono::steady_clock;
  constexpr auto a_slice = std::chrono::milliseconds(1);
  constexpr unsigned sleeps_after_a_slice = 1000;  // then a yield is tried again
  constexpr unsigned most_threads = 32;
  count_this_thread();
  const bool patient = threads.load(std::memory_order_relaxed) <= most_threads;
  if (patient && sleeps_left > 0) {
    --sleeps_left;
    std::this_thread::sleep_for(std::chrono::microseconds(1));
    return 0;
  }
  const auto before = clock::now();
  syscall(SYS_sched_yield);
  if (patient && clock::now() - before >= a_slice) sleeps_left = sleeps_after_a_slice;
  return 0;
}
