// Packed files: what is packed comes back, and what is cut off is refused.
#include "src/results/files/packed_text.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <chrono>
#include <string>

#include "src/base/child_process.hpp"
#include "src/base/errors.hpp"
#include "tests/unit/refused.hpp"

namespace mgsync { namespace {

TEST(packed_text, comes_back_and_is_smaller) {
  if (!can_pack()) GTEST_SKIP() << "built without liblzma";
  std::string text;
  for (int i = 0; i < 50000; ++i) text += "{\"latency\": " + std::to_string(i % 977) + "}\n";
  const auto small = packed(text);
  EXPECT_LT(small.size(), text.size() / 10);
  EXPECT_EQ(unpacked(small, "a.json.xz"), text);
  EXPECT_EQ(unpacked(packed(""), "empty.json.xz"), "");
}

TEST(packed_text, leaves_what_is_not_packed_as_it_is) {
  EXPECT_EQ(unpacked("{}", "a.json"), "{}");
  EXPECT_EQ(unpacked("", "a.json"), "");
}

TEST(packed_text, that_is_cut_off_or_changed_is_refused_with_the_files_name) {
  if (!can_pack()) GTEST_SKIP() << "built without liblzma";
  auto bytes = packed(std::string(5000, 'x') + "y");
  const auto refused = [](std::string damaged) {
    try {
      unpacked(std::move(damaged), "b.json.xz");
      return std::string();
    } catch (const usage_error& error) { return std::string(error.what()); }
  };
  EXPECT_NE(refused(bytes.substr(0, bytes.size() - 20)).find("b.json.xz: the packed file is damaged"),
            std::string::npos);
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 0x55);
  EXPECT_NE(refused(bytes), "");
}

// 35 KB that are 4 GiB: what is more than is read is noticed while it is unpacked.
TEST(packed_text, of_far_more_than_is_read_is_refused_before_it_takes_the_memory) {
  if (!can_pack()) GTEST_SKIP() << "built without liblzma";
  const auto some = packed(std::string(std::size_t{4} << 20, '0'));
  std::string bytes;
  for (int i = 0; i < 1024; ++i) bytes += some;
  rusage before{}, after{};
  getrusage(RUSAGE_SELF, &before);
  EXPECT_EQ(test::refused([&] { unpacked(bytes, "c.json.xz"); }),
            "c.json.xz: larger than 256 MiB once it is unpacked");
  getrusage(RUSAGE_SELF, &after);
  EXPECT_LT(after.ru_maxrss - before.ru_maxrss, 1L << 20);  // KiB
  EXPECT_EQ(unpacked(bytes.substr(0, 2 * some.size()), "d.json.xz").size(), std::size_t{8} << 20);
}

// "{}", packed, and a header that asks for a dictionary of 1.5 GiB to unpack it.
constexpr char asks_for_much[] =
    "\xfd\x37\x7a\x58\x5a\x00\x00\x01\x69\x22\xde\x36\x02\x00\x21\x01\x25\x00\x00\x00"
    "\x3b\x78\x7b\x41\x01\x00\x01\x7b\x7d\x00\x00\x00\x43\xbf\xa6\xa3\x00\x01\x16\x02"
    "\xd0\x61\x10\xd2\x90\x42\x99\x0d\x01\x00\x00\x00\x00\x01\x59\x5a";
const std::string much(asks_for_much, sizeof asks_for_much - 1);
TEST(packed_text, that_asks_for_more_memory_than_any_file_needs_is_refused) {
  if (!can_pack()) GTEST_SKIP() << "built without liblzma";
  EXPECT_EQ(test::refused([&] { unpacked(much, "f.json.xz"); }),
            "f.json.xz: the packed file is damaged or cut off");
}

// Two million packed texts of nothing: that they come to no size does not make them endless.
TEST(packed_text, that_takes_too_long_is_refused_while_it_is_unpacked) {
  if (!can_pack()) GTEST_SKIP() << "built without liblzma";
  const auto nothing = packed("");
  std::string bytes;
  for (int i = 0; i < 2'000'000; ++i) bytes += nothing;
  const auto began = std::chrono::steady_clock::now();
  EXPECT_EQ(test::refused([&] { unpacked(bytes, "e.json.xz", std::chrono::milliseconds(20)); }),
            "e.json.xz: not unpacked to its end within 0.02 s");
  const auto refused_after = std::chrono::steady_clock::now() - began;
  EXPECT_EQ(unpacked(bytes, "e.json.xz", std::chrono::minutes(10)), "");
  EXPECT_LT(2 * refused_after, std::chrono::steady_clock::now() - began);
}

// What a build without liblzma does.
TEST(packed_text, is_unpacked_by_the_program_xz_too) {
  if (!can_pack() || find_in_path("xz").empty()) GTEST_SKIP() << "built without liblzma, or no xz here";
  const auto text = std::string(300'000, 'x') + "y";
  const auto bytes = packed(text);
  EXPECT_EQ(unpacked_by_xz(bytes, "a.json.xz"), text);
  EXPECT_EQ(test::refused([&] { unpacked_by_xz(bytes.substr(0, bytes.size() - 20), "b.json.xz"); }),
            "b.json.xz: the packed file is damaged or cut off");
  const auto some = packed(std::string(std::size_t{64} << 20, '0'));
  const auto large = some + some + some + some + some;
  EXPECT_EQ(test::refused([&] { unpacked_by_xz(large, "c.json.xz", std::chrono::minutes(5)); }),
            "c.json.xz: larger than 256 MiB once it is unpacked");
  EXPECT_EQ(test::refused([&] { unpacked_by_xz(much, "e.json.xz"); }),
            "e.json.xz: the packed file is damaged or cut off");
  EXPECT_EQ(test::refused([&] { unpacked_by_xz(large, "d.json.xz", std::chrono::milliseconds(1)); }),
            "d.json.xz: not unpacked to its end within 0.001 s");
}

TEST(packed_text, of_a_folder_is_wrong_use) {
  try {
    read_text("/", "a file of --json");
    FAIL() << "a folder was read";
  } catch (const usage_error& error) {
    EXPECT_EQ(std::string(error.what()), "/: the file cannot be read; accepted: a file of --json");
  }
}

TEST(packed_text, is_known_by_its_name) {
  EXPECT_TRUE(is_packed_name("docs/results/h200x1/reduction.json.xz"));
  EXPECT_FALSE(is_packed_name("h200x1-reduction.json"));
}

}}  // namespace mgsync
