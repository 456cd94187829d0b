// What is measured of each kernel, how it is timed and how it is checked, with subjects that are values.
#include "src/studies/pipeline/kernel_rows.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "src/base/errors.hpp"
#include "src/studies/pipeline/evaluation.hpp"
#include "src/studies/pipeline/kernel_checkers.hpp"
#include "src/studies/pipeline/rows_in_turn.hpp"

namespace mgsync::pipeline { namespace {

constexpr gpu_room h200{132, 232448};

std::map<std::string, int> sets_of(const std::vector<product_row>& rows) {
  std::map<std::string, int> counts;
  for (const auto& r : rows) ++counts[r.set];
  return counts;
}

TEST(kernel_rows, calibration_never_has_a_size_that_is_held_out) {
  const std::vector<std::string> all_sizes{"paper", "random", "large", "96x96x64"};
  for (const gemm_family* family : gemm_families)
    for (int i = 0; i < static_cast<int>(family->instances.size()); ++i) {
      const auto rows = product_settings({family, i, 1}, h200, read_sizes(all_sizes));
      const auto counts = sets_of(rows);
      EXPECT_EQ(counts.at("grid") + (counts.contains("grid-known") ? counts.at("grid-known") : 0), 512);
      EXPECT_GE(counts.at("grid"), 500);
      EXPECT_GE(counts.at("random"), 38);
      EXPECT_EQ(counts.at("asked"), 1);
      std::set<std::tuple<int, int, int>> seen;
      for (const auto& r : rows)
        if (is_held_out(r)) seen.insert({r.size.m, r.size.n, r.size.k});
      for (const auto& r : rows) {
        const bool calibrates = !is_held_out(r) && r.loads && r.math && r.epilogue;
        EXPECT_FALSE(calibrates && seen.contains({r.size.m, r.size.n, r.size.k}))
            << family->name << " " << i << ": " << text(r.size);
        EXPECT_LE(r.buffers, buffers_that_fit(r.tile, h200));
        EXPECT_GE(r.buffers, 1);
      }
    }
}

TEST(kernel_rows, calibration_has_rows_of_k_that_begin_anywhere_and_products_that_leave_the_l2_cache) {
  for (const gemm_family* family : gemm_families)
    for (int i = 0; i < static_cast<int>(family->instances.size()); ++i) {
      std::map<std::pair<std::string, int>, std::set<int>> stages_by_start;
      double most = 0, tall = 0;
      int waves_of_wide = 0;
      for (const auto& r : product_settings({family, i, 1}, h200, {})) {
        if (r.set == "start" || r.set == "many")
          stages_by_start[{r.set, row_start_bytes(r.size.k)}].insert(stages(r.size, r.tile));
        if (r.set == "many") most = std::max(most, megabytes_of(r.size));
        if (r.set == "tall") tall = std::max(tall, loaded_megabytes_of(r.size));
        if (r.set == "wide") waves_of_wide = waves(r.size, r.tile, h200.sms);
        if (r.set == "wide" || r.set == "many") { EXPECT_EQ(output_tiles(r.size, r.tile) % h200.sms, 0); }
      }
      ASSERT_EQ(stages_by_start.size(), 7u);
      for (const auto& [_, depths] : stages_by_start) EXPECT_EQ(depths.size(), 2u);
      EXPECT_GT(most, 80);
      EXPECT_GT(tall, 100);
      EXPECT_GE(waves_of_wide, 8);
    }
}

TEST(kernel_rows, are_the_same_each_time_and_others_for_another_kernel) {
  const std::vector<std::string> random{"random"};
  const auto once = product_settings({&mma_family, 3, 1}, h200, read_sizes(random)),
             again = product_settings({&mma_family, 3, 1}, h200, read_sizes(random));
  EXPECT_EQ(to_csv(std::span<const product_row>(once), {}), to_csv(std::span<const product_row>(again), {}));
  EXPECT_NE(product_settings({&mma_family, 3, 2}, h200, read_sizes(random)).back().size, once.back().size);
}

TEST(kernel_rows, fresh_sizes_are_of_every_kind_and_the_same_for_every_kernel) {
  const auto sizes = fresh_sizes();
  ASSERT_EQ(sizes.size(), 200u);
  EXPECT_TRUE(std::ranges::equal(sizes, fresh_sizes()));
  int large = 0, huge = 0, indivisible = 0, small = 0;
  for (const extent& s : sizes) {
    EXPECT_TRUE(s.n % 8 == 0 && s.k % 8 == 0) << text(s);
    EXPECT_LE(std::max({s.m, s.n, s.k}), 8192) << text(s);
    EXPECT_GE(std::min({s.m, s.n, s.k}), 50) << text(s);
    large += std::max({s.m, s.n, s.k}) > 4096;
    huge += std::min({s.m, s.n, s.k}) >= 4096;
    small += std::max({s.m, s.n, s.k}) < 1024;
    indivisible += s.m % 64 != 0 && s.n % 64 != 0 && s.k % 64 != 0;
  }
  EXPECT_EQ(large, 67);
  EXPECT_GE(huge, 22);
  EXPECT_EQ(indivisible, 100);
  EXPECT_GE(small, 20);
  const std::vector<std::string> word{"fresh"};
  const auto rows = product_settings({&wgmma_family, 0, 1}, h200, read_sizes(word));
  std::map<std::tuple<int, int, int>, std::set<int>> buffers;
  for (const auto& r : rows)
    if (r.set.starts_with("fresh")) buffers[{r.size.m, r.size.n, r.size.k}].insert(r.buffers);
  EXPECT_EQ(buffers.size(), 200u);
  for (const auto& [_, all] : buffers) EXPECT_EQ(all, (std::set<int>{4, 8}));
}

TEST(kernel_rows, nothing_is_calibrated_of_the_vendors_library) {
  const std::vector<std::string> words{"random", "large", "fresh", "96x96x64"};
  const auto rows = product_settings({&cublas_family, 0, 1}, h200, read_sizes(words));
  for (const auto& r : rows) EXPECT_TRUE(is_held_out(r)) << r.set;
  EXPECT_EQ(sets_of(rows), (std::map<std::string, int>{{"asked", 1}, {"fresh", 200}, {"large", 3}}));
}

TEST(kernel_rows, sizes_are_words_or_products) {
  const std::vector<std::string> two{"large", "512x256x128"};
  const auto found = read_sizes(two);
  EXPECT_TRUE(found.large);
  EXPECT_FALSE(found.paper);
  EXPECT_EQ(found.asked, (std::vector<extent>{{512, 256, 128}}));
  for (const std::string wrong : {"512x100x128", "512x256x100", "tiny", "32768x64x64", ""}) {
    const std::vector<std::string> words{wrong};
    EXPECT_THROW(read_sizes(words), usage_error) << wrong;
  }
}

TEST(kernel_rows, come_back_from_csv_with_every_batch) {
  auto rows = product_settings({&wgmma_family, 7, 1}, h200, {});
  for (auto& r : rows) set_times(r, {3000, 1000, 2000});
  const auto read = read_rows<product_row>(
      to_csv(std::span<const product_row>(rows), {.name = "H200", .sms = 132}), "x.csv");
  ASSERT_EQ(read.rows.size(), rows.size());
  EXPECT_EQ(read.facts.sms, 132);
  EXPECT_EQ(read.rows[5].raw_ns, (std::vector<double>{3000, 1000, 2000}));
  EXPECT_EQ(read.rows[5].median_ns, 2000);
  EXPECT_EQ(read.rows[5].min_ns, 1000);
  EXPECT_EQ(read.rows[5].size, rows[5].size);
  EXPECT_EQ(profiles_of(read.rows, 132).size(), 1u);
}

seen timed(const run_order& asked, const std::string& value, double time) {
  seen came;
  came.done = asked;
  came.values[value] = {time};
  return came;
}

TEST(rows_in_turn, times_the_whole_list_once_in_each_batch) {
  rows_settings settings;
  settings.rows = [] { return std::size_t{3}; };
  settings.value = "time_ns";
  settings.columns = {{"sum", "ns"}};
  settings.figures = [](std::span<const double> t) {
    return std::vector<named_value>{{"sum", t[0] + t[1] + t[2]}};
  };
  rows_in_turn m(settings);
  for (std::uint32_t batch = 0; batch < 6; ++batch) {
    const auto asked = m.next({});
    ASSERT_TRUE(asked);
    ASSERT_EQ(asked->orders.size(), 3u);
    EXPECT_EQ(asked->batch, batch);
    EXPECT_EQ(asked->orders[2].units, 2u);
    std::vector<seen> came;
    for (const auto& o : asked->orders)
      came.push_back(timed(o, "time_ns", 10.0 * static_cast<double>(o.units) + batch));
    m.take(*asked, came);
  }
  EXPECT_FALSE(m.next({}));
  ASSERT_EQ(m.values().size(), 1u);
  EXPECT_NEAR(m.values()[0].median, 30 + 3 * 2.5, 1e-9);
  EXPECT_GE(m.values()[0].confidence, 0.95);
}

std::shared_ptr<kernel_plan> plan_of_two_checks() {
  auto plan = std::make_shared<kernel_plan>();
  plan->products.resize(2);
  plan->checks = 2;
  return plan;
}

// Runs the checker with products that are off by `right`, and by `spoiled` where an entry was spoiled.
verdict checked(product_checker& p, double right, double spoiled) {
  const auto asked = p.next();
  std::vector<seen> came;
  for (const auto& o : asked->orders) {
    const double error = o.fault.empty() ? right : spoiled;
    came.push_back(timed(o, "error", error));
    came.back().checked = check_of_product(error, "64 x 64 x 64");
  }
  p.take(*asked, came);
  return p.judge();
}

TEST(product_checker, passes_right_products_and_catches_wrong_ones) {
  product_checker good(plan_of_two_checks());
  const auto v = checked(good, 0.1, 900);
  EXPECT_TRUE(v.passed);
  EXPECT_TRUE(v.control_flagged);
  EXPECT_EQ(v.rounds, 2u);
  EXPECT_FALSE(good.next());
  product_checker wrong(plan_of_two_checks());
  EXPECT_FALSE(checked(wrong, 1.5, 900).passed);
  EXPECT_NE(wrong.refuted().find("is off by 1.5 times"), std::string::npos) << wrong.refuted();
  product_checker blind(plan_of_two_checks());
  EXPECT_FALSE(checked(blind, 0.1, 0.1).passed);
  EXPECT_TRUE(blind.refuted().empty());
  EXPECT_NE(blind.void_because(), "");
  EXPECT_EQ(good.void_because(), "");
  product_checker infinite(plan_of_two_checks());
  EXPECT_FALSE(checked(infinite, std::numeric_limits<double>::infinity(), 900).passed);
}

TEST(product_checker, checks_the_recorded_product_too_and_keeps_what_was_recorded) {
  auto plan = plan_of_two_checks();
  plan->is_recorded = true;
  product_checker p(plan);
  const auto asked = p.next();
  ASSERT_EQ(asked->orders.size(), 5u);
  EXPECT_EQ(asked->orders.back().units, 2u);
  EXPECT_EQ(asked->orders.back().fault, "");
  std::vector<seen> came;
  for (const auto& o : asked->orders) {
    const double error = o.fault.empty() ? 0.1 : 900;
    came.push_back(timed(o, "error", error));
    came.back().checked = check_of_product(error, "64 x 64 x 64");
  }
  recorded_row row;
  row.family = "wgmma";
  row.size = {64, 64, 128};
  row.what = "load";
  row.stage = 1;
  row.begin = 100, row.end = 350;
  came.back().own = std::vector<recorded_row>{row};
  p.take(*asked, came);
  EXPECT_TRUE(p.judge().passed);
  EXPECT_EQ(p.judge().rounds, 3u);
  result r;
  p.add_to(r);
  ASSERT_EQ(r.attachments.size(), 1u);
  const auto rows = read_rows<recorded_row>(r.attachments[0].content, "x").rows;
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].what, "load");
  EXPECT_EQ(rows[0].size, row.size);
  EXPECT_EQ(rows[0].end, 350);
}

TEST(product_checker, keeps_every_time_for_the_result) {
  product_checker p(plan_of_two_checks());
  for (std::uint32_t batch = 0; batch < 2; ++batch) {
    step asked;
    asked.batch = batch;
    asked.orders = {{.units = 0}, {.units = 1}};
    p.take(asked, std::vector<seen>{timed(asked.orders[0], "time_ns", 100 + batch),
                                    timed(asked.orders[1], "time_ns", 200)});
  }
  result r;
  p.add_to(r);
  ASSERT_EQ(r.attachments.size(), 1u);
  const auto rows = read_rows<product_row>(r.attachments[0].content, "x").rows;
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].raw_ns, (std::vector<double>{100, 101}));
}

// Stamps of stages one after the other; `early` lets the next load begin while its buffer is multiplied.
std::vector<stamp_row> stamps(const synthetic_row& r, bool early) {
  std::vector<stamp_row> rows;
  double now = 0;
  for (int stage = 0; stage < r.stages; ++stage) {
    rows.push_back({0, r.semaphore, 1, 1, r.stages, 0, 'a', stage, now, now + 100});
    rows.push_back({0, r.semaphore, 1, 1, r.stages, 0, 'b', stage, now + 100, now + 200});
    rows.push_back({0, r.semaphore, 1, 1, r.stages, 2, 'm', stage, now + 250, now + 500});
    now += early ? 260 : 550;
  }
  return rows;
}

TEST(handover_checker, passes_stages_in_order_and_needs_the_early_release_to_be_caught) {
  for (const bool caught : {true, false})
    for (const bool right : {true, false}) {
      auto plan = std::make_shared<kernel_plan>();
      plan->recorded = {{"mbarrier", 1, 1, 4, 100, 100, 250, "recorded"},
                        {"mbarrier", 1, 1, 4, 300, 100, 250, "recorded"}};
      handover_checker p(plan);
      const auto asked = p.next();
      ASSERT_TRUE(asked);
      EXPECT_EQ(asked->orders.size(), 3u);  // where loads decide, nobody notices an early release
      std::vector<seen> came;
      for (const auto& o : asked->orders) {
        seen one;
        one.done = o;
        one.own = stamps(plan->recorded[o.units], o.fault.empty() ? !right : caught);
        came.push_back(std::move(one));
      }
      p.take(*asked, came);
      EXPECT_EQ(p.judge().passed, right && caught);
      EXPECT_EQ(p.refuted().empty(), right);
      EXPECT_EQ(p.void_because().empty(), caught);
      result r;
      p.add_to(r);
      ASSERT_EQ(r.attachments.size(), 1u);
      EXPECT_EQ(r.attachments[0].name, "stamps.csv");
    }
}

}}  // namespace mgsync::pipeline
