// When a machine is too busy for a figure, decided on values; and that a run of the runner carries it.
#include "src/harness/bystanders.hpp"

#include <gtest/gtest.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <exception>
#include <thread>

namespace mgsync { namespace {

using texts = std::vector<std::string>;

texts texts_of(const seen_beside& beside) {
  texts all;
  for (const auto& one : doubts_of(beside)) all.push_back(one.text);
  return all;
}

TEST(bystanders, read_what_linux_tells_and_nothing_else) {
  EXPECT_EQ(runnable_threads("0.20 0.18 0.12 3/80 11206\n"), 3);
  EXPECT_FALSE(runnable_threads("0.00 0.00 0.00 0/0 0\n"));  // as a sandbox has it that tells nothing
  EXPECT_FALSE(runnable_threads("what is this"));
  EXPECT_FALSE(runnable_threads(""));
  const auto time = cpu_time_of("cpu  100 20 30 4000 50 6 4 40 0 0\ncpu0 1 2 3 4 5 6 7 8\n", 100);
  ASSERT_TRUE(time);
  EXPECT_DOUBLE_EQ(time->used, 1.6);  // neither idle nor waiting for a disk
  EXPECT_DOUBLE_EQ(time->stolen, 0.4);
  EXPECT_FALSE(cpu_time_of("cpu  100 20", 100));
  EXPECT_FALSE(cpu_time_of("intr 1 2 3 4 5 6 7 8", 100));
}

TEST(bystanders, nothing_is_said_of_a_quiet_machine) {
  seen_beside quiet;
  EXPECT_TRUE(doubts_of(quiet).empty());
  quiet = {.looks = 100,
           .crowded = 10,
           .runnable = 3,
           .hardware_threads = 2,
           .spent = {2.0, 0.02},
           .timed = 100,
           .switched = 10,
           .gpus = {}};
  quiet.gpus["GPU-1"] = {
      .looks = 20, .slowed = 2, .reasons = 4, .least_mhz = 1965, .most_mhz = 1980, .others = 0};
  EXPECT_EQ(texts_of(quiet), texts{});
}

TEST(bystanders, each_of_them_is_said_once_it_is_not_rare) {
  EXPECT_EQ(
      texts_of(
          {.looks = 100, .crowded = 11, .runnable = 3.5, .hardware_threads = 2, .spent = {}, .gpus = {}}),
      texts{"4 runnable threads for 2 hardware threads"});
  EXPECT_EQ(texts_of({.spent = {0.95, 0.05}, .gpus = {}}),
            texts{"5.0 % of the CPU time stolen by the hypervisor"});
  EXPECT_EQ(texts_of({.spent = {0.2, 0.02}, .gpus = {}}),
            texts{});  // two ticks of the kernel's clock are none too many
  EXPECT_EQ(texts_of({.spent = {100, 0.9}, .gpus = {}}), texts{});  // less than a hundredth
  EXPECT_EQ(texts_of({.spent = {}, .gpus = {}, .tool = "NV_SANITIZER_X"}),
            texts{"a sanitizer or profiler is attached (NV_SANITIZER_X is set)"});
  EXPECT_EQ(texts_of({.spent = {}, .timed = 50, .switched = 32, .gpus = {}}),
            texts{"members switched out in 64 % of the runs"});
  seen_beside beside;
  beside.gpus["GPU-1"] = {
      .looks = 10, .slowed = 10, .reasons = 0x4, .least_mhz = 1755, .most_mhz = 1980, .others = 2};
  beside.gpus["GPU-2"] = {
      .looks = 10, .slowed = 0, .reasons = 0, .least_mhz = 1980, .most_mhz = 1980, .others = 1};
  EXPECT_EQ(texts_of(beside), (texts{"2 other processes on a GPU", "a GPU slowed by power cap",
                                     "an SM clock of 1755 to 1980 MHz"}));
}

TEST(bystanders, on_a_gpu_are_who_is_not_of_the_job) {
  using topology::processes_besides;
  EXPECT_EQ(processes_besides({}, {10}, 1), 0U);
  EXPECT_EQ(processes_besides({10}, {10}, 1), 0U);
  EXPECT_EQ(processes_besides({10, 11, 11}, {10}, 1), 1U);
  EXPECT_EQ(processes_besides({10, 12}, {10, 12}, 2), 0U);
  // Numbered as the host does, outside of this container: nobody is accused of being two.
  EXPECT_EQ(processes_besides({4711}, {10}, 1), 0U);
  EXPECT_EQ(processes_besides({4711, 4712, 4713}, {10, 12}, 2), 1U);
}

TEST(bystanders, the_server_of_mps_is_known_by_its_name) {
  EXPECT_FALSE(topology::is_mps_server(static_cast<unsigned>(getpid())));
  EXPECT_FALSE(topology::is_mps_server(0));  // no process
  // A thread has an entry of its own there, with a name of its own.
  std::thread([] {
    pthread_setname_np(pthread_self(), "nvidia-cuda-mps");
    EXPECT_TRUE(topology::is_mps_server(static_cast<unsigned>(gettid())));
  }).join();
}

TEST(bystanders, count_the_threads_that_a_point_has_here) {
  auto job = communicator::single(std::chrono::seconds(5));
  const bystanders beside(job, {});
  point p;
  p.members = 4;
  EXPECT_EQ(beside.threads_here(p), 4);
  p.set(axes::blocks_per_sm, 3.0);
  EXPECT_EQ(beside.threads_here(p), 12);
  p.device = topology::device::gpu;  // a host thread for each
  EXPECT_EQ(beside.threads_here(p), 4);
}

TEST(
    bystanders,
    a_machine_with_more_hardware_threads_than_anybody_runs_on_is_not_crowded_and_one_with_fewer_by_others_only) {
  auto job = communicator::single(std::chrono::seconds(5));
  const bystanders beside(job, {{0, "GPU-of-no-machine"}});
  seen_beside seen;
  beside.look(seen, -1000000);
  EXPECT_LE(seen.looks, 1U);
  EXPECT_EQ(seen.crowded, 0U);
  std::map<std::string, gpu_beside> gpus;
  point on_host;
  on_host.group = {0};
  bystanders looking(job, {{0, "GPU-of-no-machine"}});
  looking.look_at_gpus(gpus, on_host);
  on_host.device = topology::device::gpu;
  looking.look_at_gpus(gpus, on_host);  // no NVML here, or no such GPU: nothing is said
  EXPECT_TRUE(gpus.empty());
}

// A thread that ends between the opening of its file and the reading is none that runs, and no failure.
TEST(bystanders, are_counted_while_threads_of_this_process_come_and_go) {
  auto job = communicator::single(std::chrono::seconds(5));
  const bystanders beside(job, {});
  std::atomic<bool> enough = false;
  std::vector<std::thread> sources;
  for (int i = 0; i < 2; ++i)
    sources.emplace_back([&enough] {
      while (!enough) std::thread([] {}).join();
    });
  seen_beside seen;
  std::string failure;
  try {
    for (const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(2);
         std::chrono::steady_clock::now() < until;)
      beside.look(seen, 1000000);
  } catch (const std::exception& error) { failure = error.what(); }
  enough = true;
  for (auto& source : sources) source.join();
  EXPECT_EQ(failure, "");
}

TEST(bystanders, see_the_clock_of_every_gpu_of_this_machine) {
  const auto states = topology::gpu_states();
  if (states.empty()) GTEST_SKIP() << "NVML and a GPU are needed";
  std::map<int, std::string> uuids;
  point p;
  p.device = topology::device::gpu;
  for (const auto& [uuid, state] : states) {
    p.group.push_back(static_cast<int>(uuids.size()));
    uuids[p.group.back()] = uuid;
  }
  auto job = communicator::single(std::chrono::seconds(5));
  bystanders beside(job, uuids);
  std::map<std::string, gpu_beside> seen;
  for (int look = 0; look < 3; ++look) beside.look_at_gpus(seen, p);
  EXPECT_EQ(seen.size(), states.size());
  for (const auto& [uuid, gpu] : seen) {
    EXPECT_EQ(gpu.looks, 3U) << uuid;
    EXPECT_GT(gpu.least_mhz, 0U) << uuid;
    EXPECT_LE(gpu.least_mhz, gpu.most_mhz) << uuid;
  }
}

}}  // namespace mgsync
