// Overlapping teams in one kernel: slices of one GPU's blocks that stand for GPUs, in all orders of three
// pairs that form a ring; and the library's own path from a group to a team.
#include <algorithm>
#include <chrono>
#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "barriers/library/include/mgsync/multi_grid.h"
#include "barriers/library/include/mgsync/multi_grid.hpp"
#include "src/base/cuda.hpp"
#include "tests/gpu/needs_gpus.hpp"
#include "tests/gpu/virtual_gpus.hpp"
#include "tests/gpu/virtual_kernels.hpp"
#include "tests/race/team_plan.hpp"

namespace mgsync::test { namespace {

using namespace std::chrono_literals;

cuda::memory on_gpu(const std::vector<unsigned>& words) {
  auto memory = cuda::memory::on_gpu(0, words.size() * sizeof words[0]);
  cuda::check(cudaMemcpy(memory.get(), words.data(), words.size() * sizeof words[0], cudaMemcpyDefault),
              "words");
  return memory;
}

struct found_words {
  unsigned wrong, given_up;
};

found_words run(const race::team_plan& plan) {
  virtual_gpus one(plan.blocks, plan.teams[0], 5000ms, plan.members),
      two(plan.blocks, plan.teams[1], 5000ms, plan.members),
      three(plan.blocks, plan.teams[2], 5000ms, plan.members);
  three_teams teams{{one.handles(), two.handles(), three.handles()}};
  std::vector<unsigned> known;
  for (const auto& step : plan.knowledge())
    for (const auto& member : step) known.insert(known.end(), member.begin(), member.end());
  auto count = static_cast<unsigned>(plan.steps.size());
  const auto steps = on_gpu(plan.steps), seen = on_gpu(known);
  const auto words = on_gpu(std::vector<unsigned>(plan.workers() * count)), found = on_gpu({0, 0});
  const unsigned *steps_at = steps.as<unsigned>(), *known_at = seen.as<unsigned>();
  unsigned *words_at = words.as<unsigned>(), *found_at = found.as<unsigned>();
  void* arguments[] = {&teams, &steps_at, &count, &known_at, &words_at, &found_at};
  cuda::check(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(team_rounds_kernel()), plan.workers(),
                                          64, arguments, 0, nullptr),
              "launching slices");
  found_words result{};
  cuda::check(cudaMemcpy(&result, found_at, sizeof result, cudaMemcpyDefault), "what was found");
  EXPECT_FALSE(one.given_up() || two.given_up() || three.given_up());
  return result;
}

TEST(teams, that_overlap_are_barriers_in_every_order) {
  MGSYNC_NEEDS_GPUS(1);
  for (const auto& teams : std::vector<std::vector<std::vector<unsigned>>>{
           {{0, 1}, {1, 2}, {2, 0}}, {{0, 1}, {1, 2}, {0, 1, 2}}, {{1, 0}, {2, 1}, {2}}}) {
    std::vector<unsigned> order{0, 1, 2};
    do {
      race::team_plan plan{3, blocks_of_team_rounds, teams, {}};
      for (unsigned i = 0; i < 300; ++i) plan.steps.push_back(order[i % 3]);
      const auto found = run(plan);
      EXPECT_EQ(found.wrong, 0u);
      EXPECT_EQ(found.given_up, 0u);
    } while (std::next_permutation(order.begin(), order.end()));
  }
}

TEST(teams, of_a_group_have_handles_of_their_own) {
  MGSYNC_NEEDS_GPUS(1);
  multi_grid grids(gpus_here() < 2 ? std::vector<int>{0} : std::vector<int>{0, 1}, 2s);
  grids.resize(8);
  const unsigned last = grids.gpus() - 1, team = grids.make_team({last});
  EXPECT_EQ(team, 1u);
  for (const std::vector<unsigned>& wrong : {std::vector<unsigned>{}, {0, 0}, {grids.gpus()}})
    EXPECT_THROW(grids.make_team(wrong), usage_error);
  for (const unsigned none : {0u, 2u}) EXPECT_THROW(grids.team_handle(none, 8), usage_error);
  EXPECT_THROW(grids.team_handle(1, 9), usage_error) << "not prepared";
  grids.prepare(team_of_group_rounds_kernel(), 16, 64);
  for (const unsigned blocks : {8u, 16u}) {  // known before the team was made, and behind it
    const auto passed = grids.allocate(sizeof(unsigned));
    grids.launch_each(team_of_group_rounds_kernel(), blocks, 64, 0, {}, [&](unsigned local) {
      return std::tuple(grids.team_handle(team, blocks, local), 20u, passed.part_as<unsigned>(last));
    });
    grids.wait();
    unsigned count = 0;
    ASSERT_EQ(cudaMemcpy(&count, passed.part(last), sizeof count, cudaMemcpyDefault), cudaSuccess);
    EXPECT_EQ(count, 20 * blocks * 64);
  }
  grids.reset();
  EXPECT_EQ(grids.team_handle(team, 8, grids.local_gpus() - 1).gpus, 1u);
}

// Every two neighbours of all GPUs here are a team, whose members are named in turn from the lower and from
// the higher rank.
TEST(teams, of_real_gpus_overlap) {
  MGSYNC_NEEDS_GPUS(2);
  std::vector<int> gpus(static_cast<std::size_t>(gpus_here()));
  std::iota(gpus.begin(), gpus.end(), 0);
  multi_grid grids(gpus, 5s);
  std::vector<unsigned> pairs;
  for (unsigned g = 0; g + 1 < grids.gpus(); ++g)
    pairs.push_back(g % 2 == 0 ? grids.make_team({g, g + 1}) : grids.make_team({g + 1, g}));
  constexpr unsigned rounds = 10000, threads = 64;
  for (const unsigned blocks : {1u, 8u, 132u, 528u}) {
    grids.prepare(pairs_of_group_rounds_kernel(), blocks, threads);
    const auto words = grids.allocate(blocks * sizeof(unsigned));
    const auto findings = grids.allocate(2 * sizeof(unsigned));
    grids.launch_each(pairs_of_group_rounds_kernel(), blocks, threads, 0, {}, [&](unsigned local) {
      const auto with = [&](unsigned pair) {
        return pair < pairs.size() ? grids.team_handle(pairs[pair], blocks, local) : multi_grid_handle{};
      };
      const auto words_of = [&](unsigned gpu) {
        return gpu < grids.gpus() ? words.part_as<unsigned>(gpu) : nullptr;
      };
      return std::tuple(with(local - 1), with(local), rounds, words_of(local), words_of(local - 1),
                        words_of(local + 1), findings.part_as<unsigned>(local));
    });
    grids.wait();
    for (unsigned g = 0; g < grids.gpus(); ++g) {
      unsigned found[2] = {};
      ASSERT_EQ(cudaMemcpy(found, findings.part(g), sizeof found, cudaMemcpyDefault), cudaSuccess);
      EXPECT_EQ(found[0], rounds * blocks * threads) << "GPU " << g << " with " << blocks << " blocks";
      EXPECT_EQ(found[1], 0u) << "GPU " << g << " with " << blocks << " blocks";
    }
  }
}

// What the C interface refuses, and why.
void expect_refused(mgsync_multi_grid* grids, const std::vector<int>& ranks, const std::string& why) {
  int team = 7;
  EXPECT_EQ(mgsync_multi_grid_make_team(grids, &team, ranks.data(), static_cast<int>(ranks.size())),
            MGSYNC_USAGE);
  EXPECT_EQ(mgsync_last_error(), why);
  EXPECT_EQ(team, 0);
}

TEST(teams, of_a_group_are_made_in_c) {
  MGSYNC_NEEDS_GPUS(1);
  const int gpus[] = {0, 1}, count = gpus_here() < 2 ? 1 : 2, last = count - 1;
  mgsync_multi_grid* grids = nullptr;
  ASSERT_EQ(mgsync_multi_grid_create(&grids, gpus, count, 2), MGSYNC_SUCCESS) << mgsync_last_error();
  ASSERT_EQ(mgsync_multi_grid_resize(grids, 8), MGSYNC_SUCCESS) << mgsync_last_error();
  const std::size_t size = mgsync_multi_grid_handle_size();
  std::vector<std::vector<char>> handles(static_cast<std::size_t>(count), std::vector<char>(size));
  const auto handle_of = [&](int team, unsigned blocks, int local, std::size_t room) {
    return mgsync_multi_grid_team_handle(grids, team, blocks, local, handles[0].data(), room);
  };
  EXPECT_EQ(handle_of(1, 8, 0, size), MGSYNC_USAGE) << "none has been made";
  const auto of_all = std::to_string(count);
  const std::string each =
      " here: it takes grids of the group, 0 to " + std::to_string(last) + ", each once at most";
  expect_refused(grids, {}, "a team of 0 grids: it takes 1 to " + of_all + ", those of the group");
  expect_refused(grids, {0, 1, 0}, "a team of 3 grids: it takes 1 to " + of_all + ", those of the group");
  expect_refused(grids, {-1}, "no team with grid -1" + each);
  expect_refused(grids, {count}, "no team with grid " + of_all + each);
  if (count == 2) expect_refused(grids, {1, 1}, "no team with grid 1" + each);
  int team = 0;
  EXPECT_EQ(mgsync_multi_grid_make_team(grids, &team, nullptr, 1), MGSYNC_USAGE);
  EXPECT_STREQ(mgsync_last_error(), "grid_ranks is null");
  EXPECT_EQ(mgsync_multi_grid_make_team(grids, nullptr, &last, 1), MGSYNC_USAGE);
  EXPECT_STREQ(mgsync_last_error(), "team is null");
  ASSERT_EQ(mgsync_multi_grid_make_team(grids, &team, &last, 1), MGSYNC_SUCCESS) << mgsync_last_error();
  EXPECT_EQ(team, 1);
  EXPECT_EQ(handle_of(-1, 8, 0, size), MGSYNC_USAGE);
  EXPECT_EQ(handle_of(2, 8, 0, size), MGSYNC_USAGE);
  EXPECT_EQ(handle_of(team, 9, 0, size), MGSYNC_USAGE) << "not prepared";
  EXPECT_EQ(handle_of(team, 8, count, size), MGSYNC_USAGE);
  EXPECT_EQ(handle_of(team, 8, -1, size), MGSYNC_USAGE);
  EXPECT_EQ(handle_of(team, 8, 0, size - 1), MGSYNC_USAGE);
  EXPECT_EQ(mgsync_multi_grid_team_handle(grids, team, 8, 0, nullptr, size), MGSYNC_USAGE);
  EXPECT_STREQ(mgsync_last_error(), "handle is null");

  const auto passed = cuda::memory::on_gpu(last, sizeof(unsigned));
  ASSERT_EQ(cudaMemset(passed.get(), 0, sizeof(unsigned)), cudaSuccess);
  unsigned rounds = 20, *into = passed.as<unsigned>();
  std::vector<std::vector<void*>> arguments;
  std::vector<mgsync_launch> launches;
  for (int l = 0; l < count; ++l) {
    auto& handle = handles[static_cast<std::size_t>(l)];
    ASSERT_EQ(mgsync_multi_grid_team_handle(grids, team, 8, l, handle.data(), size), MGSYNC_SUCCESS);
    arguments.push_back({nullptr, handle.data(), &rounds, &into});
  }
  for (auto& of_one : arguments)
    launches.push_back({reinterpret_cast<const void*>(team_of_group_rounds_kernel()),
                        {8, 1, 1},
                        {64, 1, 1},
                        of_one.data(),
                        0,
                        nullptr});
  ASSERT_EQ(mgsync_multi_grid_launch(grids, launches.data(), count), MGSYNC_SUCCESS) << mgsync_last_error();
  ASSERT_EQ(mgsync_multi_grid_wait(grids), MGSYNC_SUCCESS) << mgsync_last_error();
  unsigned threads = 0;
  ASSERT_EQ(cudaMemcpy(&threads, into, sizeof threads, cudaMemcpyDefault), cudaSuccess);
  EXPECT_EQ(threads, rounds * 8 * 64);
  EXPECT_EQ(mgsync_multi_grid_destroy(grids), MGSYNC_SUCCESS);
}

}}  // namespace mgsync::test
