// Children: what they return, and how each way to go wrong ends and is told.
#include <gtest/gtest.h>

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <thread>

#include "src/base/child_process.hpp"
#include "src/base/unique_descriptor.hpp"
#include "tests/unit/topology/build_kind.hpp"

namespace mgsync { namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

std::string sleeps() {
  std::this_thread::sleep_for(std::chrono::hours(1));
  return {};
}

// A pipe without O_CLOEXEC: its end comes once every process that inherited it is gone.
struct life {
  unique_descriptor read, write;
  life() {
    int ends[2] = {-1, -1};
    if (pipe(ends) != 0) throw std::runtime_error("no pipe");
    read = unique_descriptor(ends[0]);
    write = unique_descriptor(ends[1]);
  }
  bool is_over() {
    write = {};
    pollfd end{read.get(), POLLIN, 0};
    return poll(&end, 1, 60'000) == 1 && (end.revents & POLLHUP) != 0;
  }
};

TEST(child_process, returns_what_the_work_returns) {
  const auto end = run_child({.work = [] { return std::string(300'000, 'x'); }});
  EXPECT_EQ(end.death, "");
  EXPECT_EQ(end.out.size(), 300'000U);
}

TEST(child_process, a_crash_is_a_sentence) {
  const auto end = run_child({.work = []() -> std::string {
    std::raise(SIGSEGV);
    return {};
  }});
  EXPECT_EQ(end.death, "it crashed (Segmentation fault)");
  EXPECT_EQ(end.code, 128 + SIGSEGV);
  EXPECT_EQ(run_child({.work = []() -> std::string { throw 1; }}).death, "it ended with exit code 61");
}

TEST(child_process, a_hang_is_ended) {
  const auto end = run_child({.work = sleeps, .longest = milliseconds(1500)});
  EXPECT_TRUE(end.outlived);
  EXPECT_EQ(end.death, "it took longer than 1.5 s");
}

TEST(child_process, memory_is_bounded) {
  if (topology::test::sanitized) GTEST_SKIP() << "the sanitizer's allocator ends the process itself";
  const auto end = run_child({.work = [] { return std::string(std::size_t{1} << 30, 'x').substr(0, 1); },
                              .memory = std::size_t{64} << 20});
  EXPECT_EQ(end.death, "it asked for too much memory");
}

TEST(child_process, an_endless_answer_is_cut) {
  const auto end = run_child({.work = [] { return std::string(1'000'000, 'x'); }, .most_output = 1000});
  EXPECT_EQ(end.death, "its answer is too large");
  EXPECT_LT(end.out.size(), 200'000U);
  EXPECT_EQ(run_child({.command = {"yes"}, .most_output = 1000}).death, "its answer is too large");
}

TEST(child_process, what_outlives_its_time_is_killed_with_all_that_it_started) {
  life of_all;
  const auto end = run_child(
      {.command = {"sh", "-c", "echo before; sleep 600 & sleep 600"}, .longest = milliseconds(500)});
  EXPECT_TRUE(end.started && end.outlived);
  EXPECT_EQ(end.out, "before\n");
  EXPECT_TRUE(of_all.is_over());
}

TEST(child_process, what_a_child_leaves_behind_is_killed_when_it_ends) {
  life of_all;
  EXPECT_EQ(run_child({.command = {"sh", "-c", "sleep 600 & exit 0"}}).death, "");
  EXPECT_TRUE(of_all.is_over());
}

TEST(child_process, dies_with_its_parent) {
  life of_all;
  const auto end = run_child({.work =
                                  [] {
                                    run_child({.command = {"sleep", "600"}});
                                    return std::string();
                                  },
                              .longest = milliseconds(500)});
  EXPECT_TRUE(end.outlived);
  EXPECT_TRUE(of_all.is_over());
}

TEST(child_process, is_told_to_end_before_it_is_killed) {
  const auto end = run_child({.command = {"sh", "-c", "trap 'echo told' TERM; while :; do sleep 0.01; done"},
                              .longest = seconds(3),
                              .grace = seconds(1)});
  EXPECT_EQ(end.out, "told\n");
  EXPECT_EQ(end.code, 128 + SIGKILL);
  EXPECT_EQ(end.death, "it took longer than 3 s");
}

TEST(child_process, tells_output_code_and_what_cannot_be_started) {
  const auto end = run_child({.command = {"sh", "-c", "echo $WORD; echo wrong >&2; exit 7"},
                              .environment = {{"WORD", "given"}},
                              .longest = seconds(60)});
  EXPECT_EQ(end.code, 7);
  EXPECT_EQ(end.death, "it ended with exit code 7");
  EXPECT_EQ(end.out, "given\n");
  EXPECT_EQ(end.err, "wrong\n");
  EXPECT_FALSE(end.outlived);
  EXPECT_EQ(run_child({.command = {"sh", "-c", "kill -9 $$"}}).code, 128 + 9);
  const auto none = run_child({.command = {"/nowhere/program"}});
  EXPECT_FALSE(none.started);
  EXPECT_EQ(none.death, "/nowhere/program cannot be started: No such file or directory");
}

}}  // namespace mgsync
