#include "src/base/worker_pool.hpp"

#include <sched.h>

#include <atomic>
#include <vector>

#include <gtest/gtest.h>

#include "src/base/errors.hpp"

namespace mgsync {
namespace {

TEST(worker_pool, runs_the_work_once_on_every_thread_each_time) {
  worker_pool pool({-1, -1, -1});
  std::vector<std::atomic<int>> calls(3);
  for (int repeat = 0; repeat < 100; ++repeat) pool.run([&](unsigned i) { ++calls[i]; });
  for (const auto& c : calls) EXPECT_EQ(c, 100);
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

TEST(worker_pool, says_so_when_a_pin_is_refused) { EXPECT_THROW(worker_pool({1000}), api_error); }

}  // namespace
}  // namespace mgsync
