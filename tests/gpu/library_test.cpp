// The library as its users meet it: on 1, 2 and 4 GPUs, over launches, shapes and failures, in C++ and in C.
#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <mgsync/multi_grid.h>
#include <mgsync/multi_grid.hpp>

#include "tests/gpu/library_groups.hpp"
#include "tests/gpu/needs_gpus.hpp"

namespace mgsync::test { namespace {

using namespace std::chrono_literals;

class library : public testing::TestWithParam<int> {};

// Enough rounds for the epochs to wrap (after 512), over several launches.
TEST_P(library,
       is_a_barrier_at_every_shape_whole_split_mixed_behind_less_with_values_and_with_unlike_orders) {
  MGSYNC_NEEDS_GPUS(GetParam());
  multi_grid grids(first_gpus(GetParam()));
  for (const way how : {way::whole, way::split, way::mixed, way::less, way::looks, way::carries, way::unlike})
    for (const auto& [per_sm, threads] :
         {std::pair{0u, 32u}, {1u, 32u}, {1u, 1024u}, {4u, 256u}, {8u, 256u}, {32u, 64u}})
      expect_sound(grids, per_sm == 0 ? 1 : per_sm * sms(), threads, how, 3, 200);
}

// One warp or two of each block meet while the others work.
TEST_P(library, is_a_barrier_of_some_warps_of_each_block) {
  MGSYNC_NEEDS_GPUS(GetParam());
  multi_grid grids(first_gpus(GetParam()));
  for (const way how : {way::one_warp, way::some_warps})
    for (const unsigned blocks : {1u, sms(), 8 * sms()}) {
      constexpr unsigned rounds = 300;
      board_of board(grids, blocks);
      found_by found(grids.gpus());
      for (unsigned i = 0; i < 2; ++i)
        grids.launch_each(check_rounds_kernel(how), blocks, 96, 0, {}, [&](unsigned local) {
          return std::tuple(board.slots(), 1 + i * rounds, rounds, how, found.of(local));
        });
      grids.wait();
      EXPECT_EQ(found.wrong(), 0u) << grids.algorithm();
      for (unsigned g = 0; g < grids.gpus(); ++g) EXPECT_EQ(found.of(g)->passed, 2 * rounds * blocks);
    }
}

TEST_P(library, takes_blocks_and_grids_of_any_dimensions) {
  MGSYNC_NEEDS_GPUS(GetParam());
  multi_grid grids(first_gpus(GetParam()));
  expect_sound(grids, dim3(4, 3, 2), dim3(16, 4, 2), way::mixed, 2, 100);
  expect_sound(grids, dim3(1, 1, 5), dim3(8, 4), way::whole, 2, 100);
  expect_sound(grids, dim3(7), dim3(75), way::whole, 2, 100);
  expect_sound(grids, dim3(4, 3, 2), dim3(16, 4, 2), way::carries, 2, 100);
  expect_sound(grids, dim3(1, 1, 5), dim3(8, 4), way::carries, 2, 100);
  expect_sound(grids, dim3(7), dim3(75), way::carries, 2, 100);
  expect_sound(grids, dim3(70), dim3(33), way::carries, 2, 100);
}

TEST_P(library, launches_on_different_streams_follow_one_another) {
  MGSYNC_NEEDS_GPUS(GetParam());
  multi_grid grids(first_gpus(GetParam()));
  std::vector<cudaStream_t> streams;
  for (int g = 0; g < GetParam(); ++g) {
    streams.emplace_back();
    ASSERT_EQ(cudaSetDevice(g), cudaSuccess);
    ASSERT_EQ(cudaStreamCreateWithFlags(&streams.back(), cudaStreamNonBlocking), cudaSuccess);
  }
  board_of board(grids, sms());
  found_by found(grids.gpus());
  for (unsigned i = 0; i < 20; ++i)
    grids.launch_each(check_rounds_kernel(), sms(), 64, 0, i % 2 == 0 ? streams : std::vector<cudaStream_t>{},
                      [&](unsigned local) {
                        return std::tuple(board.slots(), 1 + i * 10, 10u, way::whole, found.of(local));
                      });
  grids.wait();
  EXPECT_EQ(found.wrong(), 0u);
  for (const auto s : streams) EXPECT_EQ(cudaStreamDestroy(s), cudaSuccess);
}

// In every thread that handle is another stream.
TEST_P(library, launches_of_several_threads_on_their_own_default_streams_follow_one_another) {
  MGSYNC_NEEDS_GPUS(GetParam());
  multi_grid grids(first_gpus(GetParam()));
  const std::vector<cudaStream_t> streams(static_cast<std::size_t>(GetParam()), cudaStreamPerThread);
  board_of board(grids, 8);
  found_by found(grids.gpus());
  constexpr unsigned rounds = 20'000;
  for (unsigned i = 0; i < 10; ++i)
    std::thread([&] {
      grids.launch_each(check_rounds_kernel(), 8, 64, 0, streams, [&](unsigned local) {
        return std::tuple(board.slots(), 1 + i * rounds, rounds, way::whole, found.of(local));
      });
    }).join();
  grids.wait();
  EXPECT_EQ(found.wrong(), 0u);
  for (unsigned g = 0; g < grids.gpus(); ++g) EXPECT_EQ(found.of(g)->ranks, 10u * 8 * 64);
}

// A wait is bounded, not the kernel's whole run: one that goes on for longer than the time-out is none too
// late.
TEST_P(library, a_kernel_may_run_for_longer_than_the_timeout) {
  MGSYNC_NEEDS_GPUS(GetParam());
  multi_grid grids(first_gpus(GetParam()), 50ms);
  expect_sound(grids, sms(), 64, way::whole, 1, 200'000);
}

TEST_P(library, kernels_launched_by_the_user_take_the_handle) {
  MGSYNC_NEEDS_GPUS(GetParam());
  multi_grid grids(first_gpus(GetParam()));
  EXPECT_THROW(grids.handle_for(8), usage_error);
  grids.resize(8);
  board_of board(grids, 8);
  found_by found(grids.gpus());
  for (unsigned g = 0; g < grids.gpus(); ++g) {
    ASSERT_EQ(cudaSetDevice(grids.ordinal(g)), cudaSuccess);
    multi_grid_handle handle = grids.handle_for(8, g);
    mgsync::test::board slots = board.slots();
    unsigned first = 1, rounds = 100;
    way how = way::whole;
    findings* into = found.of(g);
    void* arguments[] = {&handle, &slots, &first, &rounds, &how, &into};
    ASSERT_EQ(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(check_rounds_kernel()), dim3(8),
                                          dim3(64), arguments, 0, nullptr),
              cudaSuccess);
  }
  grids.resize(16);  // waits for nobody
  for (unsigned g = 0; g < grids.gpus(); ++g) {
    ASSERT_EQ(cudaSetDevice(grids.ordinal(g)), cudaSuccess);
    ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  }
  grids.check();
  EXPECT_EQ(found.wrong(), 0u);
}

void launch_by_hand(const multi_grid_handle& handle, board slots, unsigned blocks, findings* into) {
  ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
  multi_grid_handle given = handle;
  unsigned first = 1, rounds = 100;
  way how = way::whole;
  void* arguments[] = {&given, &slots, &first, &rounds, &how, &into};
  ASSERT_EQ(cudaLaunchKernel(reinterpret_cast<const void*>(check_rounds_kernel()), dim3(blocks), dim3(64),
                             arguments, 0, nullptr),
            cudaSuccess);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
}

template <class F>
std::string usage_message(F f) {
  try {
    f();
  } catch (const usage_error& e) { return e.what(); } catch (const std::exception& e) {
    return std::string("not a usage_error: ") + e.what();
  }
  return "nothing thrown";
}

// A grid that the handle was not made for is no member: nothing hangs, and check() says so.
TEST_P(library, a_handle_of_another_grid_is_an_error) {
  MGSYNC_NEEDS_GPUS(GetParam());
  multi_grid grids(first_gpus(GetParam()));
  grids.resize(8);
  board_of board(grids, 11);  // a kernel that runs without the barrier still publishes its round, once
  for (const unsigned blocks : {4u, 11u}) {
    found_by found(grids.gpus());
    launch_by_hand(grids.handle_for(8, 0), board.slots(), blocks, found.of(0));
    EXPECT_EQ(found.of(0)->given_up, blocks);
    EXPECT_EQ(found.of(0)->ranks, 0u);
    EXPECT_NE(usage_message([&] {
                grids.check();
              }).find("its grid has " + std::to_string(blocks) + " blocks, and its handle is for 8"),
              std::string::npos)
        << usage_message([&] { grids.check(); });
    grids.reset();
    grids.check();
  }
  expect_sound(grids, 8, 64, way::whole, 2, 100);
}

// As a kernel is passed it that was compiled with the header of another version.
TEST_P(library, a_handle_of_another_version_passes_no_barrier) {
  MGSYNC_NEEDS_GPUS(GetParam());
  multi_grid grids(first_gpus(GetParam()));
  grids.resize(8);
  board_of board(grids, 8);
  found_by found(grids.gpus());
  for (const bool none : {false, true}) {
    multi_grid_handle handle;
    if (!none) handle = grids.handle_for(8, 0);
    ++handle.version;
    *found.of(0) = {};
    launch_by_hand(handle, board.slots(), 8, found.of(0));
    EXPECT_EQ(found.of(0)->given_up, 8u);
    EXPECT_EQ(found.of(0)->ranks, 0u);
    if (none) {
      grids.check();  // there is nobody that such a kernel could tell
    } else {
      EXPECT_NE(
          usage_message([&] { grids.wait(); }).find("ran without the barrier: it was compiled with headers"),
          std::string::npos);
      grids.reset();
    }
  }
  expect_sound(grids, 8, 64, way::whole, 1, 100);
}

TEST_P(library, a_handle_from_before_a_reset_is_an_error) {
  MGSYNC_NEEDS_GPUS(GetParam());
  multi_grid grids(first_gpus(GetParam()));
  grids.resize(8);
  board_of board(grids, 8);
  found_by found(grids.gpus());
  const multi_grid_handle before = grids.handle_for(8, 0);
  grids.reset();
  launch_by_hand(before, board.slots(), 8, found.of(0));
  EXPECT_EQ(found.of(0)->given_up, 8u);
  EXPECT_NE(usage_message([&] { grids.wait(); }).find("its handle is from before a reset()"),
            std::string::npos);
  grids.reset();
  expect_sound(grids, 8, 64, way::whole, 2, 100);
}

// A group that is made while the kernel has one joins nothing, and is told; one that is made behind it does.
TEST_P(library, two_groups_of_one_kernel_at_once_are_an_error) {
  MGSYNC_NEEDS_GPUS(GetParam());
  multi_grid grids(first_gpus(GetParam()), 500ms);
  constexpr unsigned rounds = 20;
  for (const auto& [blocks, threads] :
       {std::pair{1u, 64u}, {sms(), 32u}, {sms(), 1024u}, {4 * sms(), 75u}, {16 * sms(), 64u}}) {
    const auto nest = [&](bool within, found_by& found) {
      grids.launch_each(nested_kernel(), blocks, threads, 0, {},
                        [&](unsigned local) { return std::tuple(within, rounds, found.of(local)); });
    };
    found_by behind(grids.gpus()), within(grids.gpus());
    nest(false, behind);
    grids.wait();
    nest(true, within);
    const auto why = usage_message([&] { grids.wait(); });
    EXPECT_NE(why.find("a group was made while another was in use on the same blocks"), std::string::npos)
        << why;
    for (unsigned g = 0; g < grids.gpus(); ++g) {
      EXPECT_EQ(behind.of(g)->wrong, 0u) << blocks << "x" << threads;
      EXPECT_EQ(behind.of(g)->given_up, 0u);
      EXPECT_EQ(behind.of(g)->passed, blocks * rounds);
      EXPECT_EQ(within.of(g)->wrong, 0u)
          << blocks << "x" << threads << ": all threads of a block leave alike";
      EXPECT_EQ(within.of(g)->passed, 0u);
    }
    grids.reset();
    expect_sound(grids, blocks, threads, way::mixed, 2, 100);
  }
}

// The second begins beside the first.
TEST_P(library, kernels_of_one_group_that_overlap_are_an_error) {
  MGSYNC_NEEDS_GPUS(GetParam());
  multi_grid grids(first_gpus(GetParam()), 2s);
  found_by warm(grids.gpus()), long_one(grids.gpus()), beside(grids.gpus());
  grids.launch_each(leave_early_kernel(), 8, 64, 0, {},
                    [&](unsigned local) { return std::tuple(99u, 0u, 0u, 5u, warm.of(local)); });
  grids.wait();  // loaded
  std::vector<cudaStream_t> streams;
  unsigned rank = grids.gpus(), none = 0;
  for (const bool first : {true, false})
    for (unsigned g = 0; g < grids.gpus(); ++g) {
      streams.emplace_back();
      ASSERT_EQ(cudaSetDevice(grids.ordinal(g)), cudaSuccess);
      ASSERT_EQ(cudaStreamCreateWithFlags(&streams.back(), cudaStreamNonBlocking), cudaSuccess);
      multi_grid_handle handle = grids.handle_for(8, g);
      unsigned rounds = first ? 300'000 : 10;
      findings* into = (first ? long_one : beside).of(g);
      void* arguments[] = {&handle, &rank, &none, &none, &rounds, &into};
      ASSERT_EQ(cudaLaunchKernel(reinterpret_cast<const void*>(leave_early_kernel()), dim3(8), dim3(64),
                                 arguments, 0, streams.back()),
                cudaSuccess);
    }
  for (const auto s : streams) EXPECT_EQ(cudaStreamSynchronize(s), cudaSuccess);
  const auto why = usage_message([&] { grids.check(); });
  EXPECT_NE(why.find("kernels of one group that overlap"), std::string::npos) << why;
  for (unsigned g = 0; g < grids.gpus(); ++g) {
    EXPECT_EQ(beside.of(g)->passed, 0u);
    EXPECT_EQ(beside.of(g)->wrong + long_one.of(g)->wrong, 0u) << "all threads of a block leave alike";
  }
  grids.reset();
  expect_sound(grids, 8, 64, way::mixed, 2, 100);
  for (const auto s : streams) EXPECT_EQ(cudaStreamDestroy(s), cudaSuccess);
}

// Flags are kept for every number of blocks: kernels of different grids follow one another without a wait in
// between.
TEST_P(library, kernels_of_different_grids_alternate) {
  MGSYNC_NEEDS_GPUS(GetParam());
  multi_grid grids(first_gpus(GetParam()));
  board_of board(grids, 16 * sms());
  found_by found(grids.gpus());
  const unsigned sizes[] = {8, sms(), 16 * sms()};
  for (const unsigned blocks : sizes) grids.resize(blocks);
  for (unsigned i = 0; i < 60; ++i)
    grids.launch_each(check_rounds_kernel(), sizes[i % 3], 64, 0, {}, [&](unsigned local) {
      return std::tuple(board.slots(), 1 + i * 10, 10u, way::mixed, found.of(local));
    });
  grids.wait();
  EXPECT_EQ(found.wrong(), 0u);
}

// Whatever the library does, the caller's GPU, pending error and free memory are as before.
TEST_P(library, leaves_the_callers_gpu_error_and_memory_alone) {
  MGSYNC_NEEDS_GPUS(GetParam());
  { multi_grid warm(first_gpus(GetParam())); }  // contexts and what the driver keeps for them
  const int mine = gpus_here() - 1;
  const auto free_on = [](int gpu) {
    std::size_t free = 0, total = 0;
    EXPECT_EQ(cudaSetDevice(gpu), cudaSuccess);
    return cudaMemGetInfo(&free, &total) == cudaSuccess ? free : 0;
  };
  const auto everything = [&] {
    multi_grid grids(first_gpus(GetParam()), 100ms);
    found_by found(grids.gpus());
    {
      const auto memory = grids.allocate(std::size_t{1} << 30);
      for (unsigned g = 0; g < grids.gpus(); ++g)
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory.part(g)) % 256, 0u);
    }
    grids.launch(leave_early_kernel(), 8, 64, 0, {}, 0u, 3u, 2u, 5u, found.of(0));
    EXPECT_THROW(grids.wait(), timeout_error);
    EXPECT_THROW(grids.launch(leave_early_kernel(), 64 * sms(), 1024, 0, {}, 0u, 3u, 2u, 5u, found.of(0)),
                 std::exception);
    grids.reset();
    grids.resize(16);
    grids.launch(leave_early_kernel(), 8, 64, 0, {}, 99u, 0u, 0u, 5u, found.of(0));
    grids.wait();
    void* arguments[] = {nullptr, nullptr};
    launch_parameters without{kernel_without_handle(), 16, 64, arguments, 0, nullptr};
    EXPECT_THROW(grids.launch(&without, 1), usage_error);
    multi_grid moved(std::move(grids));
  };
  everything();  // once: what CUDA keeps for kernels that ran
  std::vector<std::size_t> before;
  for (int g = 0; g < GetParam(); ++g) before.push_back(free_on(g));
  ASSERT_EQ(cudaSetDevice(mine), cudaSuccess);
  everything();
  int now = -1;
  EXPECT_EQ(cudaGetDevice(&now), cudaSuccess);
  EXPECT_EQ(now, mine);
  EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);
  for (int g = 0; g < GetParam(); ++g)
    EXPECT_EQ(free_on(g), before[static_cast<std::size_t>(g)]) << "GPU " << g;

  // An error that the caller has not looked at yet is still there after calls that work.
  EXPECT_NE(cudaSetDevice(9999), cudaSuccess);
  {
    multi_grid grids(first_gpus(GetParam()));
    found_by found(grids.gpus());
    grids.launch_each(leave_early_kernel(), 8, 64, 0, {},
                      [&](unsigned local) { return std::tuple(99u, 0u, 0u, 5u, found.of(local)); });
    grids.wait();
  }
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidDevice);
}

TEST_P(library, c_interface) {
  MGSYNC_NEEDS_GPUS(GetParam());
  const auto gpus = first_gpus(GetParam());
  mgsync_multi_grid* grids = nullptr;
  ASSERT_EQ(mgsync_multi_grid_create(&grids, gpus.data(), GetParam(), 0.2), MGSYNC_SUCCESS)
      << mgsync_last_error();
  EXPECT_EQ(mgsync_multi_grid_gpus(grids), GetParam());
  EXPECT_EQ(mgsync_multi_grid_rank(grids, GetParam() - 1), GetParam() - 1);
  found_by found(static_cast<unsigned>(GetParam()));
  unsigned rank = 0, late = 3, when = 7, rounds = 9;
  std::vector<findings*> into;
  for (int g = 0; g < GetParam(); ++g) into.push_back(found.of(static_cast<unsigned>(g)));
  std::vector<std::vector<void*>> arguments;
  std::vector<mgsync_launch> launches;
  for (int g = 0; g < GetParam(); ++g)
    arguments.push_back({nullptr, &rank, &late, &when, &rounds, &into[static_cast<std::size_t>(g)]});
  for (auto& a : arguments)
    launches.push_back(
        {reinterpret_cast<const void*>(leave_early_kernel()), {8, 1, 1}, {64, 1, 1}, a.data(), 0, nullptr});
  ASSERT_EQ(mgsync_multi_grid_launch(grids, launches.data(), GetParam()), MGSYNC_SUCCESS)
      << mgsync_last_error();
  EXPECT_EQ(mgsync_multi_grid_wait(grids), MGSYNC_TIMED_OUT);
  EXPECT_NE(std::string(mgsync_last_error()).find("block 3"), std::string::npos) << mgsync_last_error();
  EXPECT_EQ(mgsync_multi_grid_reset(grids), MGSYNC_SUCCESS);
  when = 100;
  ASSERT_EQ(mgsync_multi_grid_launch(grids, launches.data(), GetParam()), MGSYNC_SUCCESS)
      << mgsync_last_error();
  EXPECT_EQ(mgsync_multi_grid_wait(grids), MGSYNC_SUCCESS) << mgsync_last_error();
  std::vector<char> handle(mgsync_multi_grid_handle_size());
  EXPECT_EQ(mgsync_multi_grid_handle(grids, 8, 0, handle.data(), handle.size()), MGSYNC_SUCCESS);
  EXPECT_EQ(mgsync_multi_grid_handle(grids, 8, 0, handle.data(), 8), MGSYNC_USAGE);
  EXPECT_EQ(mgsync_multi_grid_handle(grids, 8, 99, handle.data(), handle.size()), MGSYNC_USAGE);
  EXPECT_EQ(mgsync_multi_grid_destroy(grids), MGSYNC_SUCCESS);
}

INSTANTIATE_TEST_SUITE_P(gpus, library, testing::Values(1, 2, 4));

// Needs no GPU.
TEST(wrong_use, of_the_set_of_gpus_is_a_sentence) {
  EXPECT_EQ(usage_message([] { multi_grid grids({}); }),
            "a multi_grid of no GPUs: name at least one CUDA ordinal");
  EXPECT_NE(usage_message([] { multi_grid grids({99}); }).find("there is no GPU 99"), std::string::npos);
  EXPECT_NE(usage_message([] { multi_grid grids({0}, -1s); }), "nothing thrown");
  mgsync_multi_grid* grids = nullptr;
  EXPECT_EQ(mgsync_multi_grid_create(&grids, nullptr, 0, 1), MGSYNC_USAGE);
  EXPECT_EQ(mgsync_multi_grid_create(nullptr, nullptr, 0, 1), MGSYNC_USAGE);
  EXPECT_EQ(mgsync_multi_grid_create(&grids, nullptr, 1, 1), MGSYNC_USAGE);
  EXPECT_STREQ(mgsync_last_error(), "gpus is null");
  EXPECT_EQ(mgsync_multi_grid_wait(nullptr), MGSYNC_USAGE);
  EXPECT_EQ(mgsync_multi_grid_destroy(nullptr), MGSYNC_SUCCESS);
  int team = 7, first = 0;
  EXPECT_EQ(mgsync_multi_grid_make_team(nullptr, &team, &first, 1), MGSYNC_USAGE);
  EXPECT_STREQ(mgsync_last_error(), "grids is null");
  std::vector<char> handle(mgsync_multi_grid_handle_size());
  EXPECT_EQ(mgsync_multi_grid_team_handle(nullptr, 1, 8, 0, handle.data(), handle.size()), MGSYNC_USAGE);
  EXPECT_STREQ(mgsync_last_error(), "grids is null");
  EXPECT_EQ(mgsync_multi_grid_team_handle(nullptr, 1, 8, 0, handle.data(), 8), MGSYNC_USAGE);
  EXPECT_STREQ(mgsync_last_error(), "room of 8 bytes for a handle of 128");
}

TEST(wrong_use, of_launches_is_a_sentence) {
  MGSYNC_NEEDS_GPUS(1);
  EXPECT_NE(usage_message([] { multi_grid grids({0, 0}); }).find("named twice"), std::string::npos);
  multi_grid grids({0});
  found_by found(1);
  const auto tried = [&](dim3 blocks, dim3 threads, const std::vector<cudaStream_t>& streams = {}) {
    return usage_message([&] {
      grids.launch(leave_early_kernel(), blocks, threads, 0, streams, 9u, 0u, 0u, 1u, found.of(0));
    });
  };
  EXPECT_NE(tried(64 * sms(), 1024).find("are not resident at once on GPU 0: "), std::string::npos);
  EXPECT_NE(tried(1, 16).find("it takes 32 to 1024"), std::string::npos);
  EXPECT_NE(tried(1, 2048).find("it takes 32 to 1024"), std::string::npos);
  EXPECT_NE(tried(0, 64).find("a grid of no blocks"), std::string::npos);
  EXPECT_NE(tried(1, 64, {nullptr, nullptr}).find("2 streams for the 1 GPUs"), std::string::npos);
  int* pointer = nullptr;
  void* arguments[] = {nullptr, &pointer};
  launch_parameters without{kernel_without_handle(), 1, 64, arguments, 0, nullptr};
  EXPECT_NE(usage_message([&] {
              grids.launch(&without, 1);
            }).find("first parameter is not a mgsync::multi_grid_handle"),
            std::string::npos);
  EXPECT_NE(usage_message([&] { grids.launch(&without, 2); }).find("2 launches for the 1 GPUs"),
            std::string::npos);
  launch_parameters no_arguments{
      reinterpret_cast<const void*>(leave_early_kernel()), 1, 64, nullptr, 0, nullptr};
  EXPECT_NE(usage_message([&] { grids.launch(&no_arguments, 1); }).find("args is null"), std::string::npos);
  grids.launch(leave_early_kernel(), 1, 64, 0, {}, 9u, 0u, 0u, 1u, found.of(0));
  grids.wait();
}

TEST(wrong_use, of_unequal_grids_is_a_sentence) {
  MGSYNC_NEEDS_GPUS(2);
  try {
    multi_grid two({0, 1});
  } catch (const unsupported_error& e) {  // also under a tool that may run kernels one after the other
    GTEST_SKIP() << e.what();
  }
  multi_grid grids({0, 1});
  void* arguments[] = {nullptr, nullptr, nullptr, nullptr, nullptr, nullptr};
  launch_parameters both[2];
  for (auto& p : both)
    p = {reinterpret_cast<const void*>(leave_early_kernel()), 4, 64, arguments, 0, nullptr};
  both[1].gridDim = 5;
  EXPECT_NE(usage_message([&] { grids.launch(both, 2); }).find("the grid is the same on all GPUs"),
            std::string::npos);
  both[1].gridDim = 4;
  both[1].func = reinterpret_cast<const void*>(in_clusters_kernel());
  EXPECT_NE(usage_message([&] { grids.launch(both, 2); }).find("the kernel is the same on all GPUs"),
            std::string::npos);
}

// CUDA refuses the block's dimensions as the first GPU's kernel is launched.
TEST(wrong_use, a_launch_that_fails_is_told_as_such) {
  MGSYNC_NEEDS_GPUS(2);
  multi_grid grids({0, 1});
  found_by found(2);
  const auto launch = [&](dim3 threads) {
    grids.launch(leave_early_kernel(), 8, threads, 0, {}, 9u, 0u, 0u, 5u, found.of(0));
  };
  EXPECT_THROW(launch(dim3(1, 1, 128)), api_error);
  try {
    grids.wait();
    FAIL() << "nothing thrown";
  } catch (const timeout_error& e) {
    EXPECT_NE(std::string(e.what()).find("the launch on GPU 0 (grid 0) failed"), std::string::npos)
        << e.what();
  }
  grids.reset();
  launch(64);
  grids.wait();
}

TEST(wrong_use, launch_blocking_is_refused_before_anything_hangs) {
  MGSYNC_NEEDS_GPUS(2);
  setenv("CUDA_LAUNCH_BLOCKING", "1", 1);
  EXPECT_THROW(multi_grid({0, 1}), unsupported_error);
  unsetenv("CUDA_LAUNCH_BLOCKING");
}

}}  // namespace mgsync::test
