// What the study model makes of results: made-up ones, of which the answers are known.
#include "src/studies/model/model_evaluation.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "tests/unit/studies/model/made_up_measurement.hpp"

namespace mgsync::model { namespace {

result measured(std::string subject, std::string variant, unsigned workers, double cycles) {
  result r;
  r.point.study = "model";
  r.point.subject = std::move(subject);
  r.point.variant = std::move(variant);
  r.point.device = topology::device::gpu;
  r.point.set("workers", static_cast<double>(workers));
  test::measure(r, "cycles", cycles);
  return r;
}

result loop(unsigned workers, double per_turn, double entering) {
  auto r = measured("loop", "one-load", workers, per_turn);
  const auto cycles = [&](double turns) { return entering + per_turn * turns; };
  r.samples = {
      {0, {{"latency", per_turn}, {"mode_8", cycles(8)}, {"mode_16", cycles(16)}, {"mode_32", cycles(32)}}}};
  return r;
}

result sum(unsigned workers, double bytes, double cycles) {
  auto r = measured("sum", "one-load", workers, cycles);
  r.point.set("bytes", bytes, "B");
  return r;
}

TEST(model_evaluation, a_loops_line_is_what_its_lengths_say) {
  const auto line = line_of(loop(32, 31, 40));
  ASSERT_TRUE(line);
  EXPECT_NEAR(line->per_turn, 31, 1e-9);
  EXPECT_NEAR(line->entering, 40, 1e-9);
  EXPECT_FALSE(line_of(measured("loop", "one-load", 1, 31)));  // without lengths
}

// Lengths of which some run other code: as 1024 threads with 1, 2, 4 and 8 turns
// were.
TEST(model_evaluation, what_is_no_line_has_no_figure) {
  auto broken = loop(1024, 85, 40);
  broken.samples.front().values[1].value += 60;
  EXPECT_FALSE(line_of(broken));
  const auto e = evaluate(std::vector<result>{broken});
  ASSERT_FALSE(e.tables.empty());
  EXPECT_EQ(e.tables[0].heading.name, "table-iii");
  EXPECT_EQ(e.tables[0].rows.at(0)[4], "no line");
  EXPECT_EQ(e.tables[0].rows[0].back(), "25.7");
}

// The latency of table III is a turn of the same loop: 8 bytes and 256, by one thread and by a warp.
TEST(model_evaluation, latency_is_a_turn_of_the_same_loop) {
  std::vector<result> all{loop(1, 14.5, 40), loop(32, 16.25, 40), loop(1024, 64, 40)};
  for (auto& r : all) r.point.variant = "as-compiled";
  auto other = loop(1, 44, 40);
  all.push_back(other);
  const auto e = evaluate(all);
  ASSERT_EQ(e.tables[0].rows.size(), 4U);
  EXPECT_EQ(e.tables[0].rows[0][9], "8");
  EXPECT_EQ(e.tables[0].rows[1][9], "256");
  EXPECT_EQ(e.tables[0].rows[2][6], "16.2");
  EXPECT_EQ(e.tables[0].rows[2][9], "2080");
}

// What is foretold comes from other measurements: another load makes the claim fail.
TEST(model_evaluation, a_warps_sum_is_foretold_from_other_studies) {
  const auto of = [](const char* study, const char* subject, double cycles) {
    auto r = measured(subject, "", 32, cycles);
    r.point.study = study;
    r.point.set("quantity", "latency");
    r.point.set("threads_per_block", 32.0);
    r.point.set("form", "unrolled");
    r.point.set("clock", "device");
    return r;
  };
  std::vector<result> all{measured("warp", "tile-shuffle", 32, 23 + 5 * 32), of("levels", "shared_chase", 23),
                          of("levels", "shuffle_64_bits", 24), of("verify", "fp64_add", 8)};
  const auto holds = [&all] {
    for (const auto& one : evaluate(all).expectations)
      if (one.text.starts_with("a warp's sum by shuffles")) return one.holds;
    return std::optional<bool>();
  };
  EXPECT_EQ(holds(), true);
  all[2].metrics.front().median = 34;
  EXPECT_EQ(holds(), false);
  all.pop_back();
  EXPECT_EQ(holds(), std::nullopt) << "an addition was not measured";
}

TEST(model_evaluation, the_refined_form_counts_whole_turns) {
  const refined_configuration warp{32, {31, 40}, 165};
  EXPECT_DOUBLE_EQ(warp.cycles(8), 40 + 31 + 165);
  EXPECT_DOUBLE_EQ(warp.cycles(256), warp.cycles(8));
  EXPECT_DOUBLE_EQ(warp.cycles(264), 40 + 62 + 165);
}

// One thread takes 31 cycles a number, a warp 31 a turn and 165 to join: they meet at 6.3 numbers, and
// measured sums of exactly these costs cross there.
TEST(model_evaluation, foretells_the_crossing_of_sums_that_cost_what_their_parts_do) {
  std::vector<result> all{loop(1, 31, 40), loop(32, 31, 40), measured("step", "shuffle", 32, 33),
                          measured("step", "shuffle-alone", 32, 24)};
  for (const double bytes : {8.0, 16.0, 32.0, 48.0, 64.0, 128.0, 256.0, 512.0}) {
    all.push_back(sum(1, bytes, 40 + 31 * bytes / 8));
    all.push_back(sum(32, bytes, 40 + 31 * std::ceil(bytes / 256) + 165));
  }
  const auto e = evaluate(all);
  const auto iv = std::find_if(e.tables.begin(), e.tables.end(),
                               [](const table& t) { return t.heading.name == "table-iv"; });
  ASSERT_NE(iv, e.tables.end());
  ASSERT_EQ(iv->rows.size(), 1U);  // nothing is known of 1024 threads
  EXPECT_EQ(iv->rows[0][1], "1 thread -> 1 warp");
  EXPECT_EQ(iv->rows[0][4], "120");  // five shuffles
  const double measured_at = std::stod(iv->rows[0][8]), refined_at = std::stod(iv->rows[0][12]);
  EXPECT_GT(measured_at, 48);
  EXPECT_LT(measured_at, 52);
  EXPECT_DOUBLE_EQ(refined_at, measured_at);
  EXPECT_EQ(iv->rows[0][13], "1.00");
  ASSERT_EQ(e.sentences.size(), 1U);
  EXPECT_NE(e.sentences[0].find("use 1 thread, above 1 warp"), std::string::npos) << e.sentences[0];
}

TEST(model_evaluation, a_wrong_sum_is_told_and_sums_that_did_not_pass_make_no_curve) {
  auto wrong = measured("warp", "nosync", 32, 89);
  wrong.verdict.passed = false;
  wrong.quantities = {{"seen", {"", {12}}}, {"expected", {"", {16}}}};
  const auto e = evaluate(std::vector<result>{wrong, measured("warp", "tile", 32, 200)});
  ASSERT_EQ(e.tables.size(), 2U);
  EXPECT_EQ(e.tables[0].rows[0][6], "WRONG: 12 in place of 16");
  EXPECT_EQ(e.tables[0].rows[1][6], "right");
  EXPECT_EQ(e.tables[1].rows.at(0).back(), "holds");  // that it is wrong
  wrong.verdict.passed = true;
  EXPECT_EQ(evaluate(std::vector<result>{wrong}).tables.at(1).rows.at(0).back(), "DOES NOT HOLD");
  auto failed = sum(1, 8, 71);
  failed.verdict.passed = false;
  EXPECT_TRUE(evaluate(std::vector<result>{failed}).figures.empty());
}

}}  // namespace mgsync::model
