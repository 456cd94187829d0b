#include "topology/subset_search.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <random>

#include "build_kind.hpp"

namespace mgsync::topology { namespace {

using costs = std::vector<std::vector<int>>;

pair_cost of(int value) { return {{0, value, -value / 2}}; }

subset solve(const costs& c, int wanted) {
  return cheapest_subset(static_cast<int>(c.size()), wanted, [&](int a, int b) {
    return of(c[static_cast<std::size_t>(a)][static_cast<std::size_t>(b)]);
  });
}

// Every subset, in the order of its numbers: the definition.
std::vector<int> by_definition(const costs& c, int wanted) {
  std::vector<int> best;
  pair_cost least;
  for (unsigned mask = 0; mask < 1U << c.size(); ++mask) {
    if (std::popcount(mask) != wanted) continue;
    std::vector<int> chosen;
    for (unsigned i = 0; i < c.size(); ++i)
      if ((mask >> i & 1U) != 0) chosen.push_back(static_cast<int>(i));
    pair_cost sum;
    for (std::size_t i = 0; i < chosen.size(); ++i)
      for (std::size_t j = i + 1; j < chosen.size(); ++j)
        sum += of(c[static_cast<std::size_t>(chosen[i])][static_cast<std::size_t>(chosen[j])]);
    if (best.empty() || sum < least || (sum == least && chosen < best)) {
      best = chosen;
      least = sum;
    }
  }
  return best;
}

TEST(subset_search, equals_the_definition_on_random_costs) {
  std::mt19937 random(1);
  for (int round = 0; round < 60; ++round) {
    const std::size_t n = 2 + random() % 9;
    const int kinds = 1 + static_cast<int>(random() % 4);
    costs c(n, std::vector<int>(n, 0));
    for (std::size_t a = 0; a < n; ++a)
      for (std::size_t b = a + 1; b < n; ++b)
        c[a][b] = c[b][a] = static_cast<int>(random() % 100) % kinds * 3;
    for (int wanted = 1; wanted <= static_cast<int>(n); ++wanted) {
      const auto found = solve(c, wanted);
      EXPECT_TRUE(found.exact);
      EXPECT_EQ(found.chosen, by_definition(c, wanted)) << "round " << round << ", " << wanted << " of " << n;
    }
  }
}

TEST(subset_search, equals_the_definition_on_trees) {
  std::mt19937 random(2);
  for (int round = 0; round < 40; ++round) {
    constexpr std::size_t n = 10;
    costs c(n, std::vector<int>(n, 0));
    std::vector<int> order(n);
    for (std::size_t i = 0; i < n; ++i) order[i] = static_cast<int>(random() % 8);  // place in a binary tree
    for (std::size_t a = 0; a < n; ++a)
      for (std::size_t b = 0; b < n; ++b) {
        int level = 0;
        while (order[a] >> level != order[b] >> level) ++level;
        c[a][b] = a == b ? 0 : (level * 7) % 4;
      }
    for (int wanted = 1; wanted <= static_cast<int>(n); ++wanted)
      EXPECT_EQ(solve(c, wanted).chosen, by_definition(c, wanted));
  }
}

TEST(subset_search, nothing_wanted_or_nothing_there) {
  EXPECT_TRUE(solve({}, 0).chosen.empty());
  EXPECT_TRUE(solve({{0}}, 0).chosen.empty());
  EXPECT_EQ(solve({{0}}, 1).chosen, std::vector{0});
}

// The slowest of all 16-GPU machines is one without any structure.
double milliseconds(const costs& c, int wanted) {
  double best = 1e9;
  for (int i = 0; i < 5; ++i) {
    const double start = test::cpu_ms();
    solve(c, wanted);
    best = std::min(best, test::cpu_ms() - start);
  }
  return best;
}

TEST(subset_search, sixteen_without_structure_in_ten_milliseconds) {
  std::mt19937 random(3);
  costs c(16, std::vector<int>(16, 0));
  for (std::size_t a = 0; a < 16; ++a)
    for (std::size_t b = a + 1; b < 16; ++b) c[a][b] = c[b][a] = static_cast<int>(random() % 1000);
  EXPECT_LT(milliseconds(c, 8), 10 * test::slack);
}

TEST(subset_search, seventy_two_in_one_domain_in_a_second) {
  costs c(72, std::vector<int>(72, 0));
  for (std::size_t a = 0; a < 72; ++a)
    for (std::size_t b = 0; b < 72; ++b) c[a][b] = a / 4 == b / 4 ? (a / 2 == b / 2 ? 1 : 2) : 3;
  EXPECT_TRUE(solve(c, 36).exact);
  EXPECT_LT(milliseconds(c, 36), 1000 * test::slack);
}

TEST(subset_search, large_and_shapeless_ends_and_says_that_it_is_a_guess) {
  std::mt19937 random(4);
  costs c(256, std::vector<int>(256, 0));
  for (std::size_t a = 0; a < 256; ++a)
    for (std::size_t b = a + 1; b < 256; ++b) c[a][b] = c[b][a] = static_cast<int>(random() % 1000);
  const auto found = solve(c, 100);
  EXPECT_FALSE(found.exact);
  EXPECT_EQ(found.chosen.size(), 100U);
}

}}  // namespace mgsync::topology
