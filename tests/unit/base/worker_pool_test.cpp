#include "src/base/worker_pool.hpp"

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "src/base/errors.hpp"
#include "src/base/pinning.hpp"

namespace mgsync { namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool is_sanitized = true;
#else
constexpr bool is_sanitized = false;
#endif

TEST(worker_pool, runs_the_work_once_on_every_thread_each_time) {
  worker_pool pool({-1, -1, -1});
  std::vector<std::atomic<int>> calls(3);
  for (int repeat = 0; repeat < 100; ++repeat) pool.run([&](unsigned i) { ++calls[i]; });
  for (const auto& c : calls) EXPECT_EQ(c, 100);
}

TEST(worker_pool, throws_what_the_first_thread_threw_once_all_have_returned) {
  for (const auto first : {worker_pool::first_worker::own_thread, worker_pool::first_worker::caller}) {
    worker_pool pool({-1, -1, -1}, first);
    std::atomic<int> calls = 0;
    const auto fail = [&](unsigned from) {
      pool.run([&](unsigned i) {
        ++calls;
        if (i >= from) throw std::runtime_error("thread " + std::to_string(i));
      });
    };
    for (const unsigned from : {0u, 1u, 2u}) try {
        fail(from);
        ADD_FAILURE() << "nothing was thrown";
      } catch (const std::runtime_error& error) { EXPECT_EQ(error.what(), "thread " + std::to_string(from)); }
    EXPECT_NO_THROW(fail(3)) << "what was thrown is told once";
    EXPECT_EQ(calls, 4 * 3);
  }
}

TEST(worker_pool, pins_where_it_was_told_to) {
  cpu_set_t allowed;
  ASSERT_EQ(sched_getaffinity(0, sizeof allowed, &allowed), 0);
  int cpu = 0;
  while (!CPU_ISSET(static_cast<std::size_t>(cpu), &allowed)) ++cpu;
  worker_pool pool({cpu});
  int seen = -1;
  pool.run([&](unsigned) { seen = sched_getcpu(); });
  EXPECT_EQ(seen, cpu);
}

// The address space has no room for the stacks of so many threads.
TEST(worker_pool, says_so_when_a_thread_cannot_start) {
  if (is_sanitized) GTEST_SKIP() << "a sanitizer's run time needs the address space";
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_AS, &before), 0);
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  rlimit small = before;
  small.rlim_cur = pages * static_cast<std::size_t>(getpagesize()) + (std::size_t{64} << 20);
  ASSERT_EQ(setrlimit(RLIMIT_AS, &small), 0);
  std::string said;
  try {
    const worker_pool pool(std::vector<int>(256, -1));
  } catch (const api_error& error) { said = error.what(); }
  ASSERT_EQ(setrlimit(RLIMIT_AS, &before), 0);
  EXPECT_NE(said.find("starting worker thread"), std::string::npos) << said;
  EXPECT_NE(said.find("of 256"), std::string::npos) << said;
}

TEST(worker_pool, the_caller_may_be_the_first_worker_and_keeps_its_cpus) {
  const auto before = allowed_cpus();
  ASSERT_FALSE(before.empty());
  worker_pool pool({before.back(), -1}, worker_pool::first_worker::caller);
  EXPECT_EQ(pool.size(), 2u);
  for (int repeat = 0; repeat < 3; ++repeat) {
    std::vector<std::thread::id> ran(2);
    std::vector<int> mask;
    pool.run([&](unsigned i) {
      ran[i] = std::this_thread::get_id();
      if (i == 0) mask = allowed_cpus();
    });
    EXPECT_EQ(ran[0], std::this_thread::get_id());
    EXPECT_NE(ran[1], ran[0]);
    EXPECT_EQ(mask, std::vector<int>{before.back()});
    EXPECT_EQ(allowed_cpus(), before);
  }
  EXPECT_THROW(worker_pool({100000}, worker_pool::first_worker::caller), api_error);
  EXPECT_EQ(allowed_cpus(), before);
}

TEST(worker_pool, says_so_when_a_pin_is_refused) { EXPECT_THROW(worker_pool({1000}), api_error); }

}}  // namespace mgsync
