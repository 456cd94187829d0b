// The library inside of a program: what it does at other people's calls (graphs, aborts, time-outs, memory
// that is theirs), and what it leaves alone.
#include <atomic>
#include <chrono>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <mgsync/multi_grid.h>
#include <mgsync/multi_grid.hpp>

#include "tests/gpu/library_groups.hpp"
#include "tests/gpu/needs_gpus.hpp"

namespace mgsync::test { namespace {

using namespace std::chrono_literals;

class host_side : public testing::TestWithParam<int> {};

void launch_rounds(multi_grid& grids, unsigned blocks, unsigned rounds, found_by& found,
                   const std::vector<cudaStream_t>& streams = {}) {
  grids.launch_each(leave_early_kernel(), blocks, 64, 0, streams,
                    [&](unsigned local) { return std::tuple(nobody, 0u, 0u, rounds, found.of(local)); });
}

// "aborted: ...", "timeout: ...", "usage: ...", or "nothing".
template <class F>
std::string thrown(F f) {
  try {
    f();
  } catch (const aborted_error& e) {
    return std::string("aborted: ") + e.what();
  } catch (const timeout_error& e) {
    return std::string("timeout: ") + e.what();
  } catch (const usage_error& e) { return std::string("usage: ") + e.what(); } catch (const error& e) {
    return std::string("error: ") + e.what();
  }
  return "nothing";
}

// --- aborts

TEST_P(host_side, an_abort_ends_the_kernels_and_says_why) {
  MGSYNC_NEEDS_GPUS(GetParam());
  multi_grid grids(first_gpus(GetParam()), 60s);
  found_by found(grids.gpus());
  // The last GPU's block 0 leaves at round 3: the others wait for a minute, unless somebody aborts.
  grids.launch_each(leave_early_kernel(), sms(), 64, 0, {}, [&](unsigned local) {
    return std::tuple(grids.gpus() - 1, 0u, 3u, 100u, found.of(local));
  });
  EXPECT_EQ(grids.poll(), group_status::at_work);
  const auto begin = std::chrono::steady_clock::now();
  std::thread([&] { grids.abort("the user pressed Ctrl-C"); }).join();
  EXPECT_EQ(grids.poll(), group_status::lost);
  const auto why = thrown([&] { grids.wait(); });
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 5s);
  EXPECT_EQ(why,
            "aborted: the group was aborted: the user pressed Ctrl-C. reset() makes the group usable again");
  EXPECT_EQ(thrown([&] { launch_rounds(grids, sms(), 1, found); }), why) << "until reset()";
  grids.reset();
  EXPECT_EQ(grids.poll(), group_status::done);
  expect_sound(grids, sms(), 64, way::mixed, 2, 100);
}

TEST_P(host_side, a_thousand_aborts_at_random_times_leave_a_usable_group) {
  MGSYNC_NEEDS_GPUS(GetParam());
  multi_grid grids(first_gpus(GetParam()), 20s);
  found_by found(grids.gpus());
  grids.prepare(leave_early_kernel(), sms(), 64);
  std::mt19937 random(1);
  int aborted = 0, through = 0;
  for (int i = 0; i < 1000; ++i) {
    std::atomic<bool> go{false};
    const auto after = std::chrono::microseconds(random() % 1500);
    std::thread other([&] {
      while (!go) std::this_thread::yield();
      std::this_thread::sleep_for(after);
      grids.abort("now");
    });
    go = true;
    const auto why = thrown([&] {
      launch_rounds(grids, sms(), 300, found);
      launch_rounds(grids, sms(), 300, found);
      grids.wait();
    });
    other.join();
    ASSERT_TRUE(why == "nothing" || why.find("aborted: ") == 0) << i << ": " << why;
    ++(why == "nothing" ? through : aborted);
    ASSERT_EQ(thrown([&] { grids.wait(); }).find("aborted: "), 0u) << "at the latest now";
    grids.reset();
    if (i % 100 == 0) expect_sound(grids, sms(), 64, way::mixed, 1, 50);
  }
  EXPECT_GT(aborted, 100) << "aborts came while kernels ran";
  for (unsigned g = 0; g < grids.gpus(); ++g)
    EXPECT_EQ(found.of(g)->wrong, 0u) << "all threads of a block leave alike";
  expect_sound(grids, sms(), 64, way::mixed, 2, 200);
}

// --- time-outs

TEST_P(host_side, the_first_barrier_has_a_time_out_of_its_own) {
  MGSYNC_NEEDS_GPUS(GetParam());
  group_options options;
  options.timeout = 200ms;
  options.first_timeout = 3s;
  multi_grid grids(first_gpus(GetParam()), options);
  const auto gives_up_after = [&](unsigned when) {
    found_by found(grids.gpus());
    const auto begin = std::chrono::steady_clock::now();
    grids.launch_each(leave_early_kernel(), 8, 64, 0, {}, [&](unsigned local) {
      return std::tuple(grids.gpus() - 1, 5u, when, 20u, found.of(local));
    });
    const auto why = thrown([&] { grids.wait(); });
    EXPECT_EQ(why.find("timeout: a barrier was given up after " + std::string(when == 0 ? "3 s" : "0.2 s")),
              0u)
        << why;
    grids.reset();
    return std::chrono::steady_clock::now() - begin;
  };
  const auto first = gives_up_after(0), later = gives_up_after(1);
  EXPECT_GT(first, 2900ms);
  EXPECT_LT(later, 2s);
}

TEST_P(host_side, a_time_out_that_is_set_counts_for_kernels_that_run) {
  MGSYNC_NEEDS_GPUS(GetParam());
  multi_grid grids(first_gpus(GetParam()), 60s);
  found_by found(grids.gpus());
  grids.launch_each(leave_early_kernel(), 8, 64, 0, {}, [&](unsigned local) {
    return std::tuple(grids.gpus() - 1, 5u, 3u, 20u, found.of(local));
  });
  std::this_thread::sleep_for(100ms);
  grids.set_timeout(300ms);
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(thrown([&] { grids.wait(); }).find("timeout: a barrier was given up after 0.3 s"), 0u);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 5s);
  grids.reset();
  EXPECT_NE(thrown([&] { grids.set_timeout(-1s); }).find("a negative time-out"), std::string::npos);
  expect_sound(grids, 16, 64, way::whole, 1, 100);  // new flags have it too
}

TEST_P(host_side, who_did_not_arrive_is_a_value) {
  MGSYNC_NEEDS_GPUS(GetParam());
  multi_grid grids(first_gpus(GetParam()), 200ms);
  found_by found(grids.gpus());
  const unsigned last = grids.gpus() - 1;
  grids.launch_each(leave_early_kernel(), sms(), 64, 0, {},
                    [&](unsigned local) { return std::tuple(last, 17u, 4u, 20u, found.of(local)); });
  try {
    grids.wait();
    FAIL() << "nothing was thrown";
  } catch (const timeout_error& e) {
    ASSERT_EQ(e.who().size(), 1u) << e.what();
    EXPECT_EQ(e.who()[0].grid_rank, last);
    EXPECT_EQ(e.who()[0].blocks, std::vector<unsigned>{17});
  }
  grids.reset();
}

TEST(errors, have_one_base_and_cudas_number) {
  MGSYNC_NEEDS_GPUS(1);
  multi_grid grids(first_gpus(1));
  try {
    const auto memory = grids.allocate(std::size_t{1} << 48);
    FAIL() << "nothing was thrown";
  } catch (const error& e) {
    const auto* api = dynamic_cast<const api_error*>(&e);
    ASSERT_NE(api, nullptr) << e.what();
    EXPECT_EQ(api->code(), cudaErrorMemoryAllocation);
  }
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  EXPECT_NE(thrown([&] { grids.ordinal(7); }).find("usage: no GPU 7 here"), std::string::npos);
  const auto memory = grids.allocate(1024);
  EXPECT_NE(thrown([&] { memory.part(3); }).find("usage: no part of grid 3"), std::string::npos);
}

// --- before and without a launch

TEST_P(host_side, a_prepared_launch_waits_for_nobody_and_handles_stay) {
  MGSYNC_NEEDS_GPUS(GetParam());
  multi_grid grids(first_gpus(GetParam()), 20s);
  grids.prepare(leave_early_kernel(), 8, 64);
  const multi_grid_handle* const before = &grids.handle_for(8);
  const auto generation = before->generation;
  found_by waiting(grids.gpus());
  // While a kernel waits for a peer that is launched by hand later, others are prepared and made room for.
  cudaStream_t stream = nullptr;
  ASSERT_EQ(cudaSetDevice(grids.ordinal(0)), cudaSuccess);
  ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
  const auto by_hand = [&](unsigned g, cudaStream_t s) {
    multi_grid_handle handle = grids.handle_for(8, g);
    unsigned rank = nobody, none = 0, rounds = 50;
    findings* into = waiting.of(g);
    void* arguments[] = {&handle, &rank, &none, &none, &rounds, &into};
    ASSERT_EQ(cudaSetDevice(grids.ordinal(g)), cudaSuccess);
    ASSERT_EQ(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(leave_early_kernel()), dim3(8),
                                          dim3(64), arguments, 0, s),
              cudaSuccess);
  };
  by_hand(0, stream);
  const auto begin = std::chrono::steady_clock::now();
  for (const unsigned blocks : {9u, 10u, 11u}) grids.prepare(leave_early_kernel(), blocks, 64);
  const auto memory = grids.allocate(4096);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 5s) << "nothing waited for the kernel";
  EXPECT_EQ(&grids.handle_for(8), before);
  EXPECT_EQ(grids.handle_for(8).generation, generation);
  for (unsigned g = 1; g < grids.gpus(); ++g) by_hand(g, nullptr);
  for (unsigned g = 0; g < grids.gpus(); ++g) {
    ASSERT_EQ(cudaSetDevice(grids.ordinal(g)), cudaSuccess);
    ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    EXPECT_EQ(waiting.of(g)->passed, 8u * 50);
  }
  grids.check();
  EXPECT_NE(thrown([&] { grids.handle_for(77); }).find("usage: no handle for 77 blocks yet"),
            std::string::npos);
  EXPECT_EQ(cudaSetDevice(grids.ordinal(0)), cudaSuccess);
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
}

TEST(clusters, count_whole_when_a_grid_is_to_be_resident) {
  MGSYNC_NEEDS_GPUS(1);
  cudaDeviceProp about{};
  ASSERT_EQ(cudaGetDeviceProperties(&about, 0), cudaSuccess);
  if (about.major < 9) GTEST_SKIP() << "this GPU has no clusters";
  multi_grid grids({0}, 5s);
  found_by found(1);
  unsigned fit = 0;  // clusters of 4 blocks of 1024 threads
  for (unsigned blocks = 4; fit == 0; blocks += 4) {
    const auto why = thrown([&] {
      grids.launch(in_clusters_kernel(), blocks, 1024, 0, {}, nobody, 0u, 0u, 20u, found.of(0));
      grids.wait();
    });
    if (why == "nothing") continue;
    EXPECT_NE(why.find("usage: "), std::string::npos) << why;
    EXPECT_NE(why.find("are not resident at once"), std::string::npos) << why;
    fit = blocks - 4;
  }
  EXPECT_GE(fit, 4 * (sms() / 8));
  EXPECT_LE(fit, sms() * 2);
  EXPECT_EQ(found.of(0)->given_up, 0u);
  EXPECT_EQ(found.of(0)->wrong, 0u);
}

// --- graphs

class graph_of {
 public:
  graph_of(multi_grid& grids, const std::vector<cudaStream_t>& streams, unsigned blocks, unsigned rounds,
           found_by& found) {
    for (const auto s : streams)
      EXPECT_EQ(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal), cudaSuccess);
    launch_rounds(grids, blocks, rounds, found, streams);
    std::vector<cudaGraph_t> graphs(streams.size());
    for (std::size_t g = 0; g < graphs.size(); ++g)
      EXPECT_EQ(cudaStreamEndCapture(streams[g], &graphs[g]), cudaSuccess);
    for (const auto graph : graphs) {
      executables_.push_back(nullptr);
      EXPECT_EQ(cudaGraphInstantiate(&executables_.back(), graph, 0), cudaSuccess);
      EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
    }
  }
  ~graph_of() {
    for (const auto e : executables_) EXPECT_EQ(cudaGraphExecDestroy(e), cudaSuccess);
  }
  graph_of(const graph_of&) = delete;
  graph_of& operator=(const graph_of&) = delete;
  void replay(const std::vector<cudaStream_t>& streams) const {
    for (std::size_t g = 0; g < streams.size(); ++g)
      ASSERT_EQ(cudaGraphLaunch(executables_[g], streams[g]), cudaSuccess);
  }

 private:
  std::vector<cudaGraphExec_t> executables_;
};

std::vector<cudaStream_t> streams_of(const multi_grid& grids) {
  std::vector<cudaStream_t> streams(grids.local_gpus());
  for (unsigned g = 0; g < grids.local_gpus(); ++g) {
    EXPECT_EQ(cudaSetDevice(grids.ordinal(g)), cudaSuccess);
    EXPECT_EQ(cudaStreamCreateWithFlags(&streams[g], cudaStreamNonBlocking), cudaSuccess);
  }
  return streams;
}

TEST_P(host_side, a_thousand_replays_mixed_with_launches_pass) {
  MGSYNC_NEEDS_GPUS(GetParam());
  multi_grid grids(first_gpus(GetParam()), 20s);
  const unsigned blocks = 2 * sms();
  grids.prepare(leave_early_kernel(), blocks, 64);
  const auto streams = streams_of(grids);
  found_by found(grids.gpus());
  unsigned launches = 0;
  {
    const graph_of graph(grids, streams, blocks, 3, found);
    for (unsigned i = 0; i < 1000; ++i, ++launches) {
      graph.replay(streams);
      if (i % 7 != 0) continue;
      launch_rounds(grids, blocks, 3, found, streams);
      ++launches;
    }
    for (const auto s : streams) ASSERT_EQ(cudaStreamSynchronize(s), cudaSuccess);
  }
  grids.check();
  for (unsigned g = 0; g < grids.gpus(); ++g) {
    EXPECT_EQ(found.of(g)->passed, launches * 3 * blocks);
    EXPECT_EQ(found.of(g)->wrong + found.of(g)->given_up, 0u);
  }
  expect_sound(grids, blocks, 64, way::mixed, 2, 100);
  for (const auto s : streams) EXPECT_EQ(cudaStreamDestroy(s), cudaSuccess);
}

// The capture of another thread, in the mode that forbids allocations and queries everywhere, outlives what a
// group makes and is asked.
TEST(graphs, of_others_are_captured_undisturbed) {
  MGSYNC_NEEDS_GPUS(1);
  cudaStream_t stream = nullptr;
  cudaGraph_t graph = nullptr;
  ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
  ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
  multi_grid launched(first_gpus(1), 5s);
  expect_sound(launched, 8, 64, way::mixed, 1, 10);
  ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
  multi_grid grids(first_gpus(1), 5s);
  grids.prepare(leave_early_kernel(), 8, 64);
  const auto memory = grids.allocate(4096);
  EXPECT_EQ(launched.poll(), group_status::done);
  launched.set_timeout(4s);
  launched.check();
  launched.wait();
  launched.abort("no reason");
  EXPECT_THROW(launched.check(), aborted_error);
  ASSERT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
}

// --- memory of others

TEST_P(host_side, flags_may_lie_in_memory_of_the_programs_own) {
  MGSYNC_NEEDS_GPUS(GetParam());
  const auto gpus = first_gpus(GetParam());
  const unsigned blocks = 4 * sms();
  symmetric_parts theirs;
  theirs.bytes = 256 + multi_grid::flag_bytes(static_cast<unsigned>(GetParam()), blocks);
  {
    const multi_grid opens_the_ways(gpus);  // peer access stays
  }
  for (const int g : gpus) {
    ASSERT_EQ(cudaSetDevice(g), cudaSuccess);
    theirs.parts.push_back(nullptr);
    ASSERT_EQ(cudaMalloc(&theirs.parts.back(), theirs.bytes), cudaSuccess);
    ASSERT_EQ(cudaMemset(theirs.parts.back(), 0xff, theirs.bytes), cudaSuccess);  // whatever it likes
    ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  }
  {
    auto grids = multi_grid::over(theirs, gpus, 0, {}, 5s);
    expect_sound(grids, blocks, 64, way::mixed, 3, 200);
    EXPECT_NE(thrown([&] {
                grids.resize(blocks);
                grids.resize(32 * sms());
              }).find("usage: the caller's memory has"),
              std::string::npos);
    expect_sound(grids, blocks, 64, way::mixed, 1, 100);
  }
  auto askew = theirs;
  askew.parts.back() = static_cast<char*>(askew.parts.back()) + 128;
  EXPECT_NE(thrown([&] { multi_grid::over(askew, gpus, 0, {}); }).find("aligned to less than 256 bytes"),
            std::string::npos);
  askew.parts.back() = nullptr;
  EXPECT_NE(thrown([&] { multi_grid::over(askew, gpus, 0, {}); }).find("this GPU cannot reach it"),
            std::string::npos);
  askew.parts.pop_back();
  EXPECT_NE(thrown([&] { multi_grid::over(askew, gpus, 0, {}); }).find("parts of symmetric memory"),
            std::string::npos);
  theirs.bytes = 64;
  EXPECT_NE(
      thrown([&] { multi_grid::over(theirs, gpus, 0, {}); }).find("usage: the caller's memory has 64 bytes"),
      std::string::npos);
  for (void* const part : theirs.parts) EXPECT_EQ(cudaFree(part), cudaSuccess);
}

// As NVSHMEM's heap and torch's symmetric memory are: physical memory that is mapped where the program likes.
class own_mapping {
 public:
  own_mapping(int gpu, std::size_t least_bytes, const std::vector<int>& readers) {
    CUmemAllocationProp about{};
    about.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    about.location = {CU_MEM_LOCATION_TYPE_DEVICE, gpu};
    entry<decltype(&cuMemGetAllocationGranularity)>("cuMemGetAllocationGranularity")(
        &bytes_, &about, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED);
    bytes_ *= (least_bytes + bytes_ - 1) / bytes_;
    must(entry<decltype(&cuMemCreate)>("cuMemCreate")(&memory_, bytes_, &about, 0));
    must(entry<decltype(&cuMemAddressReserve)>("cuMemAddressReserve")(&address_, bytes_, 0, 0, 0));
    must(entry<decltype(&cuMemMap)>("cuMemMap")(address_, bytes_, 0, memory_, 0));
    std::vector<CUmemAccessDesc> who;
    for (const int reader : readers)
      who.push_back({{CU_MEM_LOCATION_TYPE_DEVICE, reader}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE});
    must(entry<decltype(&cuMemSetAccess)>("cuMemSetAccess")(address_, bytes_, who.data(), who.size()));
  }
  ~own_mapping() {
    entry<decltype(&cuMemUnmap)>("cuMemUnmap")(address_, bytes_);
    entry<decltype(&cuMemAddressFree)>("cuMemAddressFree")(address_, bytes_);
    entry<decltype(&cuMemRelease)>("cuMemRelease")(memory_);
  }
  own_mapping(const own_mapping&) = delete;
  own_mapping& operator=(const own_mapping&) = delete;

  void* address() const { return reinterpret_cast<void*>(address_); }
  std::size_t bytes() const { return bytes_; }

 private:
  template <class Function>
  static Function entry(const char* name) {
    void* found = nullptr;
    EXPECT_EQ(cudaGetDriverEntryPointByVersion(name, &found, 12000, cudaEnableDefault, nullptr), cudaSuccess);
    return reinterpret_cast<Function>(found);
  }
  static void must(CUresult status) { ASSERT_EQ(status, CUDA_SUCCESS); }

  std::size_t bytes_ = 0;
  CUmemGenericAllocationHandle memory_ = 0;
  CUdeviceptr address_ = 0;
};

TEST_P(host_side, flags_may_lie_in_a_mapping_of_the_programs_own) {
  MGSYNC_NEEDS_GPUS(GetParam());
  const auto gpus = first_gpus(GetParam());
  const unsigned blocks = 4 * sms();
  const auto bytes = 256 + multi_grid::flag_bytes(static_cast<unsigned>(GetParam()), blocks);
  std::vector<std::unique_ptr<own_mapping>> mappings;
  symmetric_parts theirs;
  for (const int g : gpus) {
    ASSERT_EQ(cudaSetDevice(g), cudaSuccess);
    ASSERT_EQ(cudaFree(nullptr), cudaSuccess);
    theirs.parts.push_back(mappings.emplace_back(std::make_unique<own_mapping>(g, bytes, gpus))->address());
    theirs.bytes = mappings.back()->bytes();
  }
  auto grids = multi_grid::over(theirs, gpus, 0, {}, 5s);
  expect_sound(grids, blocks, 64, way::mixed, 3, 200);
}

// Two parts that are one piece of memory: what one GPU writes to the other's comes out as its own.
TEST(memory_of_others, that_is_not_symmetric_is_found_out) {
  MGSYNC_NEEDS_GPUS(2);
  symmetric_parts theirs;
  theirs.bytes = 1 << 20;
  void* one = nullptr;
  { const multi_grid opens_the_ways({0, 1}); }
  ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
  ASSERT_EQ(cudaMalloc(&one, theirs.bytes), cudaSuccess);
  theirs.parts = {one, one};
  std::string why = "nothing";
  try {
    static_cast<void>(multi_grid::over(theirs, {0, 1}, 0, {}));
  } catch (const unsupported_error& e) { why = e.what(); }
  EXPECT_NE(why.find("did not come"), std::string::npos) << why;
  EXPECT_EQ(cudaFree(one), cudaSuccess);
}

// --- C

TEST(in_c, a_group_is_prepared_aborted_and_asked) {
  MGSYNC_NEEDS_GPUS(1);
  mgsync_multi_grid* grids = nullptr;
  const int gpu = 0;
  ASSERT_EQ(mgsync_multi_grid_create(&grids, &gpu, 1, 20), MGSYNC_SUCCESS) << mgsync_last_error();
  const unsigned grid[3] = {8, 1, 1}, block[3] = {64, 1, 1};
  EXPECT_EQ(
      mgsync_multi_grid_prepare(grids, reinterpret_cast<const void*>(leave_early_kernel()), grid, block, 0),
      MGSYNC_SUCCESS)
      << mgsync_last_error();
  EXPECT_EQ(mgsync_multi_grid_poll(grids), MGSYNC_DONE);
  EXPECT_EQ(mgsync_multi_grid_set_timeout(grids, 5, 60), MGSYNC_SUCCESS);
  EXPECT_EQ(mgsync_multi_grid_abort(grids, "in C"), MGSYNC_SUCCESS);
  EXPECT_EQ(mgsync_multi_grid_poll(grids), MGSYNC_LOST);
  EXPECT_EQ(mgsync_multi_grid_check(grids), MGSYNC_ABORTED);
  EXPECT_NE(std::string(mgsync_last_error()).find("in C"), std::string::npos);
  EXPECT_EQ(mgsync_multi_grid_reset(grids), MGSYNC_SUCCESS);
  EXPECT_EQ(mgsync_multi_grid_poll(grids), MGSYNC_DONE);
  EXPECT_EQ(mgsync_multi_grid_poll(nullptr), MGSYNC_NO_GROUP);
  EXPECT_GT(mgsync_multi_grid_flag_bytes(2, 132), 0u);
  EXPECT_EQ(mgsync_multi_grid_destroy(grids), MGSYNC_SUCCESS);
}

INSTANTIATE_TEST_SUITE_P(gpus, host_side, testing::Values(1, 2, 4));

}}  // namespace mgsync::test
