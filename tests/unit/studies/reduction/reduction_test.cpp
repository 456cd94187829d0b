// Sums by host threads: every way gives the right sum at every size, a number that is left out is found, and
// what results say together.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "src/studies/reduction/gather_tree.hpp"
#include "src/studies/reduction/host_sums.hpp"
#include "src/studies/reduction/reading.hpp"
#include "src/studies/reduction/reduction_evaluation.hpp"
#include "src/studies/reduction/sum_checker.hpp"
#include "topology/description.hpp"

namespace mgsync::reduction { namespace {

seen carried_out(const host_sum& sum, const run_order& asked) {
  const auto made = make_host_sum(sum);
  if (!made.subject) return seen{.done = asked, .ended = ending::died, .reason = made.reason};
  return made.subject->run(asked);
}

TEST(host_sums, every_way_gives_the_right_sum_from_every_buffer) {
  for (const auto& [how, name] : ways)
    for (const auto type : {value_type::fp64, value_type::fp32, value_type::int32})
      for (const unsigned threads : {1U, 3U})
        for (const std::size_t bytes : {std::size_t{3 * 4096}, std::size_t{1} << 17}) {
          host_sum sum;
          sum.how = how;
          sum.type = type;
          sum.bytes = bytes;
          sum.threads = threads;
          sum.working_set = 5 * bytes;
          sum.all_first = bytes == std::size_t{1} << 17 && type == value_type::fp64;
          const auto came = carried_out(sum, run_order{.count = 3});
          EXPECT_EQ(came.ended, ending::completed)
              << name << " " << threads << " threads, " << bytes << ": " << came.reason;
          ASSERT_TRUE(came.checked);
          EXPECT_EQ(came.checked->compared, 3U);
          EXPECT_EQ(came.checked->wrong, 0U);
          EXPECT_EQ(came.values.at("bytes"), std::vector<double>{static_cast<double>(bytes)});
        }
}

TEST(host_sums, a_number_that_is_left_out_is_found_in_every_sum) {
  for (const auto& [how, name] : ways) {
    host_sum sum;
    sum.how = how;
    sum.bytes = 1 << 16;
    sum.working_set = 4 << 16;
    sum.threads = 2;
    const auto came = carried_out(
        sum, run_order{.what = run_order::purpose::check, .count = 4, .fault = leave_out_the_last});
    EXPECT_EQ(came.ended, ending::completed);  // it was asked for
    EXPECT_EQ(came.checked.value().wrong, 4U) << name;
  }
}

seen of_sums(std::uint64_t wrong, std::string fault = "") {
  seen run{.done = run_order{.fault = std::move(fault)}};
  run.checked = check_counts{4, 4, wrong};
  return run;
}

TEST(sum_checker, asks_for_the_fault_once_and_passes_only_where_it_was_found) {
  const auto found = make_sum_checker(), missed = make_sum_checker();
  const auto asked = found->next();
  ASSERT_TRUE(asked);
  EXPECT_EQ(asked->orders.front().fault, leave_out_the_last);
  EXPECT_FALSE(found->next());
  found->take(*asked, std::vector<seen>{of_sums(4, leave_out_the_last)});
  found->take({}, std::vector<seen>{of_sums(0), of_sums(0)});
  EXPECT_TRUE(found->judge().passed);
  EXPECT_EQ(found->judge().rounds, 8U);
  EXPECT_EQ(found->judge().kind, verdict_kind::sum);
  found->take({}, std::vector<seen>{of_sums(1)});
  EXPECT_FALSE(found->judge().passed);
  EXPECT_EQ(found->judge().violations, 1U);
  missed->take(*asked, std::vector<seen>{of_sums(0, leave_out_the_last)});
  missed->take({}, std::vector<seen>{of_sums(0)});
  EXPECT_FALSE(missed->judge().passed);
}

result measured(std::string way, double bytes, double us, double half_width_us) {
  result r;
  r.point.study = "reduction";
  r.point.subject = std::move(way);
  r.point.members = 2;
  r.point.set("type", "fp64");
  r.point.set("memory", "cold");
  r.point.set("bytes", bytes, "B");
  r.status = result_status::measured;
  metric time{metric_name{"time", "us"}}, rate{metric_name{"bandwidth", "GB/s", better::more}};
  time.median = us;
  time.ci95_low = us - half_width_us;
  time.ci95_high = us + half_width_us;
  rate.median = rate.ci95_low = rate.ci95_high = bytes / us * 1e-3;
  r.metrics = {time, rate};
  return r;
}

TEST(reduction_evaluation, gives_shares_of_plain_reading_and_says_where_threads_begin_to_pay) {
  const std::vector<result> all{measured("serial", 4096, 1, 0.1),    measured("explicit", 4096, 3, 0.1),
                                measured("read", 4096, 0.5, 0.1),    measured("serial", 65536, 10, 0.1),
                                measured("explicit", 65536, 9, 2),   measured("read", 65536, 5, 0.1),
                                measured("serial", 1048576, 100, 1), measured("explicit", 1048576, 60, 1),
                                measured("read", 1048576, 50, 1)};
  const auto e = evaluate(all);
  ASSERT_EQ(e.tables.size(), 1U);
  ASSERT_EQ(e.sentences.size(), 1U);
  EXPECT_EQ(e.sentences[0],
            "Sums by 2 threads, fp64, cold: below 1 MiB use one thread.");  // at 64 KiB the intervals overlap
  auto of_ranks = all;
  for (auto& r : of_ranks) r.point.ranks = 2;
  EXPECT_EQ(evaluate(of_ranks).sentences.at(0), "Sums by 2 ranks, fp64, cold: below 1 MiB use one rank.");
  EXPECT_EQ(e.tables[0].rows.size(), 9U);
  EXPECT_EQ(e.tables[0].rows[6][4], "explicit");
  EXPECT_EQ(e.tables[0].rows[6][8], "83.3 %");
  ASSERT_EQ(e.figures.size(), 1U);
  EXPECT_EQ(std::get<chart>(e.figures[0]).curves.size(), 3U);
  EXPECT_TRUE(evaluate({}).tables.empty());
}

// Few samples of a difference of two runs may have an interval that reaches below 0: no bar, and no point
// without a rate.
TEST(reduction_evaluation, draws_what_has_a_rate) {
  const auto e = evaluate(std::vector<result>{measured("read", 4096, 1, 3), measured("read", 8192, -1, 3),
                                              measured("read", 16384, 4, 1)});
  const auto& points = std::get<chart>(e.figures.at(0)).curves.at(0).points;
  ASSERT_EQ(points.size(), 2U);
  EXPECT_FALSE(points[0].low.has_value());
  EXPECT_TRUE(points[1].low.has_value());
}

TEST(reduction_evaluation, threads_that_never_pay_are_told) {
  const std::vector<result> all{measured("serial", 4096, 1, 0.1), measured("clause", 4096, 3, 0.1)};
  EXPECT_EQ(evaluate(all).sentences.at(0),
            "Sums by 2 threads, fp64, cold: one thread is not slower at the largest size that was measured.");
}

result on_gpus(int gpus, std::string way, double bytes, double us, double half_width_us = 0.01) {
  auto r = measured(std::move(way), bytes, us, half_width_us);
  r.point.device = topology::device::gpu;
  r.point.members = gpus;
  r.metrics.front().name = "latency";
  metric call{metric_name{"call", "us"}};
  call.median = 3;
  r.metrics.push_back(call);
  return r;
}

std::string ending_of(const evaluation& e, std::string_view what) {
  for (const auto& t : e.tables)
    for (const auto& row : t.rows)
      if (t.heading.name == "reduction-claims" && row[0].starts_with(what)) return row[3];
  return "none";
}

// Each claim holds for the first results and not for the second.
TEST(reduction_claims, hold_and_do_not_hold) {
  constexpr double gib = 1073741824, kib64 = 65536;
  const std::vector<result> good{on_gpus(1, "auto", kib64, 3),
                                 on_gpus(1, "auto-graph", kib64, 2),
                                 on_gpus(1, "cub", kib64, 4),
                                 on_gpus(1, "read", kib64, 3),
                                 on_gpus(1, "implicit", gib, 250),
                                 on_gpus(1, "grid-sync", gib, 252),
                                 on_gpus(1, "auto", 4 * gib, 940),
                                 on_gpus(1, "read", 4 * gib, 935),
                                 on_gpus(2, "single-kernel", 4 * gib, 950),
                                 on_gpus(2, "host-barrier", 4 * gib, 960)};
  const std::vector<result> bad{on_gpus(1, "auto", kib64, 5),
                                on_gpus(1, "auto-graph", kib64, 2),
                                on_gpus(1, "cub", kib64, 4),
                                on_gpus(1, "read", kib64, 3),
                                on_gpus(1, "implicit", gib, 250),
                                on_gpus(1, "grid-sync", gib, 260),
                                on_gpus(1, "auto", 4 * gib, 980),
                                on_gpus(1, "read", 4 * gib, 935),
                                on_gpus(2, "single-kernel", 4 * gib, 1050),
                                on_gpus(2, "host-barrier", 4 * gib, 960)};
  const auto holds = evaluate(good), fails = evaluate(bad);
  for (const char* what :
       {"auto nowhere slower than cub", "auto faster than cub", "auto beside the best",
        "implicit over grid-sync", "up to 64 KiB", "2 GPUs at 4 GiB", "single-kernel nowhere"}) {
    EXPECT_EQ(ending_of(holds, what), "holds") << what;
    EXPECT_EQ(ending_of(fails, what), "DOES NOT HOLD") << what;
  }
  EXPECT_EQ(ending_of(evaluate({}), "auto"), "none");
}

std::string cost_of(const std::vector<result>& all) {
  for (const auto& t : evaluate(all).tables)
    if (t.heading.name == "barrier-costs-1") return t.rows.at(0).at(4);
  return "none";
}

// What a barrier costs is the difference of two runs of the same loop; a graph is compared with a graph; and
// where the host's calls take as long, that is said.
TEST(reduction_costs, are_those_of_the_same_loop_and_say_what_else_is_in_them) {
  constexpr double mib = 1048576;
  std::vector<result> all{on_gpus(1, "grid-sync", mib, 6.5), on_gpus(1, "read", mib, 5)};
  for (auto& r : all) r.environment["reading"] = "bulk4:256x2";
  EXPECT_EQ(cost_of(all), "1.50");
  all[0].environment["reading"] = "vector4:512x2";
  EXPECT_EQ(cost_of(all), "1.50 (other loop)");
  all[0].environment["reading"] = "bulk4:256x2";
  all[1].metrics[0].median = 3.1;  // the call takes 3
  EXPECT_EQ(cost_of(all), "3.40 (host)");
  all[0].point.subject = "auto-graph";
  EXPECT_EQ(cost_of(all), "-") << "a graph of sums is not compared with single reads";
}

TEST(reduction_claims, say_why_they_cannot_be_judged) {
  constexpr double gib = 1073741824;
  std::vector<result> all{on_gpus(2, "single-kernel", 4 * gib, 950)};
  EXPECT_EQ(ending_of(evaluate(all), "2 GPUs at 4 GiB"), "not judged: read on 1 GPU was not measured here");
  all.push_back(on_gpus(1, "read", 4 * gib, 935));
  all.back().metrics.clear();
  all.back().status = result_status::waived;
  all.back().reason = "it does not fit";
  EXPECT_EQ(ending_of(evaluate(all), "2 GPUs at 4 GiB"), "not judged: read on 1 GPU: it does not fit");
}

// One GPU takes as long as its bytes, two a barrier of 4 us more than half of them: they pay from 8 MiB on.
TEST(reduction_advice, says_from_where_on_two_gpus_pay) {
  std::vector<result> all;
  for (double mib = 1; mib <= 64; mib *= 2) {
    all.push_back(on_gpus(1, "auto", mib * 1048576, mib));
    all.push_back(on_gpus(2, "single-kernel", mib * 1048576, mib + 4));
  }
  const auto e = evaluate(all);
  ASSERT_EQ(e.sentences.size(), 1U);
  const auto at = e.sentences[0].find(": from ");
  ASSERT_NE(at, std::string::npos) << e.sentences[0];
  EXPECT_NEAR(std::strtod(e.sentences[0].c_str() + at + 7, nullptr), 8, 0.5) << e.sentences[0];
  // Of two numbers of GPUs neither says to take one where the other takes several.
  EXPECT_TRUE(
      e.sentences[0].ends_with("in all 2 GPUs with a barrier inside the kernel are faster than one GPU, "
                               "and slower below."))
      << e.sentences[0];
  all.erase(all.begin(), all.begin() + 8);  // from 16 MiB on
  EXPECT_TRUE(evaluate(all).sentences.at(0).ends_with("faster than one GPU, and nothing was measured below."))
      << evaluate(all).sentences[0];
}

topology::machine on_file(const char* name) {
  const auto file = std::string(MGSYNC_MACHINES) + "/" + name + ".machine";
  std::ifstream in(file);
  return topology::read_description(std::string{std::istreambuf_iterator<char>(in), {}}, file);
}

// 000, code 14: the authors' own tree for DGX-1. Where all GPUs address each other it is a star.
TEST(gather_tree, on_dgx_1_is_the_authors_and_a_star_where_everybody_reaches_everybody) {
  const auto dgx1 = on_file("dgx1-v100");
  const auto tree = gather_tree_of(dgx1, {0, 1, 2, 3, 4, 5, 6, 7});
  EXPECT_EQ(tree.reason, "");
  EXPECT_EQ(tree.parents, (std::vector<int>{-1, 0, 0, 0, 0, 4, 4, 4}));
  EXPECT_EQ(to_string(tree), "1>0 2>0 3>0 4>0 5>4 6>4 7>4");
  EXPECT_EQ(tree.children_of(4), (std::vector<unsigned>{5, 6, 7}));
  EXPECT_EQ(gather_tree_of(on_file("dgx-h100"), {0, 1, 2, 3, 4, 5, 6, 7}).parents,
            (std::vector<int>{-1, 0, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(gather_tree_of(dgx1, {0, 6}).reason, "GPU 6 can address none of the GPUs before it");
}

TEST(readings, are_what_their_words_say) {
  const auto bulk = reading_named("bulk4:256x2:chunks");
  ASSERT_TRUE(bulk);
  EXPECT_EQ(*bulk, (reading{loads::bulk4, 256, 2, true}));
  EXPECT_EQ(to_string(*bulk), "bulk4:256x2:chunks");
  const auto one = reading_named("vector4:1024x1:one"), all = reading_named("vector8:256x2:chunks:all");
  ASSERT_TRUE(one && all);
  EXPECT_EQ(one->blocks, how_many::one);
  EXPECT_EQ(to_string(*one), "vector4:1024x1:one");
  EXPECT_EQ(all->blocks, how_many::all);
  EXPECT_EQ(to_string(*all), "vector8:256x2:chunks:all");
  for (const char* wrong :
       {"", "vector4", "vector4:", "vector4:512", "vector4:512x", "vector3:512x2", "vector4:500x2",
        "vector4:512x0", "vector4:512x2:", "vector4:2048x1", "vector4:512x2:one:all", "vector4:512x2:some"})
    EXPECT_FALSE(reading_named(wrong)) << wrong;
}

}}  // namespace mgsync::reduction
