// What a group keeps of its blocks and kernels on the host, as values: who had not arrived, and which kernels
// are known to fit.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "barriers/library/fitting_kernels.hpp"
#include "barriers/library/missing.hpp"
#include "barriers/parts/algorithm/layout.hpp"

namespace {

using namespace mgsync::library;

constexpr std::uint32_t start = mgsync::algorithm::first_gpu_epoch;

absence missing(std::uint32_t before) {
  const std::uint32_t ahead = before + 1;
  return who_is_missing({{0, "GPU 0 (grid 0)", {ahead, ahead, ahead}},
                         {1, "GPU 1 (grid 1)", {ahead, before, ahead}},
                         {2, "GPU 2 (grid 2)", {before, before}},
                         {3, "GPU 0 of process 1 (grid 3)", {before}, false}});
}

TEST(missing, is_who_is_behind_the_furthest) {
  EXPECT_EQ(missing(start + 6).text, "barrier 7: not arrived: GPU 1 (grid 1): block 1; GPU 2 (grid 2): all 2 "
                                     "blocks; GPU 0 of process 1 (grid 3)");
  EXPECT_EQ(who_is_missing({{0, "GPU 0 (grid 0)", {start + 3, start + 3}}}).text,
            "barrier 3: all arrived in the end, but too late");
  EXPECT_EQ(who_is_missing({}).text, "no kernel was waiting");
}
// The same as values, for programs.
TEST(missing, is_grids_and_their_blocks) {
  const auto who = missing(start + 6).who;
  ASSERT_EQ(who.size(), 3u);
  EXPECT_EQ(who[0].grid_rank, 1u);
  EXPECT_EQ(who[0].blocks, std::vector<unsigned>{1});
  EXPECT_EQ(who[1].grid_rank, 2u);
  EXPECT_EQ(who[1].blocks, (std::vector<unsigned>{0, 1}));
  EXPECT_EQ(who[2].grid_rank, 3u);
  EXPECT_TRUE(who[2].blocks.empty()) << "of another process nobody sees blocks";
  EXPECT_TRUE(who_is_missing({{0, "GPU 0 (grid 0)", {start + 3, start + 3}}}).who.empty());
}
TEST(missing, says_whether_it_was_the_first_barrier) {
  EXPECT_TRUE(missing(start).first);
  EXPECT_FALSE(missing(start + 1).first);
}
// The count of barriers wraps in a kernel that runs for an hour; who is behind does not change sides there.
TEST(missing, is_the_same_where_the_count_wraps) {
  for (const std::uint32_t count : {0xffffffffu, 0x7fffffffu, 0x80000000u, 0xffffffffu - start}) {
    const auto text = missing(start + count).text;
    EXPECT_NE(text.find("GPU 1 (grid 1): block 1; GPU 2 (grid 2): all 2 blocks; GPU 0 of process 1"),
              std::string::npos)
        << text;
    EXPECT_EQ(text.find("GPU 0 (grid 0)"), std::string::npos) << text;
  }
}

// What another process's GPU told: the epoch of its last round that released, and how many did not.
TEST(missing, of_another_process_is_told_from_both_kinds_of_rounds) {
  const std::uint32_t own = start + 9;
  EXPECT_EQ(epoch_of_other(own, {own, 3}, {own, 3}), own);
  EXPECT_EQ(epoch_of_other(own, {own - 2, 5}, {own - 2, 4}), own - 1) << "missed one that did not release";
  EXPECT_EQ(epoch_of_other(own, {own - 2, 5}, {own - 2, 6}), own + 1) << "came to one that does not";
  EXPECT_EQ(epoch_of_other(own, {own, 5}, {own - 6, 5}), own - 1) << "missed one that released, behind five";
  EXPECT_EQ(epoch_of_other(own, {own - 5, 5}, {own + 1, 5}), own + 1) << "came to one that releases";
  EXPECT_EQ(epoch_of_other(0u, {0xfffffff0u, 16}, {1u, 16}), 1u) << "where the count wraps";
}

TEST(fitting_kernels, that_alternate_are_all_known) {
  const int kernels[3] = {};
  fitting_kernels known;
  for (unsigned k = 0; k < 3; ++k) known.keep({&kernels[k], 256, 0}, k + 1);
  known.keep({&kernels[0], 256, 4096}, 7);
  for (unsigned k = 0; k < 3; ++k) EXPECT_EQ(known.at_once({&kernels[k], 256, 0}), k + 1);
  EXPECT_EQ(known.at_once({&kernels[0], 256, 4096}), 7u);
  EXPECT_EQ(known.at_once({&kernels[0], 128, 0}), 0u);
}
TEST(fitting_kernels, are_not_more_than_there_is_room_for) {
  fitting_kernels known;
  for (std::size_t bytes = 0; bytes < 10 * fitting_kernels::most; ++bytes)
    known.keep({nullptr, 32, bytes}, 1);
  std::size_t kept = 0;
  for (std::size_t bytes = 0; bytes < 10 * fitting_kernels::most; ++bytes)
    kept += known.at_once({nullptr, 32, bytes});
  EXPECT_LE(kept, fitting_kernels::most);
  EXPECT_EQ(known.at_once({nullptr, 32, 10 * fitting_kernels::most - 1}), 1u);
}

}  // namespace
