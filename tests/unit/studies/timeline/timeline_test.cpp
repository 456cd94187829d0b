#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "barriers/parts/round_loop/block_record.hpp"
#include "src/base/cycle_counter.hpp"
#include "src/base/pinning.hpp"
#include "src/harness/methods/slope.hpp"
#include "src/results/files/chrome_trace.hpp"
#include "src/studies/timeline/barrier_rounds.hpp"
#include "src/studies/timeline/clock_offset.hpp"
#include "src/studies/timeline/core_clocks.hpp"
#include "src/studies/timeline/instruction_list.hpp"
#include "src/studies/timeline/instruction_overlap.hpp"
#include "src/studies/timeline/instruction_runs.hpp"
#include "src/studies/timeline/order_checker.hpp"
#include "src/studies/timeline/region_runs.hpp"
#include "src/studies/timeline/timeline_evaluation.hpp"
#include "tests/unit/results/chrome_trace_reader.hpp"

namespace mgsync::timelines { namespace {

// The other clock is ahead by 1000; ways take 40 to 90 ticks, no two alike.
std::vector<exchange> messages(std::int64_t ahead) {
  std::vector<exchange> all;
  for (std::uint64_t k = 0; k < 50; ++k) {
    const std::uint64_t asked = 5000 + 1000 * k, there = 40 + (k * 7) % 50, back = 41 + (k * 11) % 49;
    all.push_back({asked, asked + there + static_cast<std::uint64_t>(ahead), asked + there + back});
  }
  return all;
}

TEST(clock_offset, the_truth_lies_between_the_bounds_and_they_are_as_narrow_as_the_fastest_ways) {
  for (const std::int64_t ahead : {1000, 0, -4000}) {
    const auto found = offset_of(messages(ahead));
    ASSERT_TRUE(found);
    EXPECT_LE(found->low, ahead);
    EXPECT_GE(found->high, ahead);
    EXPECT_NEAR(found->high - found->low, 40 + 41 + 2,
                1);  // both ways at their fastest, and a tick for each clock
  }
}

TEST(clock_offset, ways_that_take_unequally_long_are_no_lie) {
  const auto found = offset_of(std::vector<exchange>{{0, 10, 1000}});  // there in no time, or back in none
  ASSERT_TRUE(found);
  EXPECT_LE(found->low, -990);
  EXPECT_GE(found->high, 10);
}

TEST(clock_offset, clocks_that_do_not_run_alike_have_none) {
  auto drifting = messages(0);
  for (std::size_t k = 0; k < drifting.size(); ++k) drifting[k].answered += 20 * k;
  EXPECT_FALSE(offset_of(drifting));
  EXPECT_FALSE(offset_of({}));
}

TEST(clock_offset, over_a_run_both_hold) {
  const auto both = over_run({-3, 5}, {1, 9});
  EXPECT_EQ(both.low, -3);
  EXPECT_EQ(both.high, 9);
  EXPECT_EQ(both.ticks(), 3);
  EXPECT_EQ(both.bound(), 6);
}

// Real clocks of this machine's cores: beside itself a clock is not off by more than its bound.
TEST(core_clocks, of_this_machine_are_compared_with_a_bound) {
  const auto cpus = allowed_cpus();
  if (!has_cycle_counter || cpus.size() < 2) GTEST_SKIP() << "two processors with a cycle counter are needed";
  core_clocks clocks({cpus[0], cpus[1]});
  std::string reason;
  const auto offsets = clocks.measure(reason);
  ASSERT_EQ(offsets.size(), 2U) << reason;
  EXPECT_EQ(offsets[0].bound(), 0);
  EXPECT_GT(offsets[1].bound(), 0);
  EXPECT_GT(measure_ticks_per_ns(), 0);
}

// Two GPUs of two blocks: block 1 of GPU 1 comes last, by 300 ns; everybody leaves within 500 ns of it.
recording two_rounds(double uncertainty = 32) {
  recording r{"ns",
              "block",
              {"GPU 0 block 0", "GPU 0 block 1", "GPU 1 block 0", "GPU 1 block 1"},
              kinds_of_rounds(),
              {},
              uncertainty};
  const double came[4] = {0, 120, 60, 420}, went[4] = {700, 730, 780, 920};
  for (std::uint32_t round = 7; round < 9; ++round)
    for (std::uint32_t w = 0; w < 4; ++w) {
      const double from = 5000 + 1000.0 * (round - 7);
      r.events.push_back(
          {from + came[w], w, arrived, round, static_cast<std::uint64_t>(from + came[w]), 0, w});
      r.events.push_back({from + went[w], w, left, round, static_cast<std::uint64_t>(from + went[w]), 0, w});
    }
  return r;
}

TEST(rounds, say_who_came_last_and_who_waited) {
  const auto r = two_rounds();
  const auto rounds = rounds_of(r);
  ASSERT_EQ(rounds.size(), 2U);
  EXPECT_EQ(rounds[0].number, 7U);
  EXPECT_EQ(rounds[0].last, std::vector<std::uint32_t>{3});
  EXPECT_DOUBLE_EQ(rounds[0].last_arrival - rounds[0].first_arrival, 420);
  EXPECT_DOUBLE_EQ(rounds[0].release(), 500);
  EXPECT_DOUBLE_EQ(round_time(rounds), 1000);
  EXPECT_TRUE(left_too_early(r, rounds).empty());
  const auto lines = table_of_rounds(r, rounds, {"t", "t"});
  EXPECT_EQ(lines.rows[0], (std::vector<std::string>{"7", "GPU 1 block 1", "420", "280", "500", "920"}));
  const auto members = table_of_members(r, rounds[0], {"m", "m"});
  ASSERT_EQ(members.rows.size(), 2U);
  EXPECT_EQ(members.rows[0], (std::vector<std::string>{"GPU 0", "0", "120", "-", "700", "730"}));
  EXPECT_EQ(members.rows[1], (std::vector<std::string>{"GPU 1", "60", "420", "-", "780", "920"}));
}

TEST(rounds, no_order_is_claimed_within_the_bound) {
  const auto rounds = rounds_of(two_rounds(310));
  EXPECT_EQ(rounds[0].last, (std::vector<std::uint32_t>{1, 3}));
  EXPECT_EQ(table_of_rounds(two_rounds(310), rounds, {"t", "t"}).rows[0][1],
            "GPU 0 block 1 or GPU 1 block 1");
  EXPECT_EQ(table_of_rounds(two_rounds(2000), rounds_of(two_rounds(2000)), {"t", "t"}).rows[0][1],
            "one of 4 within the bound");
}

TEST(rounds, a_barrier_that_lets_somebody_out_early_is_found) {
  auto r = two_rounds();
  for (auto& e : r.events)
    if (e.worker == 0 && e.kind == left && e.round == 8) e.at -= 400;  // 120 ns before the last has come
  const auto found = left_too_early(r, rounds_of(r));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0], "GPU 0 block 0 left round 8 120 ns before GPU 1 block 1 came, and the clocks are known "
                      "to within 32 ns");
  r.uncertainty = 130;
  EXPECT_TRUE(left_too_early(r, rounds_of(r)).empty());
}

TEST(rounds, of_which_somebody_is_missing_are_left_out) {
  auto r = two_rounds();
  std::erase_if(r.events, [](const recorded_event& e) { return e.worker == 2 && e.round == 7; });
  ASSERT_EQ(rounds_of(r).size(), 1U);
  EXPECT_EQ(rounds_of(r)[0].number, 8U);
}

TEST(rounds, are_drawn_as_waiting_and_release_that_no_viewer_refuses) {
  const auto r = two_rounds();
  const auto t = picture_of_rounds(r, rounds_of(r), {"t", "t"});
  EXPECT_EQ(t.tracks[0].events[0], (event{"waits for the last", 0, 420, "round 7, for GPU 1 block 1"}));
  EXPECT_EQ(t.tracks[0].events[1], (event{"is released", 420, 700, "round 7"}));
  EXPECT_EQ(t.tracks[3].events[0], (event{"waits for the last", 420, 420, "round 7, for GPU 1 block 1"}));
  EXPECT_EQ(complaints_about_trace(to_chrome_trace(t)), std::vector<std::string>{});
}

TEST(rounds, a_member_that_was_heard_speaking_has_a_row_of_its_own) {
  auto r = two_rounds();
  const auto came = r.events.front().at;
  r.events.push_back({came + 200, 1, spoke, 7, 0, 0, 0});
  const auto rounds = rounds_of(r);
  ASSERT_EQ(rounds.size(), 2U);
  const auto t = picture_of_rounds(r, rounds, {"t", "t"});
  ASSERT_EQ(t.tracks.size(), 5U);
  EXPECT_EQ(t.tracks[4].name, "GPU 0 speaks");
  EXPECT_EQ(t.tracks[4].events[0], (event{"its last has come, it speaks", 120, 200, "round 7"}));
  EXPECT_EQ(t.tracks[4].events[1], (event{"has spoken, waits", 200, 700, "round 7"}));
  EXPECT_EQ(complaints_about_trace(to_chrome_trace(t)), std::vector<std::string>{});
  EXPECT_EQ(table_of_members(r, rounds[0], {"m", "m"}).rows[0],
            (std::vector<std::string>{"GPU 0", "0", "120", "200", "700", "730"}));
}

TEST(block_record, moments_lie_on_the_line_through_its_clock_readings) {
  auto b = std::make_unique<round_loop::block_events>();
  b->sm = 5, b->block = 3;
  b->began = 1000;
  const std::size_t ring = round_loop::recorded_ring;
  b->left[0] = 1500, b->left[1] = 2500, b->left[2] = 3500;
  b->readings[0] = {900, 50000};
  b->readings[2] = {4900, 52000};  // 2 cycles a ns
  std::fill(std::begin(b->spoke_round), std::end(b->spoke_round), ~0u);
  b->spoke[17] = 2000, b->spoke_round[17] = 1;
  auto r = round_loop::record_of(*b, 1, 3, 2);
  EXPECT_EQ(r.worker.member, 1U);
  EXPECT_EQ(r.worker.block, 3U);
  EXPECT_EQ(r.processor, 5U);
  EXPECT_EQ(r.first_round, 1U);
  ASSERT_EQ(r.passages.size(), 2U);
  EXPECT_EQ(r.passages[0].arrived.timer_ns, 50300U);  // as it left round 0
  EXPECT_EQ(r.passages[0].left.timer_ns, 50800U);
  EXPECT_EQ(r.passages[1].arrived.timer_ns, 50800U);
  ASSERT_TRUE(r.passages[0].spoke);
  EXPECT_EQ(r.passages[0].spoke->timer_ns, 50550U);
  EXPECT_FALSE(r.passages[1].spoke);
  EXPECT_EQ(round_loop::record_of(*b, 1, 3, 3).passages[0].arrived.timer_ns, 50050U);  // when it began
  // Where something lies between rounds the block says when it comes; of many rounds the last ones stay.
  b->stamps_coming = 1;
  b->came[999 % ring] = 4000, b->left[999 % ring] = 4400;
  r = round_loop::record_of(*b, 1, 1000, 1);
  EXPECT_EQ(r.passages[0].arrived.timer_ns, 51550U);
  EXPECT_EQ(r.passages[0].left.timer_ns, 51750U);
}

seen recorded(const recording& r, run_order::purpose what) {
  const bool control = what == run_order::purpose::check;
  return {.done = {.what = what, .count = 2, .fault = control ? "early" : ""}, .own = r};
}

recording broken() {
  auto r = two_rounds();
  for (auto& e : r.events)
    if (e.worker == 0 && e.kind == left) e.at -= 400;
  return r;
}

TEST(order_checker, passes_what_is_a_barrier_once_its_control_was_found) {
  order_checker p;
  const auto control = p.next();
  ASSERT_TRUE(control);
  EXPECT_EQ(control->orders.front().fault, "early");
  p.take(*control, std::vector{recorded(broken(), run_order::purpose::check)});
  EXPECT_FALSE(p.next());
  p.take({}, std::vector{recorded(two_rounds(), run_order::purpose::time)});
  const auto v = p.judge();
  EXPECT_TRUE(v.passed);
  EXPECT_EQ(v.rounds, 2U);
  EXPECT_EQ(v.observations, 8U);
  EXPECT_TRUE(p.refuted().empty());
  EXPECT_TRUE(p.void_because().empty());
  result r;
  p.add_to(r);
  ASSERT_EQ(r.attachments.size(), 3U);
  EXPECT_EQ(recording_from_json(r.attachments[0].content, "here"), two_rounds());
  EXPECT_EQ(complaints_about_trace(r.attachments[2].content), std::vector<std::string>{});
}

TEST(order_checker, refuses_what_is_none_and_voids_what_nothing_could_have_found) {
  order_checker p;
  const auto control = p.next();
  p.take(*control,
         std::vector{recorded(two_rounds(), run_order::purpose::check)});  // the control went unnoticed
  p.take({}, std::vector{recorded(two_rounds(), run_order::purpose::time)});
  EXPECT_FALSE(p.judge().passed);
  EXPECT_NE(p.void_because(), "");
  p.take({}, std::vector{recorded(broken(), run_order::purpose::time)});
  EXPECT_EQ(p.judge().violations, 2U);
  EXPECT_NE(p.refuted().find("GPU 0 block 0 left round 7 120 ns before"), std::string::npos);
}

// Paper 002's numbers, as far as they survive: 56 cycles corrected and 384 as compiled; of the parts a
// barrier of four warps takes 28 (paper 000, V100) and a load 23 (Turing), so that 5 are left for the store.
TEST(instruction_overlap, the_papers_region_is_the_sum_of_its_parts_and_its_twin_is_not) {
  const double reads = 2;
  const auto j = judge({.store_and_load = 5 + 23,
                        .barrier = 28,
                        .load = 23,
                        .load_once = 23 + reads,
                        .nothing = 0,
                        .corrected = 56 + reads,
                        .as_compiled = 384});
  EXPECT_DOUBLE_EQ(j.sum_of_parts, 58);
  EXPECT_DOUBLE_EQ(j.corrected_less_sum, 0);
  EXPECT_DOUBLE_EQ(j.as_compiled_less_sum, 326);
  EXPECT_TRUE(j.is_the_sum);
  EXPECT_TRUE(j.twin_misleads);
  EXPECT_FALSE(judge({28, 28, 23, 23, 0, 61, 384}).is_the_sum);
  EXPECT_FALSE(judge({28, 28, 23, 23, 0, 56, 155}).twin_misleads);
}

TEST(instruction_overlap, loads_side_by_side_cost_their_issue_only) {
  std::vector<loads_point> line;
  for (const double k : {1.0, 2.0, 4.0, 8.0, 16.0}) line.push_back({k, 23 + (k - 1) * 2});
  const auto found = overlap_of_loads(line);
  EXPECT_NEAR(found.latency, 23, 1e-9);
  EXPECT_NEAR(found.interval, 2, 1e-9);
  EXPECT_NEAR(found.residual, 0, 1e-9);
  line[3].cycles += 7;
  EXPECT_GT(overlap_of_loads(line).residual, 3);
  EXPECT_THROW(overlap_of_loads(std::vector<loads_point>{{4, 30}, {4, 31}}), std::invalid_argument);
}

TEST(instruction_overlap, of_a_pair_is_one_where_the_shorter_is_free) {
  EXPECT_DOUBLE_EQ(overlap_of_pair(23, 22, 23), 1);
  EXPECT_DOUBLE_EQ(overlap_of_pair(23, 22, 45), 0);
  EXPECT_LT(overlap_of_pair(23, 22, 50), 0);
  EXPECT_THROW(overlap_of_pair(0, 22, 23), std::invalid_argument);
}

// Two passes of four warps: a cold one, then the paper's corrected numbers.
std::vector<warp_pass> paper_passes() {
  std::vector<warp_pass> all;
  for (std::uint64_t w = 0; w < 4; ++w) all.push_back({100 + w, 900});
  const std::uint64_t starts[] = {0, 3, 4, 7}, stops[] = {58, 59, 61, 63};
  for (int w = 0; w < 4; ++w) all.push_back({5000 + starts[w], 5000 + stops[w]});
  return all;
}

seen region_run(double corrected) {
  const auto passes = paper_passes();
  seen run;
  for (const auto& [kernel, cycles] : {std::pair{"stores_and_loads_4", 10 + 4 * 28.0},
                                       {"stores_and_loads_32", 10 + 32 * 28.0},
                                       {"barriers_4", 4 * 28.0},
                                       {"barriers_32", 32 * 28.0},
                                       {"chased_loads_4", 4 * 23.0},
                                       {"chased_loads_32", 32 * 23.0},
                                       {"region_load", 25.0},
                                       {"region_nothing", 2.0},
                                       {"region_corrected", corrected},
                                       {"region_as_compiled", 384.0},
                                       {"shuffle_alone", 25.0},
                                       {"load_beside_shuffle", 27.0}})
    run.values[kernel] = {cycles};
  for (const double k : {1, 2, 4, 8, 16})
    run.values["loads_" + std::to_string(static_cast<int>(k))] = {25 + 2 * (k - 1)};
  const auto last = recording_of_pass(std::span(passes).last(4), 3);
  run.own = region_recordings{last, last};
  return run;
}

TEST(region, a_pass_is_the_papers_table_and_the_first_one_is_not_counted) {
  const auto passes = paper_passes();
  EXPECT_DOUBLE_EQ(typical_cycles(passes, 4), 57);
  EXPECT_THROW(typical_cycles(std::span(passes).first(4), 4), std::invalid_argument);
  const auto text = event_table(recording_of_pass(std::span(passes).last(4), 3));
  EXPECT_NE(text.find("61 | STOP  | [2(Δt=57) ]"), std::string::npos) << text;
}

TEST(region, is_measured_in_batches_and_told_with_its_twin) {
  region_method m;
  region_checker p;
  for (auto asked = m.next({}); asked; asked = m.next({})) {
    const std::vector came{region_run(58)};
    p.take(*asked, came);
    m.take(*asked, came);
  }
  EXPECT_EQ(m.stopped(), stop_reason::precision);
  result r;
  r.point.study = "timeline";
  r.point.subject = "region";
  r.status = result_status::measured;
  r.metrics = m.values();
  p.add_to(r);
  ASSERT_EQ(r.attachments.size(), 6U);
  EXPECT_EQ(complaints_about_trace(r.attachments[2].content), std::vector<std::string>{});
  EXPECT_DOUBLE_EQ(r.find("sum_of_parts")->median, 58);
  EXPECT_DOUBLE_EQ(r.find("load_latency")->median, 23);
  EXPECT_NEAR(r.find("overlap")->median, 1 - 2.0 / 23, 1e-9);
  const auto e = evaluate(std::span(&r, 1));
  ASSERT_EQ(e.figures.size(), 2U);
  EXPECT_EQ(e.tables.front().rows[0], (std::vector<std::string>{"as compiled", "384", "378-384"}));
  EXPECT_NE(
      e.sentences[0].find("take 58 cycles; the sum of the parts is 58. As compiled it would have been 384"),
      std::string::npos)
      << e.sentences[0];
}

// Chains whose links take what they take, and a pair of which a third is hidden.
TEST(instructions, are_told_by_their_slope_beside_what_nobody_checked) {
  const auto& i = probes::probe_called("instructions", "bank_conflict");
  instruction_method m(i);
  for (auto asked = m.next({}); asked; asked = m.next({})) {
    seen run;
    for (const unsigned links : i.lengths)
      run.values["bank_conflict_" + std::to_string(links)] = {11.0 + 23 * links};
    run.values["bank_conflict_once"] = {33.0};
    run.values["bank_conflict_as_compiled"] = {6.0};
    m.take(*asked, std::vector{run});
  }
  result r;
  r.point.study = "timeline";
  r.point.subject = i.name;
  r.point.set("ways", 1.0);
  r.status = result_status::measured;
  r.metrics = m.values();
  EXPECT_NEAR(r.find("latency")->median, 23, 1e-9);
  EXPECT_NEAR(r.find("residual")->median, 0, 1e-9);
  const auto e = evaluate(std::span(&r, 1));
  ASSERT_EQ(e.tables.size(), 1U);
  EXPECT_EQ(e.tables[0].rows[0], (std::vector<std::string>{"load, lanes that want one bank", "ways: 1",
                                                           "23.0", "33.0", "6.0", "29.0: H100"}));
  const double one[] = {4};
  EXPECT_THROW(fit_line(one, one), std::invalid_argument);
}

TEST(instructions, side_by_side_are_told_by_what_is_hidden) {
  pairs_method m;
  for (auto asked = m.next({}); asked; asked = m.next({})) {
    seen run;
    run.values["pair_chased_loads_4"] = {5 + 4 * 30.0};
    run.values["pair_chased_loads_32"] = {5 + 32 * 30.0};
    for (const auto& i : lone_instructions)
      run.values["alone_" + std::string(i.name)] = {i.name == "lds" ? 40.0 : 34.0};  // 10 of them the reads
    for (const auto& p : probes::probes_of("pairs"))
      if (p.name.find("_beside_") != std::string_view::npos)
        run.values[std::string(p.name)] = {p.name == "lds_beside_shfl" ? 56.0 : 40.0};
    m.take(*asked, std::vector{run});
  }
  result r;
  r.point.study = "timeline";
  r.point.subject = "pairs";
  r.status = result_status::measured;
  r.metrics = m.values();
  EXPECT_NEAR(r.find("lds_beside_shfl")->median, 1.0 / 3, 1e-9);
  const auto e = evaluate(std::span(&r, 1));
  ASSERT_EQ(e.tables.size(), 1U);
  EXPECT_EQ(e.tables[0].rows[0][0], "load, shared (LDS)");
  EXPECT_EQ(e.tables[0].rows[0][3], "33 %");
  EXPECT_EQ(e.tables[0].rows[1][2], "33 %");
}

result latency_of(const char* recorder, double us) {
  result r;
  r.point.study = "timeline";
  r.point.subject = "multigrid";
  r.point.variant = "auto";
  r.point.members = 2;
  r.point.group = {0, 1};
  r.point.set("late", 0.0, "us");
  r.point.set("recorder", std::string(recorder));
  r.status = result_status::measured;
  r.metrics.push_back(
      summarize_batches({"latency", "us"}, {{us}, {us * 1.01}, {us * 1.02}, {us * 0.99}, {us}, {us}, {us}}));
  return r;
}

TEST(timeline_evaluation, says_what_the_recorder_costs_and_draws_what_was_recorded) {
  std::vector<result> all{latency_of("on", 2.4), latency_of("off", 2.0)};
  all[0].attachments.push_back({"recording.json", "application/json", text_of(two_rounds())});
  const auto cost = cost_of_recorder(all, all[0]);
  ASSERT_TRUE(cost);
  EXPECT_NEAR(cost->relative.estimate, 0.2, 0.01);
  EXPECT_GT(cost->relative.low, 0.1);
  const auto e = evaluate(all);
  ASSERT_EQ(e.figures.size(), 1U);
  EXPECT_NE(heading_of(e.figures[0]).caption.find("2400 ns with the recorder and 2000 ns without (+20.0 %"),
            std::string::npos)
      << heading_of(e.figures[0]).caption;
  EXPECT_EQ(heading_of(e.figures[0]).name, "timeline-multigrid-auto-2-host-members");
  ASSERT_EQ(e.tables.size(), 2U);
  ASSERT_EQ(e.sentences.size(), 2U);
  EXPECT_NE(e.sentences[0].find("GPU 1 block 1 came last in 2 of 2 rounds"), std::string::npos)
      << e.sentences[0];
  EXPECT_NE(e.sentences[1].find("the recorder shows in the picture"), std::string::npos);
  all[1] = latency_of("off", 2.39);
  EXPECT_NE(evaluate(all).sentences[1].find("the recorder costs little"), std::string::npos);
  all[1].metrics.front() =
      summarize_batches({"latency", "us"}, {{1.5}, {3}, {2.4}, {2.2}, {2.6}, {1.8}, {2.4}});
  EXPECT_NE(evaluate(all).sentences[1].find("not decided"), std::string::npos) << evaluate(all).sentences[1];
  // Of one batch each there is neither an interval nor a share: "-29.1 % with 0 % confidence" is no answer.
  for (auto& r : all) r.metrics.front() = summarize_batches({"latency", "us"}, {{r.metrics.front().median}});
  const auto undecided = evaluate(all);
  EXPECT_NE(undecided.sentences[1].find("what the recorder costs is not decided"), std::string::npos)
      << undecided.sentences[1];
  for (const auto& text : {undecided.sentences[1], heading_of(undecided.figures[0]).caption}) {
    EXPECT_EQ(text.find(" % "), std::string::npos) << text;
    EXPECT_NE(text.find("too few batches"), std::string::npos) << text;
  }
  EXPECT_EQ(evaluate(std::span(all).first(1)).sentences.size(), 1U);  // without the other it is not said
  EXPECT_FALSE(cost_of_recorder(std::span(all).first(1), all[0]));
}

}}  // namespace mgsync::timelines
