#include "src/base/watchdog.hpp"

#include <atomic>
#include <csignal>
#include <cstdio>
#include <chrono>
#include <thread>

#include <gtest/gtest.h>

namespace mgsync {
namespace {

using namespace std::chrono_literals;

TEST(watchdog, names_who_is_behind) {
  EXPECT_EQ(who_is_late({{"member 0", 7}, {"member 1", 6}, {"member 2", 7}}),
            "did not arrive at round 7: member 1 (arrived at round 6)");
  EXPECT_EQ(who_is_late({{"member 0", 7}, {"member 1", 7}}), "all members arrived at round 7 and none was released");
  EXPECT_EQ(who_is_late({}), "no member's progress is visible from here");
}

TEST(watchdog, does_not_list_hundreds_of_late_members) {
  std::vector<progress> seen(100, progress{"member", 3});
  seen.front().arrived = 4;
  EXPECT_NE(who_is_late(seen).find("and 91 more"), std::string::npos);
}

TEST(watchdog, lets_progress_go_on) {
  std::atomic<bool> reported = false;
  watchdog dog([&](const std::string&) { reported = true; }, [](const std::string&) {});
  std::atomic<std::uint64_t> round = 0;
  const watchdog::guard watched(dog, "a run", 1s, [&] { return std::vector<progress>{{"member 0", round}}; });
  for (int i = 0; i < 12; ++i) {  // in all longer than the patience
    std::this_thread::sleep_for(100ms);
    ++round;
  }
  EXPECT_FALSE(reported);
}

TEST(watchdog_death, ends_the_process_with_exit_code_3_and_the_name) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        watchdog dog([](const std::string& text) { std::fprintf(stderr, "%s\n", text.c_str()); },
                     [](const std::string&) { std::fputs("saved\n", stderr); });
        const watchdog::guard watched(dog, "openmp on 2 members", 100ms, [] {
          return std::vector<progress>{{"member 0", 5}, {"member 1", 4}};
        });
        std::this_thread::sleep_for(100s);
      },
      testing::ExitedWithCode(3), "stuck: openmp on 2 members made no progress(.|\n)*member 1 \\(arrived at round 4\\)(.|\n)*saved");
}

TEST(watchdog_death, ends_the_process_a_second_after_a_signal_that_nobody_follows) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        take_note_of_signals();
        watchdog dog([](const std::string&) {}, [](const std::string&) {});
        const watchdog::guard watched(dog, "a run", 60s);
        std::raise(SIGTERM);
        std::this_thread::sleep_for(100s);
      },
      testing::ExitedWithCode(128 + 15), "");
}

}  // namespace
}  // namespace mgsync
