#include "src/base/units.hpp"

#include <gtest/gtest.h>

namespace mgsync { namespace {

TEST(units, of_time_and_memory_are_converted) {
  EXPECT_EQ(in_unit("2", "s"), 2.0);
  EXPECT_EQ(in_unit("500ms", "s"), 0.5);
  EXPECT_EQ(in_unit("1.5h", "min"), 90.0);
  EXPECT_EQ(whole_in_unit("20", "us"), 20u);
  EXPECT_EQ(whole_in_unit("20us", "us"), 20u);
  EXPECT_EQ(whole_in_unit("20ms", "us"), 20'000u);
  EXPECT_EQ(whole_in_unit("0.3ms", "us"), 300u);
  EXPECT_EQ(whole_in_unit("5000ns", "us"), 5u);
  EXPECT_EQ(whole_in_unit("1MiB", "B"), 1u << 20);
  EXPECT_EQ(whole_in_unit("1MB", "B"), 1'000'000u);
  EXPECT_EQ(whole_in_unit("64kB", "B"), 64'000u);
  EXPECT_EQ(whole_in_unit("18446744073709551615", "B"), 18446744073709551615u);
}

TEST(units, other_text_is_no_number_of_them) {
  for (const char* wrong : {"", "us", "-1us", "-1", "1d", "1 us", " 1us", "nan", "nanus", "inf", "1e999s",
                            "0x1", "1e3", "1.5", "1,5us", "1KiB", "0.5ns", "1US"})
    EXPECT_EQ(whole_in_unit(wrong, "us"), std::nullopt) << wrong;
  EXPECT_EQ(whole_in_unit("1ms", "B"), std::nullopt);
  EXPECT_EQ(whole_in_unit("0.5B", "B"), std::nullopt);
}

TEST(units, are_told_in_words) {
  EXPECT_EQ(size_in_words(76), "76 B");
  EXPECT_EQ(size_in_words(65536), "64 KiB");
  EXPECT_EQ(size_in_words(1536 * 1048576.0), "1.5 GiB");
  EXPECT_EQ(counted(1, "GPU"), "1 GPU");
  EXPECT_EQ(counted(0, "GPU"), "0 GPUs");
  EXPECT_EQ(counted(2, "process", "es"), "2 processes");
}

TEST(units, of_what_is_large_have_no_exponent) {
  EXPECT_EQ(in_digits(12.345, 3), "12.3");
  EXPECT_EQ(in_digits(1341.7, 3), "1340");
  EXPECT_EQ(in_digits(1e6, 4), "1000000");
  EXPECT_EQ(in_digits(0.00012345, 3), "0.000123");
}

}}  // namespace mgsync
