#include "src/harness/progress_line.hpp"

#include <gtest/gtest.h>

namespace mgsync { namespace {

using std::chrono::seconds;

TEST(time_left, goes_by_the_points_that_are_done) {
  EXPECT_EQ(time_left(seconds(10), seconds(50), 5, 20), "about 30 s left");
  EXPECT_EQ(time_left(seconds(10), seconds(50), 0, 20), "about 40 s left") << "as planned";
  EXPECT_EQ(time_left(seconds(60), seconds(50), 0, 20), "");
  EXPECT_EQ(time_left(seconds(10), seconds(50), 20, 20), "about 0 s left");
  EXPECT_EQ(time_left(seconds(10), seconds(50), 1, 100), "about 40 s left");
  EXPECT_EQ(time_left(seconds(6000), seconds(50), 100, 1000), "about 15 h left");
  EXPECT_EQ(time_left(seconds(60), seconds(50), 1, 100), "") << "too few are done to say";
  EXPECT_EQ(time_left(seconds(16), seconds(8), 1, 8), "") << "of one cell, which the others end with";
  EXPECT_EQ(time_left(seconds(10), seconds(50), 0, 2), "about 40 s left");
  EXPECT_EQ(time_left(seconds(10), seconds(50), 2, 2), "about 0 s left");
  EXPECT_EQ(time_left(seconds(600), seconds(50), 100, 1000), "about 90 min left");
  EXPECT_EQ(time_left(seconds(10), seconds(50), 21, 20), "") << "more than were planned";
}

}}  // namespace mgsync
