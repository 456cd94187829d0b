// Rounds that carry values, between slices of one GPU's blocks that stand for GPUs: with groups of blocks and
// without, mixed with rounds that carry none, over several launches.
#include <chrono>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "src/base/cuda.hpp"
#include "tests/gpu/needs_gpus.hpp"
#include "tests/gpu/virtual_gpus.hpp"
#include "tests/gpu/virtual_kernels.hpp"

namespace mgsync::test { namespace {

class carried : public testing::TestWithParam<std::pair<unsigned, unsigned>> {};

TEST_P(carried, values_are_right_and_their_bits_the_same_on_all_gpus) {
  MGSYNC_NEEDS_GPUS(1);
  const auto [gpus, blocks] = GetParam();
  std::vector<unsigned> all(gpus);
  std::iota(all.begin(), all.end(), 0u);
  const virtual_gpus team(blocks, all, std::chrono::milliseconds(5000));
  const auto found = cuda::memory::on_gpu(0, sizeof(carried_findings));
  const auto words = cuda::memory::on_gpu(0, gpus * blocks * sizeof(unsigned));
  cuda::check(cudaMemset(found.get(), 0, sizeof(carried_findings)), "no findings yet");
  const multi_grid_handle* handles = team.handles();
  unsigned* words_at = words.as<unsigned>();
  auto* found_at = found.as<carried_findings>();
  constexpr unsigned launches = 3;
  unsigned rounds = 301, first = 1;  // epochs wrap, and launches begin with either turn
  for (unsigned i = 0; i < launches; ++i, first += rounds) {
    void* arguments[] = {&handles, &first, &rounds, &words_at, &found_at};
    cuda::check(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(carried_rounds_kernel(blocks)),
                                            gpus * blocks, 64, arguments, 0, nullptr),
                "launching slices");
  }
  carried_findings result{};
  cuda::check(cudaMemcpy(&result, found_at, sizeof result, cudaMemcpyDefault), "what was found");
  EXPECT_EQ(result.wrong_sums, 0u);
  EXPECT_EQ(result.wrong_bits, 0u);
  EXPECT_EQ(result.wrong_words, 0u);
  EXPECT_EQ(result.given_up, 0u);
  EXPECT_EQ(result.passed, launches * rounds * gpus * blocks);
}
INSTANTIATE_TEST_SUITE_P(slices, carried,
                         testing::Values(std::pair{2u, 1u}, std::pair{4u, 1u}, std::pair{2u, 8u},
                                         std::pair{3u, 8u}, std::pair{16u, 8u}, std::pair{2u, 64u},
                                         std::pair{4u, 64u}, std::pair{1u, 352u}, std::pair{2u, 352u}),
                         [](const auto& one) {
                           return std::to_string(one.param.first) + "_gpus_of_" +
                                  std::to_string(one.param.second) + "_blocks";
                         });

}}  // namespace mgsync::test
