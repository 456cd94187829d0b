// More GPUs than a warp has lanes: slices of one GPU's blocks that stand for 17 to 96 of them.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "src/base/cuda.hpp"
#include "tests/gpu/needs_gpus.hpp"
#include "tests/gpu/virtual_gpus.hpp"
#include "tests/gpu/virtual_kernels.hpp"

namespace mgsync::test { namespace {

using namespace std::chrono_literals;

struct found_rounds {
  unsigned wrong, given_up, not_valid;
};

std::vector<unsigned> everybody(unsigned gpus) {
  std::vector<unsigned> ranks(gpus);
  std::iota(ranks.begin(), ranks.end(), 0u);
  return ranks;
}

class slices_of_many {
 public:
  slices_of_many(unsigned gpus, unsigned blocks)
      : group_(blocks, everybody(gpus), 5000ms),
        words_(cuda::memory::on_gpu(0, 2 * gpus * blocks * sizeof(unsigned))),
        found_(cuda::memory::on_gpu(0, sizeof(found_rounds))) {}

  // Returns how long it took.
  std::chrono::nanoseconds run(bool of_many, many_way how, unsigned rounds, bool checks = true) {
    const auto kernel = reinterpret_cast<const void*>(many_rounds_kernel(group_.blocks(), of_many));
    cuda::load(kernel, "the slices");
    const multi_grid_handle* handles = group_.handles();
    unsigned *words = words_.as<unsigned>(), *found = found_.as<unsigned>();
    void* arguments[] = {&handles, &how, &first_, &rounds, &words, &found};
    const auto begin = std::chrono::steady_clock::now();
    cuda::check(
        cudaLaunchCooperativeKernel(kernel, group_.size() * group_.blocks(), 64, arguments, 0, nullptr),
        "slices");
    cuda::check(cudaDeviceSynchronize(), "slices");
    first_ += rounds;
    if (checks) { EXPECT_FALSE(group_.given_up()); }
    return std::chrono::steady_clock::now() - begin;
  }
  found_rounds found() const {
    found_rounds all{};
    cuda::check(cudaMemcpy(&all, found_.get(), sizeof all, cudaMemcpyDefault), "what was found");
    return all;
  }

 private:
  virtual_gpus group_;
  cuda::memory words_, found_;
  unsigned first_ = 1;
};

TEST(many_gpus, meet) {
  MGSYNC_NEEDS_GPUS(1);
  for (const unsigned gpus : {1u, 2u, 16u, 17u, 32u, 33u, 64u, 65u, 72u, 96u})
    for (const unsigned blocks : {1u, 4u})
      for (const auto how : {many_way::whole, many_way::less, many_way::looks, many_way::unlike}) {
        slices_of_many slices(gpus, blocks);
        for (int launch = 0; launch < 3; ++launch) slices.run(true, how, 200);
        const auto found = slices.found();
        EXPECT_EQ(found.wrong, 0u) << gpus << " GPUs of " << blocks << ", way " << static_cast<unsigned>(how);
        EXPECT_EQ(found.given_up + found.not_valid, 0u) << gpus << " GPUs of " << blocks;
      }
}

// A kernel of multi_grid.cuh takes no part in more GPUs than it has lanes for, and does not hang.
TEST(many_gpus, are_refused_by_kernels_that_have_no_words_for_them) {
  MGSYNC_NEEDS_GPUS(1);
  slices_of_many slices(17, 1);
  slices.run(false, many_way::whole, 5, false);
  const auto found = slices.found();
  EXPECT_EQ(found.not_valid, 17u);
  EXPECT_EQ(found.given_up, 17u);
}

// Printed, not judged: slices of one GPU have no links between them.
TEST(many_gpus, cost) {
  MGSYNC_NEEDS_GPUS(1);
  constexpr unsigned rounds = 20'000;
  for (const unsigned gpus : {2u, 8u, 16u, 17u, 32u, 33u, 64u, 72u, 96u})
    for (const bool of_many : {false, true}) {
      if (!of_many && gpus > multi_grid_handle::most_gpus) continue;
      slices_of_many slices(gpus, 1);
      double round = 1e9, start = 1e9;
      for (int i = 0; i < 5; ++i) {
        round = std::min(round,
                         static_cast<double>(slices.run(of_many, many_way::whole, rounds).count()) / rounds);
        for (int j = 0; j < 20; ++j)
          start = std::min(start, static_cast<double>(slices.run(of_many, many_way::whole, 1).count()));
      }
      std::printf("%2u slices, %s: %.0f ns a round with its check, %.2f us a kernel of one\n", gpus,
                  of_many ? "of many" : "as usual", round, start * 1e-3);
    }
}

}}  // namespace mgsync::test
