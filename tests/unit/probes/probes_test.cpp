// What a launch of a probe saw, and which machine code a GPU runs, as values.
#include <gtest/gtest.h>

#include "src/probes/probe_image.hpp"
#include "src/probes/probe_seen.hpp"

namespace mgsync::probes { namespace {

TEST(image_for, takes_the_newest_of_the_same_major_version) {
  const std::byte some[1]{};
  const image images[] = {{75, some}, {80, some}, {86, some}, {90, some}};
  EXPECT_EQ(image_for(images, 9, 0)->architecture, 90u);
  EXPECT_EQ(image_for(images, 8, 9)->architecture, 86u);
  EXPECT_EQ(image_for(images, 8, 0)->architecture, 80u);
  EXPECT_EQ(image_for(images, 10, 0), nullptr);
  EXPECT_EQ(image_for(images, 7, 0), nullptr);
}

TEST(probe_seen, latency_is_from_the_last_to_arrive_to_the_first_to_leave) {
  probe_seen saw;
  saw.asked.passes = 3;
  saw.warps = 4;
  saw.sm_at_start = {7, 7, 9, 7};
  saw.sm_at_end = {7, 7, 9, 8};  // the last one moved: left out
  const auto pass = [](std::uint64_t at) {
    return std::vector<stamp>{{at, at + 50}, {at + 10, at + 45}, {5, 25}, {at, at + 900}};
  };
  for (const std::uint64_t at : {1000u, 2000u, 3000u})
    for (const auto& s : pass(at)) saw.stamps.push_back(s);
  const auto passes = saw.passes();
  ASSERT_EQ(passes.size(), 4u) << "two passes (the first is dropped) of two SMs";
  EXPECT_EQ(passes[0].sm, 7u);
  EXPECT_EQ(passes[0].warps, 2u);
  EXPECT_EQ(passes[0].latency_cycles, 35);
  EXPECT_EQ(passes[0].span_cycles, 50u);
  EXPECT_EQ(passes[1].sm, 9u);
  EXPECT_EQ(saw.latency_cycles(), (std::vector<std::int64_t>{35, 35}));
}

// Two blocks on one SM, the second of which entered one window later: its pass 1 ran beside the other's
// pass 2.
TEST(probe_seen, passes_that_start_at_windows_are_those_of_one_window) {
  probe_seen saw;
  saw.asked.passes = 3;
  saw.asked.window_log2_ns = 10;
  saw.warps = 2;
  saw.sm_at_start = saw.sm_at_end = {0, 0};
  saw.stamps = {{1000, 1100}, {3000, 3100}, {3000, 3110}, {5010, 5200}, {5000, 5100}, {7000, 7100}};
  const auto passes = saw.passes();
  ASSERT_EQ(passes.size(), 1u) << "only the window at 5000 has both";
  EXPECT_EQ(passes[0].span_cycles, 200u);
  EXPECT_EQ(passes[0].warps, 2u);
}

TEST(probe_seen, a_stamp_without_an_end_is_no_sample) {
  probe_seen saw;
  saw.asked.passes = 2;
  saw.warps = 1;
  saw.sm_at_start = saw.sm_at_end = {0};
  saw.stamps = {{10, 20}, {30, 0}};
  EXPECT_TRUE(saw.passes().empty());
}

}}  // namespace mgsync::probes
