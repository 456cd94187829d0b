#include "src/results/values/checksum.hpp"

#include <gtest/gtest.h>

#include <set>

#include "made_up_results.hpp"
#include "src/results/values/point.hpp"

namespace mgsync { namespace {

TEST(checksum, known_answers) {
  EXPECT_EQ(crc32("123456789"), 0xcbf43926U);
  EXPECT_EQ(crc32(""), 0U);
  EXPECT_EQ(fnv1a_64(""), 0xcbf29ce484222325U);
  EXPECT_EQ(fnv1a_64("foobar"), 0x85944171f73967e8U);
  EXPECT_EQ(hex(std::uint32_t{0xab}), "000000ab");
}

TEST(checksum, seals_and_unseals_a_line) {
  const std::string line = seal(R"({"a":1})");
  EXPECT_EQ(line, R"({"a":1,"crc":")" + hex(crc32(R"({"a":1})")) + "\"}");
  EXPECT_EQ(unseal(line), R"({"a":1})");
  for (std::size_t i = 0; i < line.size(); ++i) {
    std::string damaged = line;
    damaged[i] = static_cast<char>(damaged[i] ^ 1);
    EXPECT_FALSE(unseal(damaged)) << i;
    EXPECT_FALSE(unseal(line.substr(0, i))) << i;
  }
}

TEST(key, is_equal_for_equal_points_only) {
  const point one = test::a_point("mpi", "default", 3);
  EXPECT_EQ(canonical_text(one), canonical_text(test::a_point("mpi", "default", 3)));
  std::set<std::string> keys{canonical_text(one)};
  const auto add = [&](auto change) {
    point other = one;
    change(other);
    EXPECT_TRUE(keys.insert(canonical_text(other)).second);
    EXPECT_FALSE(other == one);
    EXPECT_EQ(short_key(other).size(), 16U);
  };
  add([](point& p) { p.study = "launch"; });
  add([](point& p) { p.node = "n1"; });
  add([](point& p) { p.variant = "x"; });
  add([](point& p) { p.device = topology::device::gpu; });
  add([](point& p) { p.ranks = 2; });
  add([](point& p) { p.group = {2, 1, 0}; });
  add([](point& p) { p.placement = "far"; });
  add([](point& p) { p.set(axes::pinned, "no"); });
  add([](point& p) { p.set(axes::oversubscribed, "yes"); });
  add([](point& p) { p.remove(axes::blocks_per_sm); });
  add([](point& p) { p.set(axes::blocks, 1.0); });
  add([](point& p) { p.set(axes::threads_per_block, 32.0); });
  add([](point& p) { p.set(axes::load, "streaming"); });
  add([](point& p) { p.set(axes::work, 1.0, "us"); });
  add([](point& p) { p.set(axes::payload, 2.0, "words"); });
  add([](point& p) { p.set(axes::peer_memory_asked, "ipc"); });
}

}}  // namespace mgsync
