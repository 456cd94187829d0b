#include "src/studies/launch/launch_evaluation.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "src/studies/launch/wait_gradient.hpp"

namespace mgsync::launch { namespace {

// 004, figure 6, V100: what is neither call nor execution is 4735, 4830 and 5648 ns exactly.
TEST(launch_parts, give_the_posters_other_overhead) {
  EXPECT_DOUBLE_EQ((parts{2545, 993, 8273}.other_ns()), 4735);
  EXPECT_DOUBLE_EQ((parts{3388, 1015, 9233}.other_ns()), 4830);
  EXPECT_DOUBLE_EQ((parts{3455, 1287, 10390}.other_ns()), 5648);
}

result measured(std::string kind, std::string quantity,
                std::vector<std::pair<std::string, double>> medians_us) {
  result r;
  r.point.study = "launch";
  r.point.subject = std::move(kind);
  r.point.device = topology::device::gpu;
  r.point.members = 1;
  r.point.set("quantity", std::move(quantity));
  r.point.set("blocks_per_sm", 1.0);
  r.point.set("threads_per_block", 32.0);
  r.status = result_status::measured;
  for (auto& [name, value] : medians_us) {
    metric m{metric_name{name, "us"}};
    m.median = m.ci95_low = m.ci95_high = value;
    r.metrics.push_back(m);
  }
  return r;
}

result barrier(std::string subject, double latency_us) {
  auto r = measured(std::move(subject), "", {{"latency", latency_us}});
  r.point.study = "barriers";
  r.point.remove("quantity");
  r.verdict.passed = true;
  r.facts = known_facts{
      {.origin = fact::origin::vendor,
       .driver = r.point.subject == "kernel-boundary" ? fact::driver::kernel_boundary : fact::driver::device,
       .scope = fact::scope::node,
       .extent = fact::extent::everything,
       .order = fact::order::both},
      "NVIDIA",
      "this_grid().sync()"};
  return r;
}

TEST(launch_evaluation, counts_the_edges_between_gpus_of_a_round) {
  std::vector<result> all{measured("graph-rounds", "round", {{"time", 12}}),
                          measured("graph-rounds", "round", {{"time", 5}})};
  for (auto& r : all) r.point.members = 2, r.point.set("kernels", 3.0);
  all[0].point.variant = "edges";
  all[1].point.variant = "joined";
  const auto e = evaluate(all);
  ASSERT_EQ(e.tables.size(), 1U);
  // 2 kernels on one GPU and 1 on the other: 9 edges, of which 4 and 1 stay on their GPU.
  EXPECT_EQ(e.tables[0].rows[0], (std::vector<std::string>{"2", "3", "4", "12.00", "3.00", "5.00"}));
}

TEST(launch_evaluation, sorts_shapes_by_their_numbers) {
  std::vector<result> all{measured("graph", "null", {{"latency", 1}, {"call", 1}}),
                          measured("graph", "null", {{"latency", 2}, {"call", 2}})};
  all[0].point.set("threads_per_block", 1024.0);
  const auto e = evaluate(all);
  ASSERT_FALSE(e.tables.empty());
  EXPECT_EQ(e.tables[0].rows[0][1], "1x32");
  EXPECT_EQ(e.tables[0].rows[1][1], "1x1024");
}

TEST(launch_evaluation, puts_the_parts_of_each_launch_into_one_row_and_one_bar) {
  const std::vector<result> all{measured("traditional", "null", {{"latency", 2.541}, {"call", 2.545}}),
                                measured("traditional", "total", {{"time", 8.273}}),
                                measured("traditional", "fused", {{"overhead", 0.993}, {"unit", 5}})};
  const auto e = evaluate(all);
  ASSERT_EQ(e.tables.size(), 1U);
  EXPECT_EQ(e.tables[0].rows[0].back(), "4735");
  ASSERT_EQ(e.tables[0].rows.size(), 1U + 6U);  // and V100's, of each paper by itself
  EXPECT_EQ(e.tables[0].rows[1],
            (std::vector<std::string>{"1", "", "traditional (V100, CUDA 10; 000, table I)", "-", "-", "1081",
                                      "10", "8888", "-"}));
  EXPECT_EQ(e.tables[0].rows[2].back(), "4735");  // of 004, as it has it
  ASSERT_EQ(e.figures.size(), 3U);
  EXPECT_EQ(heading_of(e.figures[1]).name, "launch-null");
  EXPECT_EQ(heading_of(e.figures[2]).name, "launch-waiting");
  EXPECT_EQ(std::get<chart>(e.figures[2]).x.categories, std::vector<std::string>{"traditional"});
  EXPECT_EQ(std::get<bar_chart>(e.figures[0]).bars[0].parts,
            (std::vector<double>{2545, 993, 8273 - 2545 - 993}));
  ASSERT_EQ(e.sentences.size(), 1U);
  EXPECT_NE(e.sentences[0].find("0.99 us"), std::string::npos) << e.sentences[0];
}

TEST(launch_evaluation, says_what_one_more_node_of_a_graph_adds) {
  std::vector<result> all;
  for (const auto& [nodes, us_of_a_node] : {std::pair{10.0, 1.5}, {100.0, 1.05}}) {
    all.push_back(
        measured("graph-nodes", "graph", {{"time", us_of_a_node}, {"call", 4}, {"instantiation", 90}}));
    all.back().point.variant = "kernel";
    all.back().point.set("nodes", nodes);
  }
  const auto e = evaluate(all);
  ASSERT_EQ(e.tables.size(), 1U);
  EXPECT_EQ(e.tables[0].rows[0][2], "15.00");
  EXPECT_EQ(e.tables[0].rows[0][4], "-");
  EXPECT_EQ(e.tables[0].rows[1][4], "1.000");
  EXPECT_EQ(e.tables[0].rows[1][6], "90");
}

TEST(launch_evaluation, says_when_a_new_kernel_is_worth_its_launch) {
  std::vector<result> all{measured("traditional", "fused", {{"overhead", 1.40}, {"unit", 20}}),
                          barrier("grid", 0.75)};
  const auto e = evaluate(all);
  ASSERT_EQ(e.sentences.size(), 1U);
  EXPECT_NE(e.sentences[0].find("when it saves more than 0.65 us"), std::string::npos) << e.sentences[0];
  // From a graph it may cost less.
  all.push_back(measured("graph", "fused", {{"overhead", 0.70}, {"unit", 20}}));
  EXPECT_TRUE(evaluate(all).sentences.at(0).ends_with(
      "as a node of a graph it costs no more (a node behind a longer one 0.70 us, grid 0.75 us)."))
      << evaluate(all).sentences.at(0);
  all.back().metrics[0].median = 0.8;
  all.back().metrics[0].ci95_low = 0.7;
  EXPECT_NE(
      evaluate(all).sentences.at(0).find("it is not shown to cost more (a node behind a longer one 0.80"),
      std::string::npos)
      << evaluate(all).sentences.at(0);
  // A barrier beside work is another figure.
  all.push_back(barrier("grid", 0.25));
  all.back().point.set("work", 20.0);
  EXPECT_NE(evaluate(all).sentences.at(0).find("when it saves more than 0.65 us"), std::string::npos);
  all.resize(2);
  // Cheaper than every barrier inside.
  all[1].metrics[0].median = 1.5;
  EXPECT_NE(evaluate(all).sentences.at(0).find(
                "a new kernel costs no more (a launch while a longer kernel runs 1.40 us"),
            std::string::npos);
  // What no program can call is no advice.
  all[1].facts->call.clear();
  EXPECT_NE(evaluate(all).sentences.at(0).find("1.40 us more than going on inside"), std::string::npos)
      << evaluate(all).sentences.at(0);
}

// "131738 (-1551033 - 2574165)" ns says nothing; one batch has no interval.
TEST(launch_evaluation, neither_prints_nor_draws_what_may_all_be_noise) {
  std::vector<result> all{measured("traditional", "fused", {{"overhead", 131.738}, {"unit", 20}}),
                          measured("cooperative", "fused", {{"overhead", 1.25}, {"unit", 20}})};
  all[0].metrics[0].ci95_low = -1551.033;
  all[0].metrics[0].ci95_high = 2574.165;
  all[1].metrics[0].raw = {1.25};
  const auto e = evaluate(all);
  ASSERT_EQ(e.tables.size(), 1U);
  const auto row_of = [&](const std::string& kind) {
    return *std::ranges::find_if(e.tables[0].rows, [&](const auto& row) { return row[2] == kind; });
  };
  EXPECT_EQ(row_of("traditional")[5], "not shown");
  EXPECT_EQ(row_of("cooperative")[5], "1250 (one batch)");
  EXPECT_TRUE(e.sentences.empty());
  for (const auto& one : e.figures) {
    const auto* drawn = std::get_if<chart>(&one);
    if (drawn == nullptr) continue;
    for (const auto& line : drawn->curves)
      for (const auto& at : line.points) EXPECT_LT(at.y, 100) << heading_of(one).name;
  }
}

TEST(launch_evaluation, takes_no_launch_for_a_barrier_of_several_gpus) {
  std::vector<result> all{measured("traditional", "fused", {{"overhead", 1.40}, {"unit", 20}}),
                          barrier("multigrid", 2.1)};
  for (auto& r : all) r.point.members = 2;
  EXPECT_TRUE(evaluate(all).sentences.empty());
  all.push_back(barrier("kernel-boundary", 3.8));
  all.back().point.members = 2;
  ASSERT_EQ(evaluate(all).sentences.size(), 1U);
  EXPECT_NE(evaluate(all).sentences[0].find("more than 1.70 us (kernel-boundary"), std::string::npos)
      << evaluate(all).sentences[0];
}

// The poster's figure 2: an overhead that more units do not pay again, and a unit of 1020 ns where 1000 were
// asked for.
TEST(wait_gradient, is_the_units_own_length_once_there_are_many) {
  wait_gradient m;
  const auto total = [](std::uint64_t units) {
    return units < 8 ? 6.0 + 0.5 * static_cast<double>(units) : 1.9 + 1.02 * static_cast<double>(units);
  };
  for (auto asked = m.next({}); asked; asked = m.next({})) {
    std::vector<seen> came;
    for (const auto& order : asked->orders) {
      came.push_back({.done = order});
      came.back().values = {{"total_us", {total(order.units)}},
                            {"waited_us", {1.02 * static_cast<double>(order.units)}}};
    }
    m.take(*asked, came);
  }
  auto r = measured("traditional", "gradient", {});
  r.metrics = m.values();
  EXPECT_NEAR(r.find("gradient_1")->median, 0.5, 1e-9);
  EXPECT_NEAR(r.find("gradient_16")->median, r.find("unit")->median, 1e-9);
  EXPECT_NEAR(r.find("unit")->median, 1.02, 1e-9);
  const auto e = evaluate(std::span(&r, 1));
  ASSERT_EQ(e.figures.size(), 1U);
  const auto& drawn = std::get<chart>(e.figures[0]);
  EXPECT_EQ(drawn.heading.name, "launch-gradient");
  ASSERT_EQ(drawn.curves.size(), 2U);  // and what was asked for
  EXPECT_EQ(drawn.curves[0].points.size(), 10U);
}

// Arguments and the host's way of waiting change what a launch costs: a row, a bar and a name for each.
TEST(launch_evaluation, tells_launches_apart_by_their_arguments_and_by_how_the_host_waits) {
  std::vector<result> all;
  for (const double bytes : {0.0, 8.0, 128.0, 4096.0}) {
    all.push_back(measured("traditional", "null", {{"latency", 2.5 + bytes * 1e-3}, {"call", 2.6}}));
    if (bytes != 0) all.back().point.set("argument_bytes", bytes, "B");
  }
  all.push_back(measured("traditional", "null", {{"latency", 7.0}, {"call", 2.6}}));
  all.back().point.set("policy", "spin");
  const auto e = evaluate(all);
  ASSERT_EQ(e.tables.size(), 1U);
  std::vector<std::pair<std::string, std::string>> rows;
  for (std::size_t i = 0; i < 5; ++i) rows.emplace_back(e.tables[0].rows.at(i)[2], e.tables[0].rows[i][4]);
  EXPECT_EQ(rows, (std::vector<std::pair<std::string, std::string>>{
                      {"traditional", "2500 (2500 - 2500)"},
                      {"traditional, spin", "7000 (7000 - 7000)"},
                      {"traditional, 8 B of arguments", "2508 (2508 - 2508)"},
                      {"traditional, 128 B of arguments", "2628 (2628 - 2628)"},
                      {"traditional, 4096 B of arguments", "6596 (6596 - 6596)"}}));
  ASSERT_EQ(e.figures.size(), 1U);
  const auto& drawn = std::get<chart>(e.figures[0]);
  EXPECT_EQ(drawn.x.categories, (std::vector<std::string>{
                                    "traditional", "traditional, spin", "traditional, 8 B of arguments",
                                    "traditional, 128 B of arguments", "traditional, 4096 B of arguments"}));
  EXPECT_EQ(drawn.curves[1].points.size(), 5U);
}

TEST(launch_evaluation, is_happy_with_nothing) { EXPECT_TRUE(evaluate({}).tables.empty()); }

}}  // namespace mgsync::launch
