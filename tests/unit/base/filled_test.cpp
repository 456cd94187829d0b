#include "src/base/filled.hpp"

#include <gtest/gtest.h>

namespace mgsync { namespace {

TEST(filled, has_each_value_in_its_place) {
  EXPECT_EQ(filled("nothing to fill in"), "nothing to fill in");
  EXPECT_EQ(filled("{} blocks on GPU {}", 4u, -1), "4 blocks on GPU -1");
  EXPECT_EQ(filled("{}{}: {}", 'u', std::string("process"), "why {}"), "uprocess: why {}");
  EXPECT_EQ(filled("{} s, {} s", 0.25, 1e9), "0.25 s, 1e+09 s");
  EXPECT_EQ(filled("{}", ~0ull), "18446744073709551615");
}

}}  // namespace mgsync
