#include "src/results/comparison/drift.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include <fmt/format.h>

namespace mgsync { namespace {

// So many days of November, three values each, that rise by `a_day` and scatter by `deviation`.
std::map<std::string, std::vector<double>> days(int count, double a_day, double deviation,
                                                unsigned seed = 1) {
  std::mt19937 random(seed);
  std::normal_distribution<double> off(0, deviation);
  std::map<std::string, std::vector<double>> all;
  for (int day = 0; day < count; ++day)
    for (int i = 0; i < 3; ++i)
      all[fmt::format("2026-11-{:02}", day + 1)].push_back(a_day * day + off(random));
  return all;
}

std::vector<drift> alone(std::map<std::string, std::vector<double>> of_days) {
  return drifts_of({{"n1", std::move(of_days)}});
}

TEST(drift, a_steady_one_is_found_and_measured) {
  const auto found = alone(days(28, 0.003, 0.004));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NEAR(std::log(found[0].times), 27 * 0.003, 0.01);
  EXPECT_LT(found[0].scatter, 0.006);
  EXPECT_TRUE(
      words_of(found[0]).ends_with("slower from 2026-11-01 to 2026-11-28, steadily: a day is off that "
                                   "line by " +
                                   fmt::format("{:.1f} %", 100 * found[0].scatter)))
      << words_of(found[0]);
  EXPECT_LT(alone(days(28, -0.003, 0.004)).at(0).times, 1);
}

TEST(drift, scatter_few_days_and_little_change_are_none) {
  std::size_t false_ones = 0;
  for (unsigned seed = 0; seed < 500; ++seed) false_ones += alone(days(28, 0, 0.02, seed)).size();
  EXPECT_EQ(false_ones, 0U);
  EXPECT_TRUE(alone(days(28, 0.0005, 0.0001)).empty()) << "1.4 %";
  EXPECT_TRUE(alone(days(5, 0.01, 0.0001)).empty());
  EXPECT_FALSE(alone(days(6, 0.01, 0.0001)).empty());
  EXPECT_TRUE(drifts_of({}).empty());
  auto odd = days(6, 0.01, 0.0001);
  odd["no day"] = {9};
  EXPECT_EQ(alone(odd).at(0).last, "2026-11-06");
  auto jump = days(28, 0, 0.004);
  jump["2026-11-28"] = {1, 1, 1};
  EXPECT_TRUE(alone(jump).empty()) << "a single day far off";
}

TEST(drift, what_all_nodes_do_is_no_nodes_drift) {
  series_of_nodes all;
  for (unsigned n = 0; n < 8; ++n) all[fmt::format("n{}", n)] = days(20, n == 3 ? 0.006 : 0.003, 0.002, n);
  const auto found = drifts_of(all);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].node, "n3");
  EXPECT_EQ(drift_table(found).rows.size(), 1U);
  // One of very many nodes rises for a week by chance.
  series_of_nodes many;
  for (unsigned n = 0; n < 1000; ++n) many[fmt::format("n{}", n)] = days(6, n == 3 ? 0.01 : 0, 0.0001, n);
  EXPECT_TRUE(drifts_of(many).empty());
}

}}  // namespace mgsync
