#include <gtest/gtest.h>

#include <array>
#include <map>
#include <string>

#include "src/studies/barriers/barrier_facts.hpp"
#include "src/studies/barriers/barriers_evaluation.hpp"

namespace mgsync::barriers { namespace {

// On two GPUs at 1x32, within `spread` of its median.
result two_gpus(const std::string& subject, const std::string& variant, double us, double spread = 0.01) {
  result r;
  r.point.subject = subject;
  r.point.variant = variant;
  r.point.device = topology::device::gpu;
  r.point.members = 2;
  r.point.group = {0, 1};
  r.point.set("blocks_per_sm", 1.0);
  r.point.set("threads_per_block", 32.0);
  r.status = result_status::measured;
  r.verdict.passed = true;
  metric m{metric_name{"latency", "us"}};
  m.median = us;
  m.ci95_low = us * (1 - spread);
  m.ci95_high = us * (1 + spread);
  m.confidence = 0.95;
  m.raw = {us, us, us, us, us, us};
  r.metrics.push_back(m);
  r.facts = known_facts_of(r.point);
  return r;
}

std::vector<const result*> pointers(const std::vector<result>& all) {
  std::vector<const result*> rows;
  for (const auto& one : all) rows.push_back(&one);
  return rows;
}

const bar_chart* ranked_of(const evaluation& e) {
  for (const auto& one : e.figures)
    if (heading_of(one).name.starts_with("ranked-")) return &std::get<bar_chart>(one);
  return nullptr;
}

TEST(headline, says_what_to_call_and_what_other_makers_take) {
  const std::vector all{two_gpus("multigrid", "auto", 2.0), two_gpus("multigrid", "library", 2.1),
                        two_gpus("multigrid", "vendor", 4.2), two_gpus("kernel-boundary", "graph", 6.3),
                        two_gpus("nccl-device", "hub", 3.15)};
  EXPECT_EQ(headline(pointers(all)), "multigrid:library 2.1 us on 2 GPUs, shape 1x32: 1.50x faster than "
                                     "NCCL's nccl-device:hub, 2.0x faster than "
                                     "NVIDIA's multigrid:vendor.");
}

TEST(headline, claims_no_advantage_where_the_intervals_overlap) {
  const std::vector all{two_gpus("multigrid", "library", 2.1, 0.2), two_gpus("nccl-device", "hub", 2.4, 0.2)};
  EXPECT_EQ(
      headline(pointers(all)),
      "multigrid:library 2.1 us on 2 GPUs, shape 1x32: not shown to be faster than NCCL's nccl-device:hub.");
}

TEST(headline, is_empty_where_nothing_can_be_called_or_nothing_passed) {
  auto failed = two_gpus("multigrid", "library", 2.1);
  failed.verdict.passed = false;
  const std::vector all{two_gpus("multigrid", "auto", 2.0), failed};
  EXPECT_EQ(headline(pointers(all)), "");
}

TEST(ranked, has_the_fastest_first_and_marks_what_is_no_answer) {
  auto unchecked = two_gpus("nccl-device", "hub", 1.0);
  unchecked.verdict.passed = false;
  evaluation e;
  add_ranked(std::vector{two_gpus("multigrid", "library", 2.1), two_gpus("multigrid", "auto", 2.0), unchecked,
                         two_gpus("kernel-boundary", "graph", 6.3)},
             e);
  const auto* chart = ranked_of(e);
  ASSERT_NE(chart, nullptr);
  EXPECT_EQ(chart->heading.name, "ranked-gpu-2-1x32");
  EXPECT_TRUE(chart->in_terminal);
  ASSERT_EQ(chart->bars.size(), 4u);
  const std::pair<const char*, bool> expected[] = {{"nccl-device:hub", true},
                                                   {"multigrid:auto", true},
                                                   {"multigrid:library", false},
                                                   {"kernel-boundary:graph", false}};
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(chart->bars[i].name, expected[i].first);
    EXPECT_EQ(chart->bars[i].reference, expected[i].second) << chart->bars[i].name;
  }
  EXPECT_DOUBLE_EQ(*chart->bars[2].low, 2.1 * 0.99);
}

TEST(ranked, has_a_mark_of_its_own_for_each_reason_and_says_what_it_means) {
  auto unchecked = two_gpus("nccl-device", "hub", 1.0), piece = two_gpus("hop", "relaxed", 0.5);
  unchecked.verdict.passed = piece.verdict.passed = false;
  evaluation e;
  add_ranked(std::vector{two_gpus("multigrid", "library", 2.1), two_gpus("multigrid", "auto", 2.0), unchecked,
                         two_gpus("multigrid", "library-none", 1.2), piece},
             e);
  const auto& chart = *ranked_of(e);
  std::map<std::string, std::array<bool, 3>> marks;
  for (const auto& one : chart.bars)
    marks[one.subject] = {one.marks.hollow, one.marks.pale, one.marks.dashed};
  const std::map<std::string, std::array<bool, 3>> expected{
      {"multigrid:library", {false, false, false}},
      {"multigrid:auto", {true, false, false}},
      {"multigrid:library-none (orders less)", {false, true, false}},
      {"hop:relaxed (orders less)", {true, true, false}},
      {"nccl-device:hub", {false, false, true}}};
  EXPECT_EQ(marks, expected);
  std::vector<std::string> words;
  for (const auto& [mark, meaning] : chart.legend) words.push_back(meaning);
  EXPECT_EQ(words,
            (std::vector<std::string>{"a barrier that a program can call", "no call: no program can use it",
                                      "orders less than a barrier", "not shown to be a barrier"}));
  evaluation plain;
  add_ranked(std::vector{two_gpus("multigrid", "library", 2.1), two_gpus("nccl-device", "hub", 3.2)}, plain);
  EXPECT_TRUE(ranked_of(plain)->legend.empty());
}

TEST(ranked, has_a_logarithmic_scale_where_one_bar_would_hide_the_others) {
  for (const double longest : {30.0, 1527.0}) {
    evaluation e;
    add_ranked(std::vector{two_gpus("multigrid", "library", 2.1), two_gpus("nccl-device", "hub", 3.2),
                           two_gpus("multigrid", "vendor", longest)},
               e);
    const auto& chart = *ranked_of(e);
    EXPECT_EQ(chart.values.logarithmic, longest > 20 * 3.2) << longest;
    EXPECT_EQ(chart.heading.caption.ends_with(" The scale is logarithmic."), longest > 20 * 3.2) << longest;
  }
}

TEST(ranked, says_whose_registers_are_kept_in_memory_where_its_bar_stands) {
  auto spills = two_gpus("multigrid", "library-reduce", 1527);
  spills.environment["algorithm"] = "relay (32 counters, 32 inboxes): many blocks, registers kept in memory";
  evaluation e;
  add_ranked(std::vector{two_gpus("multigrid", "library", 2.1), spills}, e);
  const auto& chart = *ranked_of(e);
  EXPECT_EQ(chart.bars[0].note, "");
  EXPECT_EQ(chart.bars[1].note, "registers in memory");
  EXPECT_NE(chart.heading.caption.find("Registers in memory, by multigrid:library-reduce at 1x32: so many "
                                       "threads leave each fewer registers than the kernel needs"),
            std::string::npos)
      << chart.heading.caption;
  spills.environment.clear();
  evaluation other;
  add_ranked(std::vector{two_gpus("multigrid", "library", 2.1), spills}, other);
  EXPECT_EQ(ranked_of(other)->heading.caption.find("egisters"), std::string::npos);
}

TEST(forms_of_others, are_said_to_be_for_comparison_and_which_order_less) {
  evaluation e;
  add_forms_of_others(
      std::vector{two_gpus("peers", "cas-mailbox", 4.2), two_gpus("peers", "equal-blocks", 2.6),
                  two_gpus("peers", "flags-unordered", 2.7), two_gpus("multigrid", "host-flags", 9)},
      e);
  ASSERT_EQ(e.sentences.size(), 1u) << "multigrid's own are no others";
  const auto& told = e.sentences[0];
  for (const char* words :
       {"peers are barriers of other projects (vLLM, ", "PyTorch", "implemented anew for comparison. ",
        "a program calls those projects, and none of these. ",
        "Of these order less than a barrier: equal-blocks (only workers of equal number meet); "
        "flags-unordered "
        "(all meet, and no memory is ordered); all others order as much."})
    EXPECT_NE(told.find(words), std::string::npos) << words << ": " << told;
  evaluation none;
  add_forms_of_others(std::vector{two_gpus("multigrid", "library", 2.1)}, none);
  EXPECT_TRUE(none.sentences.empty());
}

TEST(ranked, shows_the_largest_groups_first_and_a_dozen_at_most) {
  std::vector<result> all;
  for (const int members : {1, 2, 3})
    for (const unsigned threads : {32u, 64u, 128u, 256u, 512u})
      for (const char* variant : {"library", "auto"}) {
        auto r = two_gpus("multigrid", variant, 2.0);
        r.point.members = members;
        r.point.set("threads_per_block", static_cast<double>(threads));
        all.push_back(r);
      }
  evaluation e;
  add_ranked(all, e);
  EXPECT_EQ(e.figures.size(), 5u);  // 15 cells are too many: those of 3 GPUs
  EXPECT_EQ(heading_of(e.figures.front()).name, "ranked-gpu-3-1x32");
  EXPECT_EQ(heading_of(e.figures.back()).name, "ranked-gpu-3-1x512");
}

TEST(ranked, needs_two_barriers_to_rank) {
  evaluation e;
  add_ranked(std::vector{two_gpus("multigrid", "library", 2.1)}, e);
  EXPECT_TRUE(e.figures.empty());
}

TEST(ranked, of_many_rows_shows_what_can_be_called_and_the_fastest_of_the_others) {
  std::vector all{two_gpus("multigrid", "library", 2.1), two_gpus("multigrid", "vendor", 4.2)};
  for (int i = 0; i < 19; ++i) all.push_back(two_gpus("peers", "form-" + std::to_string(i), 3.0 + i));
  evaluation e;
  add_ranked(all, e);
  const auto* many = ranked_of(e);
  ASSERT_NE(many, nullptr);
  std::vector<std::string> names;
  for (const auto& bar : many->bars) names.push_back(bar.subject);
  EXPECT_EQ(names, (std::vector<std::string>{"multigrid:library", "peers:form-0", "multigrid:vendor"}));
  EXPECT_NE(many->heading.caption.find(" 18 more are left out"), std::string::npos) << many->heading.caption;
  all.pop_back();
  evaluation fewer;
  add_ranked(all, fewer);
  ASSERT_NE(ranked_of(fewer), nullptr);
  EXPECT_EQ(ranked_of(fewer)->bars.size(), 20u);
}

TEST(headline, says_whose_interval_is_of_few_batches) {
  std::vector all{two_gpus("multigrid", "library", 2.1), two_gpus("nccl-device", "hub", 3.15)};
  all[1].metrics[0].raw = {3.15, 3.15};
  all[1].metrics[0].confidence = 0.5;
  EXPECT_NE(headline(pointers(all)).find("1.50x faster than NCCL's nccl-device:hub (of 2 batches only)."),
            std::string::npos)
      << headline(pointers(all));
}

// Whole processes differ by up to 4 %: what was measured by two of them must be further apart.
TEST(ranked, of_two_files_takes_more_to_be_told_apart) {
  std::vector all{two_gpus("multigrid", "library", 2.0, 0.001), two_gpus("nccl-device", "hub", 2.06, 0.001)};
  EXPECT_NE(headline(pointers(all)).find("3.0 % faster than NCCL's"), std::string::npos);
  all[1].file = 1;
  EXPECT_NE(headline(pointers(all)).find("not shown to be faster than NCCL's"), std::string::npos);
  evaluation e;
  add_ranked(all, e);
  EXPECT_EQ(ranked_of(e)->bars[1].file, 1u);
  all[1] = two_gpus("nccl-device", "hub", 2.1, 0.001);
  all[1].file = 1;
  EXPECT_NE(headline(pointers(all)).find("1.05x faster than NCCL's"), std::string::npos)
      << headline(pointers(all));
}

TEST(ranked, leaves_out_what_nobody_waits_for) {
  std::vector all{two_gpus("multigrid", "library", 2.1), two_gpus("nccl-device", "hub", 3.2),
                  two_gpus("hop", "fence-gpu", 0.3)};
  evaluation e;
  add_ranked(all, e);
  ASSERT_NE(ranked_of(e), nullptr);
  EXPECT_EQ(ranked_of(e)->bars.size(), 2u);
}

TEST(carried, costs_what_it_takes_beyond_the_barrier) {
  std::vector all{two_gpus("multigrid", "library", 2.0), two_gpus("multigrid", "library-split", 1.9),
                  two_gpus("multigrid", "library-reduce", 2.5), two_gpus("nccl-device", "hub", 1.5)};
  all[1].verdict.passed = false;
  evaluation e;
  add_carried(all, e);
  ASSERT_EQ(e.sentences.size(), 1u);
  EXPECT_EQ(
      e.sentences[0],
      "A barrier that also carries a sum of 32 bits over all threads (multigrid:library-reduce, by "
      "sync_reduce(value, "
      "mgsync::by_sum{}) of mgsync::this_multi_grid(handle)) takes 2.5 us on 2 GPUs at 1x32: 0.5 us more "
      "than "
      "multigrid:library (25 %).");
  all[2] = two_gpus("multigrid", "library-reduce", 2.01);
  evaluation none;
  add_carried(all, none);
  EXPECT_TRUE(none.sentences.empty());
}

TEST(unordered, is_offered_to_steps_that_hand_over_no_data_where_it_is_shown_to_be_faster) {
  std::vector all{two_gpus("multigrid", "library", 2.1), two_gpus("multigrid", "library-none", 1.2),
                  two_gpus("multigrid", "library-release", 2.0), two_gpus("nccl-device", "hub", 3.2)};
  evaluation e;
  add_unordered(all, e);
  ASSERT_EQ(e.sentences.size(), 1u);
  EXPECT_EQ(e.sentences[0],
            "Where a step hands over no data, on 2 GPUs at 1x32 multigrid:library-none is enough, by "
            "sync<mgsync::order::none>() of mgsync::this_multi_grid(handle): 1.2 us in place of 2.1 for "
            "multigrid:library. All come, and no memory is ordered.");
  for (const double as_long : {2.1, 2.5}) {
    all[1] = two_gpus("multigrid", "library-none", as_long);
    evaluation none;
    add_unordered(all, none);
    EXPECT_TRUE(none.sentences.empty()) << as_long;
  }
}

}}  // namespace mgsync::barriers
