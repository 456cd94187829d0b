#include "src/base/watchdog.hpp"

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include <gtest/gtest.h>

namespace mgsync { namespace {

using namespace std::chrono_literals;

TEST(watchdog, names_who_is_behind) {
  EXPECT_EQ(who_is_late({{"member 0", 7}, {"member 1", 6}, {"member 2", 7}}),
            "did not arrive at round 7: member 1 (arrived at round 6)");
  EXPECT_EQ(who_is_late({{"member 0", 7}, {"member 1", 7}}),
            "all members arrived at round 7 and none was released");
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
      testing::ExitedWithCode(3),
      "stuck: openmp on 2 members made no progress(.|\n)*member 1 \\(arrived at round 4\\)(.|\n)*saved");
}

TEST(watchdog_death, ends_the_process_a_second_after_a_signal_that_nobody_follows) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        take_note_of_signals();
        watchdog dog([](const std::string&) {}, [](const std::string&) {});
        const watchdog::guard watched(dog, "a run", 60s);
        std::raise(SIGTERM);
        std::this_thread::sleep_for(20s);
      },
      testing::ExitedWithCode(128 + 15), "");
}

TEST(watchdog, the_time_of_an_inner_guard_is_not_the_outer_ones) {
  std::atomic<bool> reported = false;
  watchdog dog([&](const std::string&) { reported = true; },
               [](const std::string&) { std::this_thread::sleep_for(100s); });
  const watchdog::guard outer(dog, "a point", 4s);
  {
    const watchdog::guard inner(dog, "its run", 60s);
    std::this_thread::sleep_for(4500ms);
  }
  std::this_thread::sleep_for(200ms);
  EXPECT_FALSE(reported);
}

TEST(watchdog_death, ends_with_exit_code_1_what_goes_on_for_too_long) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        watchdog dog([](const std::string& text) { std::fprintf(stderr, "%s\n", text.c_str()); },
                     [](const std::string&) {});
        std::atomic<std::uint64_t> round = 0;
        const watchdog::guard watched(
            dog, "a run", 60s,
            [&] {
              return std::vector<progress>{{"member 0", ++round}};
            },
            {}, 300ms);
        std::this_thread::sleep_for(20s);
      },
      testing::ExitedWithCode(1), "overdue: a run was not through after .* although it went on");
}

// What it is told of goes on meanwhile, and is asked once.
TEST(watchdog_death, tells_of_every_signal_that_asks_a_command_to_end) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGXCPU, SIGXFSZ, SIGUSR1, SIGUSR2})
    EXPECT_EXIT(
        {
          std::atomic<int> told = 0;
          std::signal(SIGHUP, SIG_DFL);  // whoever started the tests may have ignored it, as nohup does
          take_note_of_signals();
          watchdog dog([](const std::string&) {}, [](const std::string&) {}, [&told] { return ++told > 1; });
          std::raise(number);
          for (int i = 0; i < 1000 && told < 2; ++i) std::this_thread::sleep_for(10ms);
          std::this_thread::sleep_for(150ms);
          std::fprintf(stderr, "%s", signal_in_words().c_str());
          std::_Exit(told == 2 ? 100 + number : 99);
        },
        testing::ExitedWithCode(100 + number), "signal [0-9]+ \\(");
}

TEST(watchdog_death, a_second_signal_ends_at_once_and_one_that_came_twice_does_not) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        take_note_of_signals();
        std::raise(SIGINT);
        std::raise(SIGINT);
        std::fputs("still there", stderr);
        std::this_thread::sleep_for(1100ms);
        std::raise(SIGINT);
        std::_Exit(9);
      },
      testing::ExitedWithCode(128 + 2), "still there");
}

TEST(watchdog_death, a_crash_is_told_of_and_stays_one) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        take_note_of_crashes();
        watchdog dog([](const std::string&) {}, [](const std::string&) {},
                     [] {
                       std::fprintf(stderr, "saved before %s", signal_in_words().c_str());
                       return true;
                     });
        std::this_thread::sleep_for(100ms);
        std::raise(SIGABRT);  // a sanitizer has an end of its own for SIGSEGV; endings_test.sh has that one
      },
      testing::KilledBySignal(SIGABRT), "saved before signal 6");
}

}}  // namespace mgsync
