// Who comes last, and who does not come at all, as traced groups tell it: planted delays and planted hangs of
// slices of one GPU's blocks that stand for GPUs.
#include <cstdlib>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <random>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "barriers/library/include/mgsync/multi_grid.hpp"
#include "barriers/parts/recorder/late_blocks.hpp"
#include "src/base/cuda.hpp"
#include "tests/gpu/needs_gpus.hpp"
#include "tests/gpu/virtual_gpus.hpp"
#include "tests/gpu/virtual_kernels.hpp"

namespace mgsync::test { namespace {

using namespace std::chrono_literals;
constexpr unsigned blocks = blocks_of_late_rounds;

std::vector<unsigned> first(unsigned gpus) {
  std::vector<unsigned> ranks(gpus);
  for (unsigned i = 0; i < gpus; ++i) ranks[i] = i;
  return ranks;
}

// Launches rounds as planned, without waiting for them.
class planned_rounds {
 public:
  planned_rounds(virtual_gpus& gpus, const std::vector<late_plan>& plan)
      : gpus_(gpus.size()),
        workers_(gpus.size() * blocks),
        plan_(cuda::memory::on_gpu(0, plan.size() * sizeof plan[0])),
        came_(cuda::memory::on_gpu(0, plan.size() * workers_ * sizeof(std::uint64_t))),
        told_(cuda::memory::on_gpu(0, plan.size() * gpus_ * sizeof(std::uint64_t))),
        stream_(cuda::make_stream()) {
    cuda::check(cudaMemcpy(plan_.get(), plan.data(), plan.size() * sizeof plan[0], cudaMemcpyDefault),
                "the plan");
    auto rounds = static_cast<unsigned>(plan.size());
    const multi_grid_handle* handles = gpus.handles();
    const late_plan* planned = plan_.as<late_plan>();
    std::uint64_t *came = came_.as<std::uint64_t>(), *told = told_.as<std::uint64_t>();
    void* arguments[] = {&handles, &planned, &rounds, &came, &told};
    cuda::load(reinterpret_cast<const void*>(late_rounds_kernel()), "the slices");
    cuda::check(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(late_rounds_kernel()), workers_, 64,
                                            arguments, 0, stream_.get()),
                "launching slices");
  }
  void wait() { cuda::check(cudaStreamSynchronize(stream_.get()), "waiting for the slices"); }
  // By how much the blocks of GPU `late` came to a round after all others.
  double came_after_all(unsigned round, unsigned late) const {
    return after_all(came_, round, late, workers_, blocks);
  }
  // By how much GPU `late` told that it had come after all others.
  double told_after_all(unsigned round, unsigned late) const {
    return after_all(told_, round, late, gpus_, 1);
  }

 private:
  // Of `count` times a round, `of_each` for each GPU.
  static double after_all(const cuda::memory& times, unsigned round, unsigned late, unsigned count,
                          unsigned of_each) {
    std::vector<std::uint64_t> of_round(count);
    cuda::check(cudaMemcpy(of_round.data(), times.as<std::uint64_t>() + std::size_t{round} * count,
                           count * sizeof of_round[0], cudaMemcpyDefault),
                "reading when they came");
    std::uint64_t its = 0, others = 0;
    for (unsigned i = 0; i < count; ++i)
      (i / of_each == late ? its : others) = std::max(i / of_each == late ? its : others, of_round[i]);
    return static_cast<double>(its) - static_cast<double>(others);
  }

  unsigned gpus_, workers_;
  cuda::memory plan_, came_, told_;
  cuda::stream stream_;
};

class delays : public testing::TestWithParam<unsigned> {};

double at_share(std::vector<double>& sorted, double share) {
  return sorted[static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1))];
}

// What a GPU sees of another is held against when that one told it, by the same timer, and not against what
// was asked for. Between a block's coming and its GPU's telling lie two fences and a counter, a way as long
// as most of a round, which is longer or shorter by the SM, by what it stored before, and by where in memory
// the counter lies. So the times of the blocks show only that what was told is what was planned.
TEST_P(delays, are_told_to_a_fifth_of_a_microsecond) {
  MGSYNC_NEEDS_GPUS(1);
  const unsigned gpus = GetParam();
  virtual_gpus group(blocks, first(gpus), 5000ms);
  group.trace();
  std::mt19937 chance(gpus);
  std::vector<late_plan> plan;
  for (unsigned i = 0; i < 400; ++i) {
    constexpr std::uint32_t lengths[] = {3'000, 10'000, 50'000, 200'000};
    plan.push_back({static_cast<std::uint32_t>(chance() % gpus),
                    static_cast<std::uint32_t>(chance() % blocks), lengths[i % 4], 0});
  }
  planned_rounds run(group, plan);
  run.wait();
  ASSERT_FALSE(group.given_up());
  for (unsigned observer = 0; observer < gpus; ++observer) {
    std::vector<double> errors, ways;
    for (const auto& seen : group.rounds_seen_by(observer)) {
      const unsigned round = seen.epoch - algorithm::first_gpu_epoch - 1;
      ASSERT_LT(round, plan.size());
      if (plan[round].gpu == observer) continue;
      EXPECT_EQ(seen.members, std::uint64_t{1} << plan[round].gpu)
          << "round " << round << " seen by " << observer;
      const double told = run.told_after_all(round, plan[round].gpu);
      errors.push_back(std::abs(static_cast<double>(seen.ns) - told));
      ways.push_back(std::abs(told - run.came_after_all(round, plan[round].gpu)));
    }
    const auto others =
        std::count_if(plan.begin(), plan.end(), [&](const auto& p) { return p.gpu != observer; });
    ASSERT_EQ(errors.size(), static_cast<std::size_t>(others)) << "seen by " << observer;
    std::sort(errors.begin(), errors.end());
    std::sort(ways.begin(), ways.end());
    std::printf(
        "%u GPUs, seen by %u: off by %.0f ns in the median, %.0f in 95 %%, %.0f at most; told and come %.0f "
        "apart\n",
        gpus, observer, at_share(errors, 0.5), at_share(errors, 0.95), at_share(errors, 1),
        at_share(ways, 0.5));
    EXPECT_LE(at_share(errors, 0.5), 200);
    EXPECT_LE(at_share(ways, 0.5), 1000);
  }
  // The file's sums say the same.
  for (unsigned m = 0; m < gpus; ++m) {
    const auto planned = std::count_if(plan.begin(), plan.end(), [&](const auto& p) { return p.gpu == m; });
    unsigned times = 0;
    for (unsigned observer = 0; observer < gpus; ++observer) {
      const auto& its = group.notes().late(observer)[m];
      times += its.times;
      if (its.times != 0) { EXPECT_GT(its.by[17], 0u) << "of 131 to 262 us"; }
    }
    EXPECT_EQ(times, static_cast<unsigned>(planned) * (gpus - 1)) << "GPU " << m;
  }
}
INSTANTIATE_TEST_SUITE_P(of, delays, testing::Values(2u, 3u, 8u));

// A block leaves, and all others wait for it: named from the file while they wait, and after the time-out.
TEST(hangs, are_named_in_100_of_100) {
  MGSYNC_NEEDS_GPUS(1);
  std::mt19937 chance(42);
  unsigned while_waiting = 0, afterwards = 0;
  for (int i = 0; i < 100; ++i) {
    const unsigned gpus = 2 + chance() % 4, rounds = 1 + chance() % 20;
    const unsigned gpu = chance() % gpus, block = chance() % blocks;
    virtual_gpus group(blocks, first(gpus), 150ms);
    group.trace();
    std::vector<late_plan> plan(rounds, {gpus, 0, 0, 0});
    plan.back() = {gpu, block, 0, 1};
    planned_rounds run(group, plan);
    const auto names_it = [&] {
      std::vector<wait_file> files;
      for (const auto& name : wait_files(wait_folder())) files.emplace_back(name);
      const auto all = waits_of(files);
      if (all.size() != 1 || all[0].absent.size() != 1) return false;
      const auto& its = all[0].absent[0];
      return all[0].round == rounds && its.rank == gpu && its.blocks == std::vector<unsigned>{block};
    };
    std::this_thread::sleep_for(60ms);
    if (names_it()) ++while_waiting;
    run.wait();
    EXPECT_TRUE(group.given_up());
    if (names_it()) ++afterwards;
  }
  std::printf("named while they wait: %u of 100, after the time-out: %u\n", while_waiting, afterwards);
  EXPECT_EQ(while_waiting, 100u);
  EXPECT_EQ(afterwards, 100u);
}

}}  // namespace mgsync::test

// In a folder of its own: other jobs may wait here.
int main(int count, char** words) {
  char folder[] = "/dev/shm/late_test_XXXXXX";  // CUDA pins no files of disks
  if (mkdtemp(folder) == nullptr || setenv("MGSYNC_WHO", folder, 1) != 0) return 1;
  testing::InitGoogleTest(&count, words);
  const int code = RUN_ALL_TESTS();
  std::remove(folder);
  return code;
}
