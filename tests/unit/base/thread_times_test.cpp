#include "src/base/thread_times.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include <gtest/gtest.h>

namespace mgsync { namespace {

using namespace std::chrono_literals;

TEST(thread_times, tell_a_thread_that_runs_from_one_that_sleeps) {
  std::atomic<bool> ends = false;
  std::atomic<int> spins = 0, sleeps = 0;
  const auto own_id = [] { return static_cast<int>(syscall(SYS_gettid)); };
  std::thread spinning([&] {
    for (spins = own_id(); !ends;) {}
  });
  std::thread sleeping([&] {
    sleeps = own_id();
    ends.wait(false);
  });
  while (spins == 0 || sleeps == 0) std::this_thread::yield();
  std::this_thread::sleep_for(20ms);
  const auto before = thread_times(getpid());
  auto now = before;
  while (now.contains(spins) && now.at(spins).on_cpu < before.at(spins).on_cpu + 5ms)
    now = thread_times(getpid());
  ends = true;
  ends.notify_all();
  spinning.join();
  sleeping.join();
  if (before.empty()) GTEST_SKIP() << "/proc says nothing of threads here";
  EXPECT_TRUE(now.at(spins).runnable);
  EXPECT_FALSE(now.at(sleeps).runnable);
  EXPECT_EQ(now.at(sleeps).on_cpu, before.at(sleeps).on_cpu);
  EXPECT_TRUE(thread_times(0x7ffffff0).empty());
}

TEST(thread_times, of_a_thread_that_waits_for_a_cpu_do_not_grow) {
  const std::map<int, thread_time> before{{1, {true, 10ms}}, {2, {false, 10ms}}};
  EXPECT_TRUE(some_wait_for_a_cpu(before, before, 5ms));
  EXPECT_TRUE(some_wait_for_a_cpu(before, {{1, {true, 14ms}}}, 5ms));
  EXPECT_FALSE(some_wait_for_a_cpu(before, {{1, {true, 15ms}}}, 5ms));
  EXPECT_FALSE(some_wait_for_a_cpu(before, {{1, {false, 10ms}}, {2, {false, 10ms}}}, 5ms));
  EXPECT_TRUE(some_wait_for_a_cpu(before, {{3, {true, 20ms}}}, 5ms)) << "a thread that began since";
  EXPECT_FALSE(some_wait_for_a_cpu(before, {}, 5ms));
}

TEST(thread_times, read_the_state_behind_the_name) {
  EXPECT_TRUE(tells_runnable("7 (mgsync) R 1 7"));
  EXPECT_FALSE(tells_runnable("7 (mgsync) S 1 7"));
  EXPECT_FALSE(tells_runnable("7 (a) R b) S 1 7"));
  EXPECT_FALSE(tells_runnable("7 (mgsync) "));
  EXPECT_FALSE(tells_runnable(""));
}

}}  // namespace mgsync
