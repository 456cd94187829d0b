// Files that are offered as barriers: each way in which one can be wrong is told in a sentence.
#include "barriers/user/barrier_file.hpp"

#include <sched.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <string>
#include <thread>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "barriers/parts/round_loop/device_run.hpp"
#include "barriers/user/host_trial.hpp"
#include "src/base/errors.hpp"
#include "src/base/pinning.hpp"
#include "src/base/thread_times.hpp"

namespace {

using namespace mgsync;
using check::barrier_table;
using check::file_table;

std::string refused(const std::string& path) {
  try {
    user::barrier_file::open(path);
  } catch (const usage_error& error) { return error.what(); }
  return "not refused";
}

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

struct example {
  static constexpr const char* name = "example";
  static constexpr std::size_t bytes = 128;
  check::position at;
  void arrive_and_wait() {}
};

file_table good() { return *check::inside::file_of<check::inside::host_table, 0, example>(); }

TEST(barrier_file, of_users_is_opened_and_says_what_it_holds) {
  const auto file = user::barrier_file::open(MGSYNC_SOUND);
  EXPECT_EQ(file->barriers().size(), 12u);
  const auto& pads = file->barrier("signal-pads");
  EXPECT_EQ(pads.on_gpu, 0u);
  EXPECT_EQ(pads.exchanges, 0u);
  EXPECT_EQ(pads.ends_itself, 1u);
  EXPECT_EQ(file->barrier("pairs").exchanges, 1u);
  EXPECT_EQ(file->barrier("two-slots").orders, check::extent::equal_blocks);
  EXPECT_EQ(file->barrier("flags-of-each-stream").streams, 2u);
}

TEST(barrier_file, that_lacks_a_barrier_says_which_it_has) {
  const auto file = user::barrier_file::open(MGSYNC_SOUND);
  try {
    file->barrier("signal-pad");
    FAIL() << "not refused";
  } catch (const usage_error& error) {
    EXPECT_TRUE(holds(error.what(), "no barrier 'signal-pad'; it has: central-counter, ")) << error.what();
  }
}

TEST(barrier_file, that_is_none_is_refused_with_what_to_do) {
  EXPECT_TRUE(holds(refused("/no/such/file.so"), "there is no such file")) << refused("/no/such/file.so");
  const auto text = testing::TempDir() + "text.so";
  std::ofstream(text) << "no machine code\n";
  EXPECT_TRUE(holds(refused(text), "no shared object that can be loaded here (")) << refused(text);
  EXPECT_TRUE(holds(refused(text), "g++ -shared -fPIC")) << refused(text);
  EXPECT_TRUE(
      holds(refused(MGSYNC_NOT_OF_MGSYNC), "it holds no barrier: its source ends with MGSYNC_CHECK_BARRIER"))
      << refused(MGSYNC_NOT_OF_MGSYNC);
}

TEST(barrier_file, of_other_headers_is_refused) {
  EXPECT_EQ(user::what_is_wrong(nullptr), "its mgsync_check_file() is not that of MGSYNC_CHECK_BARRIER");
  auto of = good();
  EXPECT_EQ(user::what_is_wrong(&of), "");
  of.magic += 1;
  EXPECT_TRUE(holds(user::what_is_wrong(&of), "is not that of"));
  of = good();
  of.interface = 7;
  EXPECT_TRUE(holds(user::what_is_wrong(&of), "headers of interface 7, and this mgsync"))
      << user::what_is_wrong(&of);
  for (unsigned i = 0; i < file_table::sizes_told; ++i) {
    of = good();
    of.sizes[i] += 8;
    EXPECT_TRUE(holds(user::what_is_wrong(&of), "that are not this program's: compile it")) << i;
  }
}

TEST(barrier_file, with_a_table_that_makes_no_sense_is_refused) {
  auto of = good();
  of.count = 0;
  EXPECT_EQ(user::what_is_wrong(&of), "it holds no barrier");
  const barrier_table* twice[] = {of.barriers[0], of.barriers[0]};
  of.count = 2;
  of.barriers = twice;
  EXPECT_EQ(user::what_is_wrong(&of), "it has two barriers named 'example'");
  barrier_table changed = *good().barriers[0];
  const barrier_table* one[] = {&changed};
  of.count = 1;
  of.barriers = one;
  changed.name = "My Barrier";
  EXPECT_TRUE(holds(user::what_is_wrong(&of), "named 'My Barrier'; accepted: lower-case"));
  changed.name = "example";
  changed.run = nullptr;
  EXPECT_EQ(user::what_is_wrong(&of), "its table of 'example' lacks a function");
}

// A trial of a barrier in this program: what goes wrong in it costs the trial alone.
user::scenario of_two() {
  user::scenario s;
  s.name = "of-two";
  s.blocks = {1, 1};
  s.patience = std::chrono::milliseconds(300);
  return s;
}
template <class Barrier>
user::tried tried_with(const user::scenario& s) {
  return user::try_on_host(*check::inside::host_table<Barrier>::get(), s);
}

struct deaf : example {
  void arrive_and_wait() {
    for (volatile bool for_ever = true; for_ever;) {}
  }
};
struct crashing : example {
  void arrive_and_wait() { *static_cast<volatile int*>(nullptr) = 1; }
};
struct leaving : example {
  void arrive_and_wait() { _exit(5); }
};
struct leaving_quietly : example {
  void arrive_and_wait() { _exit(0); }
};
struct writing_ahead : example {
  void arrive_and_wait() { at.part<volatile char>(1)[-1] = 7; }
};

TEST(trial, that_never_ends_is_ended_and_says_who_is_where) {
  const auto seen = tried_with<deaf>(of_two());
  EXPECT_EQ(seen.how, user::ending::stuck);
  EXPECT_EQ(seen.sentence, "nobody goes on: all 2 workers in round 1");
}
// Counts from what its launch was told, in memory that begins as zeros.
struct from_zero {
  static constexpr const char* name = "from-zero";
  static constexpr std::size_t bytes = 128;
  explicit from_zero(const check::position& where) : at(where) {}
  bool arrive_and_wait() {
    auto* const count = at.part<std::uint32_t>(0);
    __atomic_fetch_add(count, 1, __ATOMIC_ACQ_REL);
    at.epoch += 1;
    while (__atomic_load_n(count, __ATOMIC_ACQUIRE) < at.epoch * at.workers)
      if (!at.go_on()) return false;
    return true;
  }
  check::position at;
};
// Member 0 runs where another thread has the CPU for itself, nearly.
struct starved : from_zero {
  explicit starved(const check::position& where) : from_zero(where) {
    if (at.member != 0) return;
    pin_calling_thread(allowed_cpus().front());
    const sched_param none{};
    sched_setscheduler(0, SCHED_IDLE, &none);
  }
};
TEST(trial, whose_threads_get_no_cpu_is_not_stuck) {
  if (thread_times(getpid()).empty()) GTEST_SKIP() << "/proc says nothing of threads here";
  std::atomic<bool> ends = false;
  std::thread busy([&] {
    pin_calling_thread(allowed_cpus().front());
    while (!ends) {}
  });
  auto s = of_two();
  s.rounds = 4;
  s.patience = std::chrono::milliseconds(20);
  const auto seen = tried_with<starved>(s);
  ends = true;
  busy.join();
  EXPECT_EQ(seen.how, user::ending::passed) << seen.sentence;
}
TEST(trial, that_crashes_or_leaves_says_how) {
  auto s = of_two();
  s.patience = std::chrono::seconds(60);
  auto seen = tried_with<crashing>(s);
  EXPECT_EQ(seen.how, user::ending::crashed) << seen.sentence;
#if !defined(__SANITIZE_ADDRESS__)
  EXPECT_EQ(seen.sentence, "crashed by signal 11 (Segmentation fault)");
#endif
  seen = tried_with<leaving>(s);
  EXPECT_EQ(seen.how, user::ending::crashed);
  EXPECT_EQ(seen.sentence, "left the process with exit code 5");
  seen = tried_with<leaving_quietly>(s);
  EXPECT_EQ(seen.how, user::ending::crashed);
  EXPECT_EQ(seen.sentence, "left the process with exit code 0");
}
TEST(trial, that_writes_ahead_of_its_memory_says_whose) {
  auto s = of_two();
  s.rounds = 1;
  s.launches = 1;
  s.patience = std::chrono::seconds(60);
  const auto seen = tried_with<writing_ahead>(s);
  // It is no barrier either, and whichever shows first is told.
  EXPECT_TRUE(seen.how == user::ending::overran || seen.how == user::ending::violated);
  if (seen.how == user::ending::overran) {
    EXPECT_EQ(seen.sentence, "wrote beside the 128 bytes of member 1's memory");
  }
}
TEST(trial, without_a_start_begins_at_zero_and_crosses_no_wrap) {
  auto s = of_two();
  s.epoch = 0xffffff00u;
  s.patience = std::chrono::seconds(60);
  const auto seen = tried_with<from_zero>(s);
  EXPECT_EQ(seen.how, user::ending::passed) << seen.sentence;
  s.crosses_its_own = true;
  EXPECT_EQ(tried_with<from_zero>(s).how, user::ending::refused);
}

// As on a machine whose CPUs are busy: a round takes 5 ms and more.
struct slow : from_zero {
  using from_zero::from_zero;
  bool arrive_and_wait() {
    if (at.member == 1) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    return from_zero::arrive_and_wait();
  }
};
struct slow_from_a_start : slow {
  using slow::slow;
  static void start(void* part, unsigned, const check::shape& of) {
    *static_cast<std::uint32_t*>(part) = of.epoch * of.workers;
  }
};
user::scenario of_a_hundred_launches() {
  auto s = of_two();
  s.rounds = 4;
  s.launches = 100;
  s.patience = std::chrono::seconds(60);
  s.enough = std::chrono::milliseconds(100);
  return s;
}
TEST(trial, that_has_had_enough_is_judged_by_its_rounds_so_far) {
  auto s = of_a_hundred_launches();
  auto seen = tried_with<slow>(s);
  EXPECT_EQ(seen.how, user::ending::passed) << seen.sentence;
  EXPECT_GE(seen.rounds, 4u);
  EXPECT_LT(seen.rounds, 100u);
  EXPECT_EQ(seen.sentence,
            fmt::format("{} of 400 rounds in 0.1 s: the machine is busy, or the barrier slow", seen.rounds));
  s.enough = std::chrono::minutes(10);
  s.launches = 3;
  seen = tried_with<slow>(s);
  EXPECT_EQ(seen.rounds, 12u);
  EXPECT_EQ(seen.sentence, "");
}
TEST(trial, that_has_had_enough_before_its_counters_cross_is_waived) {
  auto s = of_a_hundred_launches();
  s.crosses_its_own = true;
  s.epoch = 0xffff - 200;
  const auto seen = tried_with<slow_from_a_start>(s);
  EXPECT_EQ(seen.how, user::ending::waived);
  EXPECT_TRUE(holds(seen.sentence, "the barrier slow, and its counters did not come so far"))
      << seen.sentence;
}
// A second object counts on from what the first left there, and lets everybody go.
struct started_once : slow {
  using slow::slow;
  static void start(void* part, unsigned, const check::shape&) {
    auto* const words = static_cast<std::uint32_t*>(part);
    if (words[1] != 1) words[0] = 0;
    words[1] = 1;
  }
};
TEST(trial, that_has_little_time_comes_to_its_second_object) {
  auto s = of_a_hundred_launches();
  s.second_object = 60;
  s.enough = std::chrono::seconds(1);
  const auto seen = tried_with<started_once>(s);
  EXPECT_EQ(seen.how, user::ending::violated);
  EXPECT_GT(seen.rounds, 4u) << seen.sentence;
}

TEST(trial, of_a_refused_shape_runs_nothing) {
  auto s = of_two();
  s.blocks = {1, 2};
  EXPECT_EQ(tried_with<deaf>(s).how, user::ending::refused);
  s = of_two();
  s.streams = 2;
  EXPECT_EQ(tried_with<deaf>(s).how, user::ending::refused);
}
TEST(trial, without_a_seen_control_means_nothing) {
  struct alone : example {};
  auto s = of_two();
  s.blocks = {1};
  s.fault = round_loop::host_run::arrive_early;
  const auto seen = tried_with<alone>(s);
  EXPECT_EQ(seen.how, user::ending::violated);
  EXPECT_TRUE(holds(seen.sentence, "came early on purpose, and nobody saw it")) << seen.sentence;
}

}  // namespace
