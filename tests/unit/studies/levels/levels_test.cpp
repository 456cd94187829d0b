// The study of the levels inside one GPU, as values: the papers' numbers, lanes, raw samples, slopes and
// lines, and what is said of them. Series are made up with a known truth.
#include <algorithm>
#include <bit>
#include <set>

#include <gtest/gtest.h>

#include "src/harness/study.hpp"
#include "src/studies/levels/known_answers.hpp"
#include "src/studies/levels/level_evaluation.hpp"
#include "src/studies/levels/level_points.hpp"
#include "src/studies/levels/probe_checker.hpp"

namespace mgsync {
extern const study levels_study;
}

namespace mgsync::levels { namespace {

// known answers

TEST(known_answers, v100_block_barriers_are_20_cycles_and_2_per_warp) {
  for (const auto& row : table_5())
    EXPECT_EQ(row.latency_cycles.v100, v100_block_cycles(row.threads)) << row.threads;
}

TEST(known_answers, table_5_in_warp_barriers_per_cycle_is_table_ii) {
  const double expected[] = {0.167, 0.306, 0.436, 0.495, 0.498, 0.475};
  for (std::size_t k = 0; k < table_5().size(); ++k) {
    const auto& row = table_5()[k];
    EXPECT_NEAR(warp_syncs_per_cycle(row.block_syncs_per_us.v100, row.threads, clock_mhz().v100), expected[k],
                0.0006);
    const double p100 = warp_syncs_per_cycle(row.block_syncs_per_us.p100, row.threads, clock_mhz().p100);
    EXPECT_GE(p100, 0.073);
    EXPECT_LE(p100, 0.0935);
  }
  // Table II prints the largest blocks' rate.
  EXPECT_NEAR(warp_syncs_per_cycle(table_5().back().block_syncs_per_us.v100, 1024, clock_mhz().v100),
              table_ii().back().throughput.v100, 0.001);
}

TEST(known_answers, every_row_has_a_probe_beside_it) {
  for (const auto rows : {table_ii(), table_4()})
    for (const auto& row : rows) EXPECT_NO_THROW(family(row.here.family)) << row.type;
}

// families

// A relaxed arrival orders no memory, with loads behind it or without. Two warps that hand over and back meet
// like at a barrier: neither goes on before the other has come.
TEST(families, say_what_their_barriers_order) {
  const auto facts = [](const char* name) {
    point p;
    p.study = "levels";
    p.subject = name;
    p.set("quantity", std::string("latency"));
    return levels_study.facts_of(p);
  };
  for (const auto* relaxed :
       {"cluster_relaxed_1", "cluster_relaxed_16", "cluster_split_1_4", "cluster_split_8_4"}) {
    ASSERT_TRUE(facts(relaxed)) << relaxed;
    EXPECT_TRUE(facts(relaxed)->orders_less()) << relaxed;
    EXPECT_EQ(facts(relaxed)->order, fact::order::none) << relaxed;
  }
  for (const auto* whole : {"cluster_release_4", "block_sync", "hand_over"}) {
    ASSERT_TRUE(facts(whole)) << whole;
    EXPECT_FALSE(facts(whole)->orders_less()) << whole;
  }
}

TEST(lanes, every_size_has_exactly_that_many) {
  for (unsigned size = 1; size <= 32; ++size)
    EXPECT_EQ(std::popcount(first_lanes(size)), static_cast<int>(size));
  EXPECT_EQ(first_lanes(1), 1u);
  EXPECT_EQ(first_lanes(31), 0x7fffffffu);
  EXPECT_THROW(first_lanes(0), std::invalid_argument);
  EXPECT_THROW(first_lanes(33), std::invalid_argument);
  for (unsigned size = 1; size <= 32; ++size)
    EXPECT_EQ(std::popcount(scattered_lanes(size)), static_cast<int>(size));
  EXPECT_NE(scattered_lanes(16), first_lanes(16));
  EXPECT_EQ(scattered_lanes(16), scattered_lanes(16));
  EXPECT_THROW(scattered_lanes(0), std::invalid_argument);
}

TEST(families, have_lengths_through_which_a_line_can_be_laid) {
  for (const auto& f : families()) {
    EXPECT_GE(f.lengths.size(), 3u) << f.name;
    EXPECT_FALSE(f.what.empty()) << f.name;
  }
}

TEST(families, say_what_their_figures_are) {
  EXPECT_EQ(label_of(family("tile_sync_32")), "no instruction");
  EXPECT_EQ(label_of(family("syncwarp_diverged")), "");
  EXPECT_EQ(label_of(family("thread_group_sync")), "library code, not code-checked");
  EXPECT_EQ(label_of(family("tile_shuffle_8")), "");
  EXPECT_THROW(family("nobody"), std::invalid_argument);
}

// figures

// A family of so many cycles a link.
void add(std::vector<level_value>& all, const std::string& name, double cycles, unsigned threads = 32,
         unsigned lanes = 32) {
  level_value v;
  v.family = name;
  v.threads = threads;
  v.lanes = lanes;
  v.cluster = family(name).cluster;
  v.value = v.low = v.high = cycles;
  all.push_back(v);
}

TEST(largest_throughput, is_that_of_any_shape) {
  level_value v;
  v.family = "tile_shuffle_32";
  v.quantity = quantity::throughput;
  v.value = 0.5;
  auto more = v;
  more.blocks_per_sm = 2;
  more.value = 0.9;
  const std::vector all{v, more};
  EXPECT_EQ(largest_throughput(all, "tile_shuffle_32"), &all[1]);
  EXPECT_EQ(largest_throughput(all, "block_sync"), nullptr);
}

// A part of a warp runs other code than a full group: its throughput stands by itself.
TEST(largest_throughput, of_a_part_of_a_warp_is_not_a_full_groups) {
  level_value full;
  full.family = "coalesced_shuffle";
  full.quantity = quantity::throughput;
  full.value = 0.893;
  auto part = full;
  part.lanes = 31;
  part.value = 0.1;
  const std::vector all{full, part};
  EXPECT_EQ(largest_throughput(all, "coalesced_shuffle")->value, 0.893);
  EXPECT_EQ(largest_throughput(all, "coalesced_shuffle", 31)->value, 0.1);
  EXPECT_EQ(largest_throughput(all, "coalesced_shuffle", 8), nullptr);
}

TEST(probes_of, parts_of_warps_and_more_blocks_than_fit_have_throughputs) {
  unsigned parts = 0, too_many = 0;
  for (const auto& one : probes_of("warp", quantity::throughput))
    parts += one.family->name == "coalesced_shuffle" && one.lane_count() < 32;
  for (const auto& one : probes_of("block", quantity::throughput)) too_many += one.is_too_many();
  EXPECT_EQ(parts, 30u);
  EXPECT_EQ(too_many, 12u);
}

TEST(line_over_warps, finds_the_papers_line) {
  std::vector<level_value> all;
  for (const auto& row : table_5()) add(all, "block_sync", row.latency_cycles.v100, row.threads);
  const auto line = line_over_warps(all, "block_sync");
  EXPECT_NEAR(line.slope, 2, 1e-9);
  EXPECT_NEAR(line.intercept, 20, 1e-9);
  EXPECT_NEAR(line.r_squared, 1, 1e-12);
}

// what is said

std::optional<bool> holds(const expectations& all, const std::string& part) {
  for (const auto& s : all)
    if ((s.text + ": " + s.bound).find(part) != std::string::npos) return s.holds;
  return std::nullopt;
}

std::vector<level_value> expected_gpu() {
  std::vector<level_value> all;
  for (const unsigned size : {1u, 2u, 4u, 8u, 16u, 32u})
    add(all, "tile_shuffle_" + std::to_string(size), 23, 32, size);
  add(all, "coalesced_shuffle", 30);
  add(all, "coalesced_shuffle", 90, 32, 5);
  for (const auto& row : table_5()) add(all, "block_sync", 22 + 2 * row.threads / 32.0, row.threads);
  for (const unsigned size : {2u, 4u, 8u, 16u}) {
    add(all, "cluster_release_" + std::to_string(size), 380);
    add(all, "cluster_relaxed_" + std::to_string(size), 100);
  }
  add(all, "shared_chase", 23);
  add(all, "shared_chase_index", 29);
  return all;
}

level_value by_host(const std::string& name, double cycles, unsigned threads = 32) {
  level_value v;
  v.family = name;
  v.quantity = quantity::host;
  v.threads = threads;
  v.value = cycles;
  return v;
}

TEST(expectations_of, hold_on_a_gpu_as_expected) {
  auto values = expected_gpu();
  values.push_back(by_host("cluster_release_2", 385));
  values.push_back(by_host("cluster_relaxed_2", 110));
  values.push_back(by_host("block_sync", 24.5));
  values.push_back(by_host("block_sync", 90, 1024));
  const auto all = expectations_of(values, {});
  EXPECT_EQ(holds(all, "20 to 30"), true);
  EXPECT_EQ(holds(all, "all tile sizes"), true);
  EXPECT_EQ(holds(all, "line over warps"), true);
  EXPECT_EQ(holds(all, "relaxed beside release"), true);
  EXPECT_EQ(holds(all, "flat within"), true);
  EXPECT_EQ(holds(all, "cluster_release_2: both clocks"), true);
  EXPECT_EQ(holds(all, "cluster_relaxed_2: both clocks"), false);
  EXPECT_EQ(holds(all, "barrier of 32 threads: both clocks"), true);
  EXPECT_EQ(holds(all, "barrier of 1024 threads: both clocks"), false);
  EXPECT_EQ(holds(all, "full coalesced group"), true);
  EXPECT_EQ(holds(all, "on a part of a warp"), true);
  EXPECT_EQ(holds(all, "29.0"), true);
  EXPECT_EQ(holds(all, "shuffles of warps per cycle"), std::nullopt)
      << "nothing was measured that could tell";
}

TEST(expectations_of, one_that_does_not_hold_is_a_finding) {
  auto values = expected_gpu();
  for (auto& v : values)
    if (v.family == "tile_shuffle_8") v.value = 25;
  EXPECT_EQ(holds(expectations_of(values, {}), "all tile sizes"), false);
  const auto sentences = evaluate(values, {}).sentences;
  EXPECT_TRUE(std::ranges::any_of(sentences, [](const auto& s) { return s.starts_with("A finding"); }));
}

const table& named(const evaluation& e, const std::string& name) {
  for (const auto& t : e.tables)
    if (t.heading.name == name) return t;
  throw std::invalid_argument("no table " + name);
}

TEST(expectations_of, a_probe_whose_code_is_not_what_it_says_has_no_figure) {
  this_gpu gpu;
  gpu.not_checked["block_sync"] = "31 BAR between the clock reads, not 32";
  const auto values = expected_gpu();
  EXPECT_EQ(holds(expectations_of(values, gpu), "line over warps"), std::nullopt);
  const auto e = evaluate(values, gpu);
  const auto& blocks = named(e, "table-5");
  EXPECT_EQ(blocks.rows[1][3], "none: 31 BAR between the clock reads, not 32");
}

// As results have it: a probe that was refused has no value at all.
TEST(expectations_of, what_cannot_be_judged_says_why) {
  auto values = expected_gpu();
  std::erase_if(values, [](const level_value& v) {
    return v.family == "shared_chase" || v.family == "cluster_relaxed_16" || v.family == "cluster_relaxed_8";
  });
  this_gpu gpu;
  gpu.not_checked["shared_chase"] = "no LDS";
  gpu.not_measured["cluster_relaxed_16"] = "no cluster of 16 fits";
  gpu.not_checked["tile_sync_32"] = "no NOP";
  const auto all = expectations_of(values, gpu);
  const auto why = [&](const std::string& part) {
    const auto found = std::ranges::find_if(all, [&](const auto& one) { return one.text.find(part) == 0; });
    return found == all.end() ? "none" : found->outcome();
  };
  EXPECT_EQ(why("shared memory"), "not judged: the code of shared_chase is not what it says: no LDS");
  EXPECT_EQ(why("cluster of 16"), "not judged: cluster_relaxed_16: no cluster of 16 fits");
  EXPECT_EQ(why("cluster of 8"), "not judged: cluster_relaxed_8 was not measured here");
  EXPECT_EQ(why("cluster of 4"), "holds");
  const auto e = evaluate(values, gpu);
  const auto& rows = named(e, "table-ii").rows;
  EXPECT_TRUE(std::ranges::any_of(rows, [](const auto& row) { return row[4] == "none: no NOP"; }));
}

TEST(evaluate, table_7_counts_groups_and_gives_a_range_of_large_blocks) {
  std::vector<level_value> all;
  const auto rate = [&all](const char* name, unsigned threads, unsigned lanes, double value) {
    level_value v;
    v.family = name;
    v.quantity = quantity::throughput;
    v.threads = threads;
    v.lanes = lanes;
    v.value = value;
    all.push_back(v);
  };
  rate("thread_group_sync", 32, 32, 0.25);
  rate("thread_group_sync", 32, 1, 0.2);
  rate("block_sync", 128, 32, 0.49);
  rate("block_sync", 1024, 32, 0.4);
  this_gpu gpu;
  gpu.mhz = 2000;
  const auto e = evaluate(all, gpu);
  const auto& t = named(e, "table-7");
  EXPECT_TRUE(t.rows[0].back().starts_with("6.400")) << t.rows[0].back();  // 32 groups in a warp
  EXPECT_TRUE(t.rows[1].back().starts_with("0.250")) << t.rows[1].back();
  EXPECT_EQ(t.rows[6].back().substr(0, 5), "0.800") << t.rows[6].back();
  EXPECT_NE(t.rows[6].back().find("0.980"), std::string::npos) << t.rows[6].back();
}

TEST(evaluate, a_latency_that_is_no_line_has_no_figure) {
  level_value v;
  v.family = "block_sync";
  v.value = 14;
  v.is_line = false;
  v.residual = 12;
  const auto e = evaluate(std::vector{v}, this_gpu{});
  EXPECT_EQ(named(e, "table-5").rows[0][3], "no line (residual 12.0)");
}

TEST(evaluate, tables_stand_beside_the_papers) {
  this_gpu gpu;
  gpu.name = "H200";
  gpu.mhz = 1980;
  const auto e = evaluate(expected_gpu(), gpu);
  EXPECT_EQ(named(e, "table-ii").rows[1][2], "22");
  EXPECT_EQ(named(e, "table-ii").rows[1][4], "23.00");
  EXPECT_EQ(named(e, "table-2").rows[1], (std::vector<std::string>{"Block", "GPU based and CPU based",
                                                                   "Latency and Throughput", "6", "0", "0"}));
  for (const auto& row : named(e, "acceptance").rows)
    EXPECT_EQ(row[3],
              row[0].find("L2") != std::string::npos ? "not judged: nobody says what it takes" : "holds")
        << row[0];
  EXPECT_EQ(named(e, "table-5").rows[5],
            (std::vector<std::string>{"1024", "84", "428", "86.00", "19.469", "3.130", "-"}));
  for (const auto& t : e.tables)
    for (const auto& row : t.rows) EXPECT_EQ(row.size(), t.columns.size()) << t.heading.name;
  EXPECT_EQ(e.figures.size(), 2u);
}

// points

TEST(probes_of, is_every_family_once_by_its_level) {
  std::set<std::string> seen;
  for (const auto level : all_levels)
    for (const auto& one : probes_of(level, quantity::latency)) {
      EXPECT_EQ(one.family->source, level);
      seen.emplace(one.family->name);
    }
  EXPECT_EQ(seen.size(), families().size());
}

TEST(probes_of, are_points_of_which_no_two_are_the_same) {
  std::set<std::string> keys;
  std::size_t count = 0;
  for (const auto level : all_levels)
    for (const auto what : {quantity::latency, quantity::throughput, quantity::host})
      for (const auto& one : probes_of(level, what))
        for (const unsigned run : {1u, 2u}) {
          keys.insert(canonical_text(point_of(one, run)));
          ++count;
          EXPECT_TRUE(!one.is_too_many() || one.family->name == "block_sync") << one.family->name;
        }
  EXPECT_EQ(keys.size(), count);
  EXPECT_GT(count, 600u);
}

TEST(probes_of, sizes_of_groups_are_exactly_that_many_lanes) {
  for (const auto& one : probes_of("warp", quantity::latency)) {
    if (one.lanes == all_lanes) continue;
    EXPECT_EQ(point_of(one, 1).number("lanes"), std::popcount(one.lanes));
  }
}

// results

TEST(histograms, are_read_as_they_were_written) {
  const std::map<std::uint64_t, cycle_histogram> all{{16, {{387, 90}, {391, 6}}}, {32, {{771, 96}}}};
  result r;
  EXPECT_TRUE(histograms_of(r).empty());
  set_histograms(r, all);
  EXPECT_EQ(r.numbers("links"), (std::vector<double>{16, 16, 32}));
  EXPECT_EQ(r.numbers("times"), (std::vector<double>{90, 6, 96}));
  EXPECT_EQ(histograms_of(r), all);
  r.quantities["times"].values.pop_back();  // columns that do not go together
  EXPECT_TRUE(histograms_of(r).empty());
}

result measured(const level_probe& one, unsigned run, double value, std::uint64_t mode) {
  result r;
  r.point = point_of(one, run);
  r.status = result_status::measured;
  r.verdict.kind = verdict_kind::code;
  r.verdict.passed = true;
  metric m{metric_name{"latency", one.quantity == quantity::host ? "us" : "cycles"}};
  m.median = m.ci95_low = m.ci95_high = value;
  r.metrics.push_back(m);
  r.environment = {{"gpu", "H200"}};
  r.quantities = {{"clock", {"MHz", {2000}}}};
  set_histograms(r, {{16, {{mode, 90}, {mode + 4, 6}}}});
  return r;
}

level_probe probe(const std::string& name, unsigned threads = 32, quantity what = quantity::latency) {
  return {.family = &family(name), .quantity = what, .threads = threads};
}

TEST(run_of, results_are_figures_in_cycles) {
  const std::vector<result> all{measured(probe("block_sync", 64), 1, 16, 300),
                                measured(probe("block_sync", 64, quantity::host), 1, 0.0081, 1),
                                measured(probe("block_sync", 64), 2, 17, 300)};
  EXPECT_EQ(runs_in(all), (std::vector<unsigned>{1, 2}));
  const auto one = run_of(all, 1);
  ASSERT_EQ(one.values.size(), 2u);
  EXPECT_EQ(one.gpu.name, "H200");
  EXPECT_DOUBLE_EQ(one.gpu.mhz, 2000);
  EXPECT_EQ(one.values[0].threads, 64u);
  EXPECT_DOUBLE_EQ(one.values[0].value, 16);
  EXPECT_EQ(one.values[1].quantity, quantity::host);
  EXPECT_NEAR(one.values[1].value, 16.2, 1e-9);
  EXPECT_TRUE(run_of(all, 3).values.empty());
}

TEST(run_of, what_has_no_value_has_a_reason) {
  std::vector<result> all{measured(probe("block_sync", 64), 1, 16, 300), {}, {}};
  all[1].point = point_of(probe("cluster_release_16"), 1);
  all[1].reason = "no cluster of 16 fits";
  all[2].point = point_of(probe("shared_chase"), 1);
  all[2].reason = std::string(probes::not_as_said) + "no LDS";
  const auto gpu = run_of(all, 1).gpu;
  EXPECT_EQ(gpu.not_measured.at("cluster_release_16"), "no cluster of 16 fits");
  EXPECT_EQ(gpu.not_checked.at("shared_chase"), "no LDS");
}

std::optional<bool> holds_between(const std::vector<result>& all, const std::string& part) {
  return holds(compare_runs(all, 1, 2).expectations, part);
}

TEST(compare_runs, equal_runs_repeat) {
  const std::vector<result> all{
      measured(probe("block_sync"), 1, 14, 300), measured(probe("block_sync"), 2, 14.01, 300),
      measured(probe("cluster_release_2"), 1, 320, 9), measured(probe("cluster_release_2"), 2, 322, 99)};
  EXPECT_EQ(holds_between(all, "barriers of a block: the modes"), true);
  EXPECT_EQ(holds_between(all, "barriers of a block: slopes"), true);
  EXPECT_EQ(holds_between(all, "clusters, medians: slopes"), true);
  EXPECT_EQ(holds_between(all, "clusters, medians: the modes"), std::nullopt)
      << "their modes are not asked for";
  EXPECT_TRUE(compare_runs(all, 1, 2).apart.rows.empty());
}

TEST(compare_runs, another_mode_or_slope_is_named) {
  const std::vector<result> all{
      measured(probe("block_sync"), 1, 14, 300), measured(probe("block_sync"), 2, 14, 304),
      measured(probe("tile_shuffle_8"), 1, 24, 9), measured(probe("tile_shuffle_8"), 2, 24.1, 9)};
  EXPECT_EQ(holds_between(all, "barriers of a block: the modes"), false);
  EXPECT_EQ(holds_between(all, "barriers of a block: slopes"), true);
  EXPECT_EQ(holds_between(all, "warps: slopes"), false);
  EXPECT_EQ(holds_between(all, "warps: the modes"), true);
  EXPECT_EQ(compare_runs(all, 1, 2).apart.rows.size(), 2u);
}

TEST(compare_runs, what_is_left_to_chance_is_not_asked_and_stands_beside_what_is_decided) {
  auto left = probe("mbarrier_try_wait", 512);
  left.left_free = "start";
  std::vector<result> all{measured(left, 1, 270, 300), measured(left, 2, 281, 310),
                          measured(probe("mbarrier_try_wait", 512), 1, 268, 300),
                          measured(probe("mbarrier_try_wait", 512), 2, 268, 300)};
  for (auto& r : all) r.metrics.front().min = r.metrics.front().max = r.metrics.front().median;
  EXPECT_EQ(holds_between(all, "mbarriers: the modes"), true);
  EXPECT_EQ(run_of(all, 1).values.size(), 1u);
  const auto t = table_of_chance(all);
  ASSERT_EQ(t.rows.size(), 2u);
  EXPECT_EQ(t.rows[1], (std::vector<std::string>{"mbarrier_try_wait", "b1x512", "start", "2",
                                                 "281.00 to 281.00", "-", "268.00 to 268.00", "-"}));
}

TEST(compare_runs, of_a_cluster_the_figure_is_as_the_launch_puts_it_by_medians_of_all_samples) {
  const auto of = [](std::string_view left_free, unsigned run, std::uint64_t step) {
    auto one = probe("cluster_release_8", 256);
    one.left_free = left_free;
    auto r = measured(one, run, 400 + run * 30.0, 9);
    set_histograms(r, {{8, {{1000, 9}, {1010, 10}, {1020, 19}, {900, 11}}}, {16, {{1010 + 8 * step, 30}}}});
    return r;
  };
  const std::vector<result> all{of("", 1, 360), of("", 2, 400), of("place", 1, 360), of("place", 2, 361)};
  EXPECT_EQ(holds_between(all, "clusters, medians: slopes"), true);
  const auto apart = compare_runs(std::vector{of("", 1, 360), of("", 2, 400)}, 1, 2);
  ASSERT_EQ(apart.apart.rows.size(), 1u);
  EXPECT_EQ(apart.apart.rows[0][3], "360.000");
  EXPECT_EQ(run_of(all, 1).values.size(), 1u);
}

TEST(compare_runs, barriers_that_many_warps_poll_have_no_modes_but_slopes) {
  const std::vector<result> all{measured(probe("mbarrier_try_wait", 1024), 1, 200, 300),
                                measured(probe("mbarrier_try_wait", 1024), 2, 200.1, 310)};
  EXPECT_EQ(holds_between(all, "mbarriers polled by more than 512 threads, medians: slopes"), true);
  EXPECT_EQ(holds_between(all, "mbarriers polled by more than 512 threads, medians: the modes"),
            std::nullopt);
  EXPECT_TRUE(probe("mbarrier_try_wait", 1024).is_chaotic());
  EXPECT_FALSE(probe("mbarrier_try_wait", 512).is_chaotic());
  EXPECT_FALSE(probe("block_sync", 1024).is_chaotic());
}

TEST(table_of_lanes, has_a_row_for_every_size_of_a_group) {
  EXPECT_TRUE(table_of_lanes({}).rows.empty());
  auto first = probe("coalesced_shuffle"), scattered = first;
  first.lanes = first_lanes(7), scattered.lanes = scattered_lanes(7);
  const auto t = table_of_lanes(
      run_of(std::vector{measured(first, 1, 200, 9), measured(scattered, 1, 210, 9)}, 1).values);
  ASSERT_EQ(t.rows.size(), 3u);  // sizes in a row that are alike share one
  EXPECT_EQ(t.rows[0].front(), "1 to 6");
  EXPECT_EQ(t.rows[1], (std::vector<std::string>{"7", "-", "-", "-", "-", "200.00", "210.00"}));
  EXPECT_EQ(t.rows[2].front(), "8 to 32");
}

TEST(compare_runs, library_code_is_not_asked) {
  auto one = measured(probe("library_barrier"), 1, 80, 9),
       two = measured(probe("library_barrier"), 2, 90, 11);
  one.verdict = two.verdict = {};
  EXPECT_TRUE(compare_runs(std::vector{one, two}, 1, 2).expectations.empty());
}

TEST(evaluate, nothing_measured_is_tables_of_the_papers_alone) {
  const auto e = evaluate({}, {});
  EXPECT_TRUE(e.sentences.empty());
  EXPECT_EQ(named(e, "table-ii").rows[0][4], "-");
}

}}  // namespace mgsync::levels
