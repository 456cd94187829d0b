#include "src/results/comparison/acceptance.hpp"
#include "src/results/comparison/acceptance_forms.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include <nlohmann/json.hpp>

#include "made_up_results.hpp"
#include "tests/unit/refused.hpp"

namespace mgsync { namespace {

using test::measured;

point gpu_point(std::string subject, std::vector<int> gpus, double blocks = 1) {
  point p;
  p.subject = std::move(subject);
  p.variant = "auto";
  p.device = topology::device::gpu;
  p.members = static_cast<int>(gpus.size());
  p.group = std::move(gpus);
  p.set(axes::blocks_per_sm, blocks);
  p.set(axes::threads_per_block, 32.0);
  p.set(axes::load, "idle");
  return p;
}

std::vector<int> first(int count) {
  std::vector<int> all;
  for (int g = 0; g < count; ++g) all.push_back(g);
  return all;
}

// A process that measured three subjects on 1, 2 and `gpus` GPUs; `shift`: how far it is off as a whole.
json_document process(int gpus, double shift, std::uint64_t seed) {
  json_document document;
  for (const auto* subject : {"grid", "multigrid", "nccl-device"})
    for (const int members : {1, 2, gpus})
      for (const double blocks : {1.0, 4.0})
        document.results.push_back(measured(gpu_point(subject, first(members), blocks),
                                            (1 + 0.5 * members + blocks) * shift, ++seed));
  return document;
}

std::vector<json_document> processes(int gpus) {
  return {process(gpus, 1, 10), process(gpus, 1.01, 20), process(gpus, 0.99, 30)};
}

std::vector<std::vector<int>> pairs(int gpus) {
  std::vector<std::vector<int>> all;
  for (int a = 0; a < gpus; ++a)
    for (int b = a + 1; b < gpus; ++b) all.push_back({a, b});
  return all;
}

std::vector<acceptance_point> plan(int gpus) {
  return plan_acceptance(reference_spread(processes(gpus)), {.members = gpus, .pairs = pairs(gpus)});
}

// What a node measures of the plan, of which `times` says how slow each point is.
template <class Times>
acceptance judged(const std::vector<acceptance_point>& planned, Times times) {
  json_document document;
  std::uint64_t seed = 100;
  for (const auto& p : planned)
    document.results.push_back(measured(p.point, p.base_us * times(p.point.group), ++seed));
  acceptance node;
  judge(node, planned, document);
  return node;
}

bool has(const std::vector<int>& group, int gpu) { return std::ranges::count(group, gpu) > 0; }

TEST(reference_spread, has_the_limits_of_student) {  // Abramowitz and Stegun, table 26.10: 4.032 at 0.005, 5
  reference_point one;
  one.processes = {1, 1};
  one.deviation = 0.01, one.freedom = 5;
  EXPECT_NEAR(std::log(limit_of(one, 2)), 4.032 * 0.01 * std::sqrt(1.5), 1e-5);
}

TEST(reference_spread, a_point_that_differs_more_between_processes_may_be_slower) {
  std::vector<json_document> documents(5);
  for (std::size_t i = 0; i < documents.size(); ++i) {
    const auto off = static_cast<double>(i) - 2;
    documents[i].results = {measured(gpu_point("calm", {0}), 2 * std::exp(0.005 * off)),
                            measured(gpu_point("wild", {0}), 2 * std::exp(0.1 * off))};
  }
  const reference_spread known(documents);
  const auto& calm = *known.find(gpu_point("calm", {1}));
  const auto& wild = *known.find(gpu_point("wild", {1}));
  EXPECT_NEAR(calm.centre, 2, 0.02);
  EXPECT_EQ(calm.processes.size(), 5U);
  EXPECT_LT(limit_of(calm, 10), 1.12);
  EXPECT_GT(limit_of(wild, 10), 1.5);
  EXPECT_GT(limit_of(calm, 40), limit_of(calm, 10)) << "more points, more chances of a false alarm";
  const reference_spread alone({documents.data(), 1});
  EXPECT_GT(limit_of(*alone.find(gpu_point("calm", {1})), 10), 1.2) << "one process says little";
}

TEST(reference_spread, counts_what_is_of_one_batch_and_judges_by_none_of_it) {
  json_document document;
  document.results = {measured(gpu_point("calm", {0}), 2), measured(gpu_point("short", {0}), 2)};
  document.results[1].metrics.front().raw.resize(1);
  const reference_spread known({&document, 1});
  EXPECT_EQ(known.points().size(), 1U);
  EXPECT_EQ(known.find(gpu_point("short", {0})), nullptr);
  EXPECT_EQ(count_of_one_batch(known, topology::device::gpu), 1U);
  EXPECT_EQ(count_of_one_batch(known, topology::device::host), 0U);
}

TEST(reference_spread, says_what_it_leaves_out) {
  const auto host = [](int members, bool busy) {
    auto r = measured(test::a_point("openmp", "runtime", members), 2);
    r.point.device = topology::device::host;
    if (busy) r.doubts = {{std::string(doubt_kinds::load), 9, "9 runnable threads for 2"}};
    return r;
  };
  json_document document;
  document.results = {host(1, false), host(2, true), host(2, true), host(4, false)};
  const reference_spread known({&document, 1});
  EXPECT_EQ(known.points().size(), 2U);
  EXPECT_EQ(left_out(known, topology::device::host, 2),
            "2 of 2 points mean little: 9 runnable threads for 2 (the worst of 2)");
  EXPECT_EQ(left_out(known, topology::device::host, 4), "");
  EXPECT_EQ(left_out(known, topology::device::gpu, 2), "");
  EXPECT_EQ(most_host_members(known, 3), 2) << "that these mean little makes one member no node";
  EXPECT_EQ(most_host_members(known, 64), 4);
}

TEST(acceptance_plan, has_each_gpu_each_pair_and_all) {
  const auto points = plan(4);
  EXPECT_EQ(std::ranges::count_if(points, [](const auto& p) { return p.point.members == 1; }), 8);
  EXPECT_EQ(std::ranges::count_if(points, [](const auto& p) { return p.point.members == 2; }), 6);
  EXPECT_EQ(std::ranges::count_if(points, [](const auto& p) { return p.point.members == 4; }), 3);
  EXPECT_EQ(points.front().point.placement, "list:0");
  EXPECT_EQ(points.back().point.placement, "list:0,1,2,3");
  const auto only =
      plan_acceptance(reference_spread(processes(4)),
                      {.members = 4, .can_run = [](const point& p) { return p.subject == "grid"; }});
  EXPECT_TRUE(std::ranges::all_of(only, [](const auto& p) { return p.point.subject == "grid"; }));
}

TEST(acceptance_plan, of_one_gpu_is_of_all_of_it_in_several_shapes) {
  auto known = processes(1);
  auto one_block = gpu_point("grid", {0});
  std::erase_if(one_block.axes, [](const axis& a) { return a.name == axes::blocks_per_sm; });
  one_block.set(axes::blocks, 1.0);
  for (std::size_t i = 0; i < known.size(); ++i) known[i].results.push_back(measured(one_block, 1.0, 90 + i));
  const auto points = plan_acceptance(reference_spread(known), {.members = 1});
  EXPECT_EQ(points.size(), 6U) << "three subjects in two shapes";
  for (const auto& p : points) EXPECT_TRUE(p.point.number(axes::blocks_per_sm)) << name_of(p.point);
}

TEST(acceptance_plan, takes_no_longer_than_promised) {
  for (const int gpus : {2, 4, 8}) {
    const auto time = time_of(plan(gpus).size(), gpus);
    EXPECT_LE(time.seconds, gpus == 2 ? 25 : 60) << gpus;
    EXPECT_GE(time.sampling, 0.06);
  }
  EXPECT_EQ(plan(8).size(), 16U + 28 + 3);
}

TEST(acceptance_plan, a_table_of_thresholds_replaces_the_limits_of_the_spread) {
  const auto table =
      read_thresholds("subject,members,shape,limit\n# ours\n*,1,1x32,3%\n*,*,*,0.5\n", "t.csv", {});
  const auto points = plan_acceptance(reference_spread(processes(2)), {.members = 2, .thresholds = table});
  EXPECT_TRUE(std::ranges::all_of(points, [](const auto& p) { return p.limit == 1.03 || p.limit == 1.5; }));
  EXPECT_TRUE(std::ranges::any_of(points, [](const auto& p) { return p.limit == 1.03; }));
}

TEST(acceptance_plan, refuses_a_table_that_would_be_misread) {
  const auto told = [](const std::string& text) {
    return test::refused([&] {
      read_thresholds(text, "t.csv", [](std::string_view subject) { return subject == "grid:auto"; });
    });
  };
  for (const auto* line : {"a,b", "*,2,*,10", "*,2,*,-1%", "*,x,*,10%", "*,0,*,10%", "*,2,1y32,10%"})
    EXPECT_TRUE(told(std::string("grid:auto,1,b1x32,8%\n*,2,2,1\n") + line)
                    .starts_with(std::string("t.csv, line 3: '") + line + "' is no threshold; accepted: "))
        << line;
  EXPECT_TRUE(told("grdi:auto,2,*,10%").starts_with("t.csv, line 1: 'grdi:auto' is no barrier; accepted: "));
  EXPECT_TRUE(told("# nothing\n").starts_with("t.csv: it has no line; accepted: lines of subject,"));
}

TEST(acceptance, a_node_like_the_reference_is_normal) {
  const auto node = judged(plan(4), [](const auto&) { return 1.0; });
  EXPECT_EQ(node.verdict, node_verdict_kind::normal) << node.sentence;
  EXPECT_EQ(node.exit_code, 0);
  EXPECT_TRUE(node.suspects.empty());
}

TEST(acceptance, names_a_slow_gpu_and_not_its_pairs) {
  for (const int slow : {0, 3}) {
    const auto node = judged(plan(4), [&](const auto& group) { return has(group, slow) ? 1.6 : 1.0; });
    ASSERT_EQ(node.suspects.size(), 1U) << node.sentence;
    EXPECT_EQ(node.suspects[0].part, "GPU " + std::to_string(slow));
    EXPECT_EQ(node.exit_code, 5);
    EXPECT_NE(node.suspects[0].command.find("--placement list:" + std::to_string(slow)), std::string::npos);
  }
}

TEST(acceptance, names_a_gpu_that_is_slow_with_every_other) {
  for (const int late : {1, 2}) {
    const auto node =
        judged(plan(4), [&](const auto& group) { return group.size() > 1 && has(group, late) ? 1.6 : 1.0; });
    ASSERT_EQ(node.suspects.size(), 1U) << node.sentence;
    EXPECT_EQ(node.suspects[0].part, "GPU " + std::to_string(late) + " with every other GPU");
  }
}

TEST(acceptance, names_a_slow_pair) {
  const auto node = judged(plan(4), [](const auto& group) {
    return group == std::vector<int>{1, 3} || group.size() == 4 ? 1.5 : 1.0;
  });
  ASSERT_EQ(node.suspects.size(), 1U) << node.sentence;
  EXPECT_EQ(node.suspects[0].part, "GPUs 1 and 3");
}

TEST(acceptance, names_two_faults_side_by_side) {
  const auto node = judged(plan(6), [](const auto& group) {
    return has(group, 0) ? 1.6 : group == std::vector<int>{4, 5} ? 1.5 : 1.0;
  });
  ASSERT_EQ(node.suspects.size(), 2U) << node.sentence;
  EXPECT_EQ(node.suspects[0].part, "GPU 0");
  EXPECT_EQ(node.suspects[1].part, "GPUs 4 and 5");
}

TEST(acceptance, names_all_of_them_where_no_part_is_slow_or_every_pair_is) {
  const auto together = judged(plan(4), [](const auto& group) { return group.size() == 4 ? 1.5 : 1.0; });
  ASSERT_EQ(together.suspects.size(), 1U) << together.sentence;
  EXPECT_EQ(together.suspects[0].part, "all 4 GPUs");
  const auto pairs_too = judged(plan(4), [](const auto& group) { return group.size() > 1 ? 1.5 : 1.0; });
  EXPECT_EQ(pairs_too.suspects.size(), 6U) << "each pair, and no GPU of them";
}

TEST(acceptance, what_has_no_number_or_failed_is_not_normal) {
  const auto planned = plan(2);
  json_document document;
  for (const auto& p : planned) document.results.push_back(measured(p.point, p.base_us));
  auto lost = document;
  lost.results[0].status = result_status::error, lost.results[0].metrics.clear();
  lost.results[0].reason = "no memory";
  acceptance node;
  judge(node, planned, lost);
  EXPECT_EQ(node.exit_code, 4);
  EXPECT_NE(node.sentence.find("no memory"), std::string::npos);
  judge(node, planned, document, "the measurement was cut short");
  EXPECT_EQ(node.exit_code, 4);
  document.results[1].status = result_status::failed, document.results[1].reason = "GPU 1 did not arrive";
  judge(node, planned, document);
  EXPECT_EQ(node.exit_code, 3);
  EXPECT_NE(node.sentence.find("GPU 1 did not arrive"), std::string::npos);
}

TEST(acceptance, an_uncertain_point_is_no_false_alarm) {
  const auto planned = plan(2);
  json_document document;
  for (const auto& p : planned) document.results.push_back(measured(p.point, p.base_us));
  auto& wide = document.results[0].metrics[0];
  wide.median *= 1.5, wide.ci95_high *= 2, wide.ci95_low *= 0.9;
  acceptance node;
  judge(node, planned, document);
  EXPECT_EQ(node.exit_code, 4) << node.sentence;
}

// Judges the plan of two GPUs, all of it 1.6 times as long, after `change` of each result.
template <class Change>
acceptance slow_but(Change change, double times = 1.6) {
  const auto planned = plan(2);
  json_document document;
  for (const auto& p : planned) change(document.results.emplace_back(measured(p.point, p.base_us * times)));
  acceptance node;
  judge(node, planned, document);
  return node;
}

TEST(acceptance, two_batches_make_no_node_slow) {
  EXPECT_EQ(slow_but([](result&) {}).exit_code, 5);
  const auto node = slow_but([](result& r) { r.metrics[0].confidence = 0.5; });
  EXPECT_EQ(node.exit_code, 4) << node.sentence;
  EXPECT_TRUE(node.suspects.empty());
  EXPECT_NE(node.sentence.find("too few batches for an interval of 95 %"), std::string::npos)
      << node.sentence;
}

TEST(acceptance, a_busy_machine_makes_no_node_slow) {
  const auto with = [](std::string_view kind) {
    return [kind](result& r) { r.doubts = {{std::string(kind), 9, "9 runnable threads for 2"}}; };
  };
  const auto node = slow_but(with(doubt_kinds::load));
  EXPECT_EQ(node.exit_code, 4) << node.sentence;
  EXPECT_NE(node.sentence.find("and means little: 9 runnable threads for 2. Measure again"),
            std::string::npos)
      << node.sentence;
  const auto one_batch = slow_but([&](result& r) {
    with(doubt_kinds::load)(r);
    r.metrics[0].raw = {r.metrics[0].median};
  });
  EXPECT_EQ(one_batch.sentence, node.sentence) << "why it has no more";
  EXPECT_EQ(slow_but(with(doubt_kinds::slowed)).exit_code, 5) << "a GPU's own heat is the node's";
  const auto in_kernel = slow_but([&](result& r) {
    with(doubt_kinds::load)(r);
    r.facts = known_facts{{.origin = fact::origin::ours,
                           .driver = fact::driver::device,
                           .scope = fact::scope::node,
                           .extent = fact::extent::everything,
                           .order = fact::order::both}};
  });
  EXPECT_EQ(in_kernel.exit_code, 5) << "what a kernel does by itself: " << in_kernel.sentence;
  const auto normal = slow_but(with(doubt_kinds::load), 1);
  EXPECT_EQ(normal.exit_code, 0) << "nothing gets faster by that";
  EXPECT_TRUE(normal.sentence.ends_with(" The machine was busy meanwhile: 9 runnable threads for 2."))
      << normal.sentence;
  EXPECT_EQ(slow_but(with(doubt_kinds::negative), 1).exit_code, 4) << "what is below zero is no time";
  const auto below = slow_but([](result& r) { r.metrics.front().median = -0.1; });
  EXPECT_EQ(below.exit_code, 4) << below.sentence;
  EXPECT_EQ(std::ranges::count(below.points, 0.0, &judged_point::us),
            std::ranges::count(below.points, judged_state::unsure, &judged_point::state));
  EXPECT_EQ(std::ranges::count_if(below.points, [](const auto& p) { return p.us < 0 || p.times < 0; }), 0);
  const auto broken = slow_but([&](result& r) {
    with(doubt_kinds::load)(r);
    r.verdict.passed = false;
  });
  EXPECT_EQ(broken.exit_code, 3);
  EXPECT_TRUE(
      broken.sentence.ends_with(" failed: its check was not passed. The machine was busy meanwhile: 9 "
                                "runnable threads for 2."))
      << broken.sentence;
}

TEST(acceptance, the_command_to_look_further_is_one_that_runs) {
  judged_point p;
  p.part = "all 2 host members", p.together = 2, p.subject = "openmp:runtime", p.shape = "4";
  p.state = judged_state::slow, p.times = 2, p.limit = 1;
  EXPECT_EQ(suspects_of(std::span(&p, 1)).at(0).command,
            "mgsync --device host --members 2 --backend openmp:runtime --shape 4x1 --max-time 5s");
  p.members = {1, 3}, p.shape = "4x256", p.subject = "multigrid:auto";
  EXPECT_EQ(suspects_of(std::span(&p, 1)).at(0).command,
            "mgsync --gpus 2 --placement list:1,3 --backend multigrid:auto --shape 4x256 --max-time 5s");
}

TEST(acceptance, findings_stand_before_measuring) {
  acceptance node;
  node.findings.push_back(
      {{"fewer-links", "GPU 1 has 17 active NVLinks; others of its kind have 18.", "nvidia-smi nvlink -s"}});
  judge_unmeasured(node, true);
  EXPECT_EQ(node.exit_code, 5);
  EXPECT_EQ(
      node.sentence,
      "This node is not normal, and was not measured: GPU 1 has 17 active NVLinks; others of its kind have "
      "18. Look further: nvidia-smi nvlink -s.");
}

TEST(acceptance, its_record_is_one_line_that_is_read_back) {
  auto node = judged(plan(4), [](const auto& group) { return has(group, 2) ? 1.6 : 1.0; });
  node.node = "n7", node.started = "2026-11-23T00:00:00Z";
  const auto line = to_line(node);
  EXPECT_EQ(line.find('\n'), std::string::npos);
  EXPECT_TRUE(is_acceptance(line));
  std::vector<std::string> damage;
  const auto back = read_acceptances(line + "\n" + line + "\n", "f", damage);
  ASSERT_EQ(back.size(), 2U);
  EXPECT_EQ(back[1].node, "n7");
  EXPECT_EQ(back[1].suspects, node.suspects);
  EXPECT_EQ(back[1].points, node.points);
  EXPECT_EQ(to_line(back[0]), line);
  const auto reads = [&](const std::string& text) { return read_acceptances(text, "f", damage).size(); };
  EXPECT_NE(test::refused([&] { reads(line + "\n{}\n"); }).find("f, line 2: no line of an acceptance"),
            std::string::npos);
  EXPECT_TRUE(damage.empty());
  // A line that was cut short, wherever it is, takes no other along.
  const auto cut = line.substr(0, 200);
  EXPECT_EQ(reads(line + "\n" + cut), 1U);
  EXPECT_EQ(reads(cut + "\n" + line + "\n\n" + cut + "\n" + line), 2U);
  ASSERT_EQ(damage.size(), 3U);
  EXPECT_EQ(damage[0], "f, line 2: no whole JSON, as of a line that was cut short: it is left out");
  EXPECT_TRUE(damage[2].starts_with("f, line 4: ")) << damage[2];
  EXPECT_TRUE(test::refused([&] { reads(cut); }).ends_with("it is left out, and there is no other"));
}

TEST(acceptance, its_record_is_read_in_any_layout_of_json) {
  auto node = judged(plan(2), [](const auto&) { return 1.0; });
  node.node = "n7", node.started = "2026-11-23T00:00:00Z";
  const auto sorted = nlohmann::json::parse(to_line(node));  // by key: the schema comes late
  std::vector<std::string> damage;
  for (const int indent : {-1, 2}) {
    const auto text = sorted.dump(indent);
    EXPECT_TRUE(is_acceptance(text)) << text;
    const auto back = read_acceptances(text + "\n" + text, "f", damage);
    ASSERT_EQ(back.size(), 2U) << indent;
    EXPECT_EQ(to_line(back[1]), to_line(node));
  }
  EXPECT_TRUE(damage.empty());
  EXPECT_FALSE(is_acceptance(R"({"schema": "mgsync-results/2", "command": "mgsync-accept/1"})"));
}

TEST(acceptance, what_runs_beside_it_says_nothing_of_the_node) {
  acceptance node;
  node.started = "2026-11-23T00:00:00Z";
  node.findings.push_back({{"in-use", "GPU 0 is used by another process (process 7).", "end it"}});
  judge_unmeasured(node, false);
  EXPECT_EQ(node.exit_code, 4);
  EXPECT_EQ(
      node.sentence,
      "Whether this node is normal cannot be told: it was not measured. GPU 0 is used by another process "
      "(process 7). To change: end it.");
  EXPECT_NE(to_junit(node).find("tests=\"1\" failures=\"0\" errors=\"0\" skipped=\"1\""), std::string::npos)
      << to_junit(node);
}

TEST(acceptance_forms, escape_what_they_quote) {
  acceptance node;
  node.node = "a<b";
  node.started = "2026-11-23T00:00:00Z";
  node.findings.push_back({{"in-use", "GPU 0 is used by \"x\" & others.", "end it"}});
  judge_unmeasured(node, true);
  const auto junit = to_junit(node);
  EXPECT_NE(junit.find("hostname=\"a&lt;b\""), std::string::npos) << junit;
  EXPECT_NE(junit.find("tests=\"1\" failures=\"1\""), std::string::npos) << junit;
  EXPECT_EQ(junit.find("by \"x\" & others"), std::string::npos) << junit;
  node.points.emplace_back();
  node.points[0].part = "GPU \"0\"\\", node.points[0].us = 2.5;
  const auto text = to_prometheus(node, 1.5e9);
  EXPECT_NE(text.find(R"({part="GPU \"0\"\\",subject)"), std::string::npos) << text;
  EXPECT_NE(text.find("mgsync_accept_completion_time_seconds 1500000000\n"), std::string::npos) << text;
}

}}  // namespace mgsync
