// How many blocks make load, and where there is no room for them. Needs no GPU.
#include <gtest/gtest.h>

#include "barriers/parts/round_loop/load_maker.hpp"

namespace mgsync::round_loop { namespace {

constexpr unsigned sms = 132;

load stores(unsigned blocks, load_sms sms) { return {traffic::peer_stores, blocks, 128, sms}; }

TEST(load_blocks, others_are_the_sms_that_the_barrier_leaves) {
  EXPECT_EQ(blocks_of_load(stores(0, load_sms::others), 1, sms).blocks, 131u);
  EXPECT_EQ(blocks_of_load(stores(16, load_sms::others), 1, sms).blocks, 16u);
  EXPECT_EQ(blocks_of_load(stores(131, load_sms::others), 1, sms).blocks, 131u);
  EXPECT_NE(blocks_of_load(stores(132, load_sms::others), 1, sms).reason, "");
  EXPECT_NE(blocks_of_load(stores(17, load_sms::others), 116, sms).reason, "");
  EXPECT_NE(blocks_of_load(stores(1, load_sms::others), 132, sms).reason.find("@all"), std::string::npos);
}

TEST(load_blocks, all_are_as_many_as_sms_or_a_multiple) {
  EXPECT_EQ(blocks_of_load(stores(0, load_sms::all), 528, sms).blocks, 132u);
  EXPECT_EQ(blocks_of_load(stores(264, load_sms::all), 1, sms).blocks, 264u);
  EXPECT_NE(blocks_of_load(stores(16, load_sms::all), 1, sms).reason, "");
}

}}  // namespace mgsync::round_loop
