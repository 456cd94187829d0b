#include "src/studies/barriers/barriers_evaluation.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "src/studies/barriers/barrier_facts.hpp"

namespace mgsync::barriers { namespace {

// With what this build knows of their subjects, as the program evaluates them.
evaluation evaluated(std::vector<result> all) {
  for (auto& one : all)
    if (!one.facts && one.point.study == default_study) one.facts = known_facts_of(one.point);
  return evaluate(all);
}

TEST(shares_of_variance, find_what_drives_a_latency) {
  std::vector<std::vector<double>> by_blocks, by_both;
  for (const double blocks : {1.0, 2.0, 4.0, 8.0}) {
    by_blocks.emplace_back();
    by_both.emplace_back();
    for (const double threads : {32.0, 64.0, 128.0, 256.0}) {
      by_blocks.back().push_back(blocks);
      by_both.back().push_back(blocks * threads);
    }
  }
  const auto blocks = *shares_of_variance(by_blocks), both = *shares_of_variance(by_both);
  EXPECT_NEAR(blocks.rows, 1, 1e-12);
  EXPECT_NEAR(blocks.columns, 0, 1e-12);
  EXPECT_NEAR(both.rows, 0.5 * 1.0, 0.2);
  EXPECT_NEAR(both.rows + both.columns, 1, 1e-9);
  EXPECT_NEAR(both.rest, 0, 1e-9);
}

// 001, table 8, V100: the ends of each row's range. The latency of a grid barrier follows the blocks, not the
// threads.
TEST(shares_of_variance, agree_with_the_paper_on_grid_barriers) {
  const auto shares = *shares_of_variance(
      {{1.435, 2.199}, {1.838, 3.485}, {2.847, 4.536}, {5.055, 6.649}, {9.207, 10.393}, {21.061, 24.785}});
  EXPECT_GT(shares.rows, 0.8);
}

TEST(shares_of_variance, refuse_what_is_no_rectangle) {
  EXPECT_THROW(shares_of_variance({{1, 2}}), std::invalid_argument);
  EXPECT_THROW(shares_of_variance({{1, 2}, {3}}), std::invalid_argument);
  EXPECT_THROW(shares_of_variance({{1, 2}, {3, 0}}), std::invalid_argument);
  EXPECT_EQ(shares_of_variance({{2, 2}, {2, 2}}), std::nullopt);
}

result at(double blocks, double threads, std::optional<double> us) {
  result r;
  r.point.subject = "grid";
  r.point.variant = "auto";
  r.point.device = topology::device::gpu;
  r.point.members = 1;
  r.point.set("blocks_per_sm", blocks);
  r.point.set("threads_per_block", threads);
  if (!us) {
    r.reason = "does not fit";
    return r;
  }
  r.status = result_status::measured;
  r.verdict.passed = true;
  metric m{metric_name{"latency", "us"}};
  m.median = m.ci95_low = m.ci95_high = *us;
  m.confidence = 0.95;
  r.metrics.push_back(m);
  return r;
}

TEST(barriers_evaluation, draws_a_map_with_its_holes_and_says_what_drives_it) {
  std::vector<result> all;
  for (const double blocks : {1.0, 2.0, 4.0})
    for (const double threads : {32.0, 64.0, 1024.0})
      all.push_back(at(blocks, threads, blocks * threads > 2048 ? std::nullopt : std::optional(blocks)));
  const auto e = evaluated(all);
  ASSERT_EQ(e.figures.size(), 2U);  // over the shapes in a row, and as a map
  const auto& map = std::get<heat_map>(e.figures[1]);
  EXPECT_EQ(map.sources[0][0], short_key(all[0].point));
  EXPECT_EQ(map.rows, (std::vector<std::string>{"1", "2", "4"}));
  EXPECT_FALSE(map.values[2][2].has_value());
  EXPECT_EQ(map.holes[2][2], "does not fit");
  const auto full = full_rectangle(map);
  EXPECT_EQ(full.rows * full.columns, 6U);
  ASSERT_EQ(e.tables.size(), 2U);  // the fastest, and what drives
  EXPECT_EQ(e.tables[1].rows[0][3], "100 %");
}

// Many blocks of few threads, or few blocks of many: which of the two matters depends on the rectangle.
TEST(barriers_evaluation, says_what_drives_a_map_over_two_rectangles) {
  std::vector<result> all;
  for (const double blocks : {1.0, 2.0, 4.0, 8.0})
    for (const double threads : {32.0, 64.0, 1024.0})
      all.push_back(at(blocks, threads,
                       blocks * threads > 2048
                           ? std::nullopt
                           : std::optional((blocks > 2 ? blocks : 1) * (threads > 64 ? 2 : 1))));
  const auto e = evaluated(all);
  const auto& rows = e.tables.at(1).rows;
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0][2], "1..8 x 32..64");
  EXPECT_EQ(rows[0][3], "100 %");
  EXPECT_EQ(rows[1][2], "1..2 x 32..1024");
  EXPECT_EQ(rows[1][4], "100 %");
}

result of_level(const std::string& subject, const std::string& variant, int members, double us) {
  auto r = at(1, 32, us);
  r.point.subject = subject;
  r.point.variant = variant;
  r.point.members = members;
  return r;
}

const figure* named(const evaluation& e, const std::string& name) {
  for (const auto& one : e.figures)
    if (heading_of(one).name == name) return &one;
  return nullptr;
}

result inside(const std::string& subject, const std::string& variant, unsigned blocks, unsigned threads,
              double us) {
  auto r = of_level(subject, variant, 1, us);
  r.point.remove("blocks_per_sm");
  r.point.set("blocks", static_cast<double>(blocks));
  r.point.set("threads_per_block", static_cast<double>(threads));
  return r;
}

TEST(ladder, begins_inside_a_block) {
  const std::vector<result> all{inside("warp", "syncwarp", 1, 32, 0.005),
                                inside("warp", "apart", 1, 32, 0.1),
                                inside("block", "syncthreads", 1, 32, 0.01),
                                inside("block", "named", 1, 32, 0.02),
                                inside("block", "syncthreads", 1, 256, 0.02),
                                inside("block", "syncthreads", 1, 1024, 0.04),
                                inside("cluster", "hardware", 2, 32, 0.2),
                                inside("cluster", "hardware", 8, 32, 0.21),
                                of_level("grid", "auto", 1, 0.8)};
  const auto e = evaluated(all);
  std::vector<std::string> names;
  for (const auto& one : std::get<bar_chart>(*named(e, "ladder")).bars) names.push_back(one.name);
  EXPECT_EQ(names, (std::vector<std::string>{"warp, lanes together", "warp, lanes from two branches",
                                             "block, 32 threads", "block, 1024 threads", "cluster, 2 blocks",
                                             "cluster, 8 blocks", "grid: 1 GPU"}));
}

TEST(ladder, has_a_rung_for_each_level_and_the_best_of_each) {
  auto unchecked = of_level("hop", "relaxed", 2, 0.1);
  unchecked.verdict.passed = false;
  auto loaded = of_level("multigrid", "auto", 2, 0.2);
  loaded.point.set("load", std::string("peer-stores"));
  auto warp = of_level("syncwarp", "", 1, 198);
  warp.point.study = "levels";
  warp.point.set("scope", std::string("warp"));
  warp.point.set("quantity", std::string("latency"));
  warp.facts = known_facts{{.origin = fact::origin::vendor,
                            .driver = fact::driver::device,
                            .scope = fact::scope::lanes,
                            .extent = fact::extent::everything,
                            .order = fact::order::both},
                           "NVIDIA",
                           "__syncwarp()"};
  warp.metrics[0].unit = "cycles";
  warp.quantities["clock"] = {"MHz", {1980}};
  auto shuffle = warp, relaxed = warp;
  shuffle.facts.reset();
  relaxed.point.subject = "cluster_relaxed_2";
  relaxed.point.set("scope", std::string("cluster"));
  relaxed.point.set("blocks", 2.0);
  relaxed.facts->scope = fact::scope::cluster;
  relaxed.facts->order = fact::order::none;
  const std::vector<result> all{shuffle,
                                relaxed,
                                of_level("grid", "auto", 1, 0.8),
                                of_level("grid", "cooperative-groups", 1, 1.0),
                                of_level("multigrid", "auto", 2, 2.0),
                                of_level("multigrid", "inbox", 2, 2.5),
                                of_level("kernel-boundary", "graph", 2, 4.0),
                                unchecked,
                                loaded,
                                warp};
  const auto e = evaluated(all);
  const auto* found = named(e, "ladder");
  ASSERT_NE(found, nullptr);
  const auto& bars = std::get<bar_chart>(*found).bars;
  ASSERT_EQ(bars.size(), 5U);
  EXPECT_EQ(bars[0].name, "warp, lanes from two branches");
  EXPECT_NEAR(bars[0].parts[0], 0.1, 1e-12);
  EXPECT_EQ(bars[1].note, "grid:cooperative-groups 1x32");
  EXPECT_FALSE(bars[1].reference);
  EXPECT_EQ(bars[2].note, "grid:auto 1x32");
  EXPECT_TRUE(bars[2].reference);
  EXPECT_EQ(bars[3].parts[0], 2.0);
  EXPECT_EQ(bars[3].source, short_key(all[4].point));
  ASSERT_NE(named(e, "loads-2-1x32"), nullptr);
  EXPECT_EQ(std::get<heat_map>(*named(e, "loads-2-1x32")).columns,
            (std::vector<std::string>{"idle", "peer-stores"}));
}

result measured_launch(double us) {
  auto r = of_level("graph", "", 1, us);
  r.point.study = "launch";
  r.point.set("quantity", std::string("null"));
  r.facts = known_facts{{.origin = fact::origin::vendor,
                         .driver = fact::driver::kernel_boundary,
                         .scope = fact::scope::grid,
                         .extent = fact::extent::everything,
                         .order = fact::order::both},
                        "NVIDIA",
                        "a launch"};
  return r;
}

TEST(ladder, shows_of_each_maker_what_a_program_can_call_and_as_an_outline_what_it_cannot) {
  const std::vector<result> all{of_level("multigrid", "auto", 4, 2.0),
                                of_level("multigrid", "library", 4, 2.1),
                                of_level("multigrid", "vendor", 4, 5.6),
                                of_level("nccl-device", "hub", 4, 3.4),
                                of_level("nccl-device", "per-block", 4, 3.7),
                                of_level("nccl-device", "hub-relay", 4, 3.1),
                                measured_launch(0.7)};
  const auto e = evaluated(all);
  std::vector<std::pair<std::string, bool>> seen;
  for (const auto& one : std::get<bar_chart>(*named(e, "ladder")).bars)
    seen.emplace_back(one.name + ": " + one.note, one.reference && one.marks.hollow);
  EXPECT_EQ(seen,
            (std::vector<std::pair<std::string, bool>>{{"4 GPUs, mgsync: multigrid:library 1x32", false},
                                                       {"4 GPUs, NCCL: nccl-device:hub 1x32", false},
                                                       {"4 GPUs, NVIDIA: multigrid:vendor 1x32", false},
                                                       {"4 GPUs, no call: multigrid:auto 1x32", true},
                                                       {"launch: one more kernel: graph 1x32", false}}));
}

TEST(ladder, steps_stand_at_one_shape_and_nobody_alone_on_them) {
  auto large = of_level("multigrid", "library", 2, 1.9);
  large.point.set("threads_per_block", 1024.0);
  const std::vector<result> all{inside("multigrid", "library", 1, 32, 0.08),
                                of_level("grid", "cooperative-groups", 1, 1.0),
                                of_level("nccl", "graph", 1, 0.5),
                                of_level("multigrid", "library", 2, 2.0),
                                large,
                                of_level("kernel-boundary", "graph", 2, 4.0)};
  const auto e = evaluated(all);
  std::vector<std::string> notes;
  for (const auto& one : std::get<bar_chart>(*named(e, "ladder")).bars) notes.push_back(one.note);
  EXPECT_EQ(notes, (std::vector<std::string>{"grid:cooperative-groups 1x32", "multigrid:library 1x32",
                                             "kernel-boundary:graph 1x32"}));
}

TEST(barriers_evaluation, advises_on_whole_gpus_before_what_is_inside_a_block) {
  auto rows = std::vector<result>{
      inside("cluster", "hardware", 2, 32, 0.4), inside("cluster", "hardware", 8, 256, 0.5),
      of_level("multigrid", "library", 1, 0.8), of_level("grid", "cooperative-groups", 1, 1.2)};
  const auto begins = [](const evaluation& e, const std::string& words) {
    return std::ranges::any_of(e.sentences, [&](const auto& one) { return one.starts_with(words); });
  };
  const auto both = evaluated(rows);
  EXPECT_TRUE(both.sentences[0].starts_with("multigrid:library 0.8 us on 1 GPU"));
  EXPECT_TRUE(begins(both, "On 1 GPU, take multigrid:library, the fastest barrier that a program can call at "
                           "1 of 3 shapes: 0.8 us at 1x32"));
  auto graph = of_level("kernel-boundary", "graph", 1, 0.9);
  graph.point.set("threads_per_block", 1024.0);
  auto again = of_level("multigrid", "library", 1, 0.9);
  again.point.set("threads_per_block", 256.0);
  rows.insert(rows.end(), {graph, again, inside("block", "syncthreads", 1, 32, 0.01)});
  EXPECT_TRUE(std::ranges::any_of(evaluated(rows).sentences, [](const auto& one) {
    return one.find("; elsewhere it is kernel-boundary:graph at 1x1024; block:syncthreads at b1x32;") !=
           one.npos;
  }));
  rows.resize(2);
  EXPECT_TRUE(begins(evaluated(rows),
                     "On 1 GPU, take cluster:hardware, the fastest barrier that a program can "
                     "call at 2 of 2 shapes"));
}

TEST(barriers_evaluation, says_first_what_to_call_and_who_is_not_shown_to_be_slower_and_what_is_faster) {
  auto near = of_level("nccl-device", "hub", 4, 2.2);
  near.metrics[0].ci95_low = 2.0;
  const auto e = evaluated(std::vector<result>{of_level("multigrid", "auto", 4, 2.0),
                                               of_level("multigrid", "library", 4, 2.1), near,
                                               of_level("multigrid", "vendor", 4, 5.5)});
  EXPECT_EQ(e.sentences.at(1),
            "On 4 GPUs, take multigrid:library, the fastest barrier that a program can call: 2.1 us (95 % "
            "interval 2.1 - 2.1); no difference was shown to nccl-device:hub. "
            "To call it: sync() of mgsync::this_multi_grid(handle) (#include <mgsync/multi_grid.cuh>, a "
            "launch by mgsync::multi_grid of <mgsync/multi_grid.hpp>). "
            "mgsync's own multigrid:auto is faster there, 2 us, but only mgsync itself can use it. "
            "NVIDIA's own (multigrid:vendor) takes 2.6 times as long.");
  // The same in parts, for which the headline needs no place of its own.
  ASSERT_EQ(e.in_parts.size(), 1U);
  const auto& told = e.in_parts[0];
  EXPECT_EQ(told.sentences, (std::vector<std::string>{e.sentences[0], e.sentences[1]}));
  EXPECT_EQ(told.words, "On 4 GPUs, take multigrid:library: 2.1 us.");
  EXPECT_EQ(told.parts,
            (std::vector<std::pair<std::string, std::string>>{
                {"how sure", "95 % interval 2.1 - 2.1 us; no difference was shown to nccl-device:hub."},
                {"runners-up",
                 "It is not shown to be faster than NCCL's nccl-device:hub, 2.6x faster than NVIDIA's "
                 "multigrid:vendor."},
                {"to call it",
                 "sync() of mgsync::this_multi_grid(handle) (#include <mgsync/multi_grid.cuh>, a launch by "
                 "mgsync::multi_grid of <mgsync/multi_grid.hpp>)."},
                {"faster, no call",
                 "mgsync's own multigrid:auto is faster there, 2 us, but only mgsync itself can use it."},
                {"NVIDIA's own", "multigrid:vendor takes 2.6 times as long."}}));
  const auto& row = e.tables.at(0).rows.at(0);
  EXPECT_EQ(row.at(2), "multigrid:library");
  EXPECT_EQ(row.at(5), "nccl-device:hub");
  EXPECT_EQ(row.at(6), "multigrid:auto 2");
}

TEST(barriers_evaluation, says_that_nothing_was_measured_that_a_program_can_call) {
  const auto only = evaluated(std::vector<result>{of_level("multigrid", "auto", 4, 2.0)});
  EXPECT_EQ(
      only.sentences.at(0),
      "On 4 GPUs, nothing that a program can call was measured in more than one batch; multigrid:auto is the "
      "fastest barrier: "
      "2 us (95 % interval 2 - 2); "
      "multigrid:library, multigrid:vendor, which it can call in its "
      "place, were not measured.");
  EXPECT_EQ(only.sentences.at(1), "1 point of barriers was measured; none was violated or stuck.");
  const auto unknown = evaluated(
      std::vector<result>{of_level("tomorrow", "", 4, 1.0), of_level("nccl-device", "hub", 4, 3.0)});
  EXPECT_NE(
      unknown.sentences.at(0).find(
          "tomorrow is faster there, 1 us, but this build does not know whether a program can call it."),
      std::string::npos)
      << unknown.sentences[0];
}

// NCCL's all-reduce overtakes stores into another GPU's memory: faster, it would win what it does not do.
TEST(barriers_evaluation, what_orders_less_is_marked_and_wins_only_where_that_is_asked_for) {
  std::vector<result> all{of_level("nccl", "graph", 4, 1.0), of_level("multigrid", "library", 4, 2.1),
                          of_level("nccl", "graph", 2, 0.9), of_level("multigrid", "library", 2, 1.9)};
  const auto first = [&] {
    const auto told = evaluated(all).sentences;
    return *std::ranges::find_if(told, [](const auto& one) { return one.starts_with("On "); });
  };
  EXPECT_TRUE(first().starts_with("On 4 GPUs, take multigrid:library, ")) << first();
  EXPECT_EQ(first().find("nccl"), std::string::npos) << first();
  const auto e = evaluated(all);
  const auto& curves = std::get<chart>(*named(e, "over-members-gpu-1x32")).curves;
  EXPECT_EQ(curves.front().name, "nccl:graph (orders less)");
  for (auto& one : all) {
    one.facts = known_facts_of(one.point);
    one.facts->ranked_anyway = true;
  }
  EXPECT_TRUE(first().starts_with("On 4 GPUs, take nccl:graph, ")) << first();
}

TEST(barriers_evaluation, one_batch_is_not_the_fastest) {
  auto lucky = at(1, 32, 0.5), sure = at(1, 32, 2.0);
  lucky.point.subject = "nccl";
  lucky.metrics[0].raw = {0.5};
  sure.metrics[0].raw = {1.9, 2.0, 2.0, 2.1, 2.0, 2.0};
  const auto e = evaluated(std::vector{lucky, sure});
  ASSERT_FALSE(e.sentences.empty());
  EXPECT_NE(e.sentences[0].find("grid:auto is the fastest barrier: 2 us"), std::string::npos)
      << e.sentences[0];
  EXPECT_EQ(e.sentences[0].find("nccl"), std::string::npos) << e.sentences[0];
}

TEST(barriers_evaluation, says_how_many_values_of_a_map_are_of_one_batch) {
  auto lucky = at(1, 64, 0.5);
  lucky.metrics[0].raw = {0.5};
  const auto caption = [](const std::vector<result>& all) {
    const auto e = evaluated(all);
    for (const auto& one : e.figures)
      if (heading_of(one).name.starts_with("shapes")) return heading_of(one).caption;
    return std::string();
  };
  EXPECT_TRUE(
      caption({at(1, 32, 2.0), lucky}).ends_with(" 1 of 2 values is of one batch, without an interval."));
  EXPECT_TRUE(caption({at(1, 32, 2.0), at(1, 64, 2.5)}).ends_with("8)."));
}

TEST(barriers_evaluation, holds_no_grid_against_what_is_inside_a_block) {
  const auto e = evaluated(std::vector<result>{
      inside("warp", "syncwarp", 1, 32, 0.01), inside("grid", "cooperative-groups", 1, 32, 0.9),
      of_level("multigrid", "library", 1, 0.8), of_level("grid", "cooperative-groups", 1, 1.2)});
  EXPECT_NE(e.sentences.at(1).find("NVIDIA's own (grid:cooperative-groups) takes 1.5 times as long"),
            std::string::npos)
      << e.sentences[0];
}

TEST(barriers_evaluation, says_what_traffic_does_to_the_fastest_and_to_whom_it_does_least) {
  const auto beside = [](const std::string& subject, double us) {
    auto r = of_level(subject, "auto", 2, us);
    r.point.set("load", std::string("peer-stores"));
    return r;
  };
  const std::string why = " Why: the stores, flags and fences of an SM queue behind what that SM itself has "
                          "sent. What to do: keep "
                          "the barrier off SMs that store, or few stores in flight (docs/load.md).";
  std::vector<result> all{of_level("multigrid", "auto", 2, 2.0), of_level("nccl", "auto", 2, 3.0),
                          beside("multigrid", 8.0), beside("nccl", 6.0)};
  EXPECT_EQ(
      evaluated(all).sentences.back(),
      "Beside traffic on 2 GPUs, shape 1x32, multigrid:auto takes up to 8 us, while blocks store to other "
      "GPUs (peer-stores), instead of 2 us. nccl:auto takes least beside the worst, 6 us." +
          why);
  auto library = of_level("multigrid", "library", 2, 2.5), loaded = library;
  loaded.point.set("load", std::string("peer-stores"));
  loaded.metrics[0].median = 9;
  all.push_back(library), all.push_back(loaded);
  EXPECT_EQ(
      evaluated(all).sentences.back(),
      "Beside traffic on 2 GPUs, shape 1x32, multigrid:library takes up to 9 us, while blocks store to other "
      "GPUs (peer-stores), instead of 2.5 us." +
          why)
      << "a program can call it";
}

TEST(barriers_evaluation, says_once_for_each_kind_of_traffic_why_and_what_to_do) {
  std::vector<result> all;
  for (const int members : {2, 4})
    for (const char* load : {"", "host-reads:x32@all"}) {
      all.push_back(of_level("multigrid", "library", members, *load ? 150.0 : 2.0));
      if (*load) all.back().point.set("load", std::string(load));
    }
  int told = 0, why = 0, advice = 0;
  for (const auto& one : evaluated(all).sentences) {
    told += one.starts_with("Beside traffic");
    why += one.find("waits until all reads of host memory") != std::string::npos;
    advice += one.find("poll no word of host memory from a kernel") != std::string::npos;
  }
  EXPECT_EQ(told, 2);
  EXPECT_EQ(why, 1) << "the second time it is known";
  EXPECT_EQ(advice, 1);
}

TEST(barriers_evaluation, tells_traffic_on_the_barriers_own_sms_from_that_on_others) {
  for (const auto& [load, why] :
       {std::pair{"peer-stores:x128@all", " Why: the stores, flags and fences of an SM queue behind"},
        std::pair{"peer-stores:x128@others",
                  " Why: a barrier's system fence waits until what its GPU has sent"},
        std::pair{"local-loads:x128@others", "instead of 2 us."}}) {
    std::vector<result> all{of_level("multigrid", "library", 2, 2.0),
                            of_level("multigrid", "library", 2, 9.0)};
    all[1].point.set("load", std::string(load));
    const auto told = evaluated(all).sentences.back();
    EXPECT_NE(told.find(why), std::string::npos) << told;
    EXPECT_EQ(told.find(" Why: ") == std::string::npos, std::string(load).starts_with("local-loads")) << told;
  }
}

result of_shape(const std::string& variant, int members, double blocks, double threads, double us) {
  auto r = at(blocks, threads, us);
  r.point.subject = "multigrid";
  r.point.variant = variant;
  r.point.members = members;
  return r;
}

TEST(barriers_evaluation, says_that_more_blocks_of_as_many_threads_make_it_slow) {
  std::vector<result> all{of_shape("vendor", 2, 1, 32, 4.6),   of_shape("vendor", 2, 8, 256, 11.1),
                          of_shape("vendor", 2, 32, 64, 30.9), of_shape("library", 2, 1, 32, 2.1),
                          of_shape("library", 2, 8, 256, 2.3), of_shape("library", 2, 32, 64, 2.7)};
  const auto told = [&] { return evaluated(all).sentences.at(1); };
  EXPECT_TRUE(told().ends_with(
      "NVIDIA's own (multigrid:vendor) takes 2.2 to 11 times as long. It pays for each block: with as many "
      "threads on an SM, 8x256 takes 11.1 us and 32x64 30.9 us, 0.82 us for each further block on an SM; "
      "multigrid:library takes 2.3 and 2.7 us there."))
      << told();
  all[2].metrics[0].ci95_low = 10;
  EXPECT_TRUE(told().ends_with("takes 2.2 to 11 times as long.")) << "not shown: " << told();
  all[1].point.set("threads_per_block", 128.0);
  EXPECT_TRUE(told().ends_with("times as long.")) << "other threads too: " << told();
}

TEST(barriers_evaluation, names_the_vendors_barrier_that_its_times_are_of) {
  const std::vector<result> all{of_level("nvshmem", "block", 2, 3.8), of_level("nvshmem", "warp", 2, 4.2),
                                of_level("multigrid", "library", 2, 2.0)};
  EXPECT_TRUE(
      evaluated(all).sentences.at(1).ends_with("NVIDIA's own (nvshmem:block) takes 1.9 times as long."))
      << evaluated(all).sentences.at(1);
}

TEST(barriers_evaluation, says_how_the_barrier_that_cuda_13_removed_was_measured) {
  auto vendor = of_shape("vendor", 2, 1, 32, 4.6);
  vendor.environment["algorithm"] = "multi_grid.sync, launched by cuLaunchCooperativeKernelMultiDevice";
  const auto e = evaluated(std::vector<result>{vendor, of_shape("library", 2, 1, 32, 2.1)});
  ASSERT_EQ(e.in_parts.size(), 1U);
  EXPECT_EQ(e.in_parts[0].parts.back(),
            (std::pair<std::string, std::string>{
                "measured how",
                "CUDA 13 no longer compiles multi_grid.sync, and its driver still runs it: these are kernels "
                "that an "
                "older nvcc compiled (that of CUDA 11.8 or 12; docs/vendor-barrier.md), launched by "
                "cuLaunchCooperativeKernelMultiDevice."}));
}

TEST(barriers_evaluation, says_what_to_take_on_one_gpu_too) {
  const auto e =
      evaluated(std::vector<result>{of_shape("library", 1, 1, 32, 0.8), of_shape("library", 1, 4, 256, 0.9),
                                    of_shape("library", 2, 1, 32, 2.1)});
  ASSERT_GE(e.sentences.size(), 2U);
  EXPECT_TRUE(e.sentences[0].starts_with("On 2 GPUs, take multigrid:library, ")) << e.sentences[0];
  EXPECT_TRUE(
      e.sentences[1].starts_with("On 1 GPU, take multigrid:library, the fastest barrier that a program "
                                 "can call at 2 of 2 shapes: 0.8 us at 1x32 "))
      << e.sentences[1];
}

TEST(barriers_evaluation, says_what_a_late_gpu_costs) {
  auto late = of_level("multigrid", "library", 2, 1.7), auto_late = of_level("multigrid", "auto", 2, 1.5);
  late.point.set("late", 5000.0), auto_late.point.set("late", 5000.0);
  late.metrics[0].raw = {1.7}, late.metrics[0].samples = 1;
  std::vector<result> all{of_level("multigrid", "library", 2, 2.1), late, auto_late};
  const auto told = [&] {
    const auto sentences = evaluated(all).sentences;
    const auto found =
        std::ranges::find_if(sentences, [](const auto& one) { return one.starts_with("Where "); });
    return found == sentences.end() ? "" : *found;
  };
  EXPECT_EQ(
      told(),
      "Where one of 2 GPUs comes 5000 us late, everybody waits those 5000 us for it; after it has come, "
      "multigrid:library takes 1.7 us at 1x32, 2.1 us when nobody is late: as far as one batch of 1 sample "
      "tells, a late GPU costs the time that it is late, and nothing beyond.");
  all[1].metrics[0].raw = {2.5, 2.6, 2.7}, all[1].metrics[0].median = 2.6;
  EXPECT_TRUE(told().ends_with("costs the time that it is late, and 0.5 us.")) << told();
  all.erase(all.begin());
  EXPECT_TRUE(told().ends_with("takes 2.6 us at 1x32; when nobody is late it was not measured (--late 0)."))
      << told();
  all.resize(0);
  EXPECT_EQ(told(), "");
}

TEST(barriers_evaluation, is_happy_with_nothing) {
  const auto e = evaluated({});
  EXPECT_TRUE(e.tables.empty() && e.figures.empty() && e.sentences.empty());
}

}}  // namespace mgsync::barriers
