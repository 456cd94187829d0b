#include "src/results/comparison/comparison.hpp"

#include <gtest/gtest.h>

#include <cstdio>

#include "made_up_results.hpp"

namespace mgsync { namespace {

using test::a_point;
using test::failed;
using test::measured;
using test::waived;

json_document document_of(std::vector<result> results) {
  json_document document;
  document.machine = test::a_machine();
  document.results = std::move(results);
  return document;
}

comparison compare_two(std::vector<result> base, std::vector<result> now, std::optional<double> noise = {}) {
  return compare(std::vector{document_of(std::move(base))}, std::vector{document_of(std::move(now))}, noise);
}

using test::hub;
using test::inbox;

// Of 500 pairs of documents, in how many the change is `what`.
int how_often(change what, double base_us, double new_us, double process_shift, int processes) {
  constexpr int trials = 500;
  int count = 0;
  for (int trial = 0; trial < trials; ++trial) {
    std::mt19937_64 random(static_cast<std::uint64_t>(trial) * 77 + 1);
    std::uniform_real_distribution<double> shift(1 - process_shift, 1 + process_shift);
    const auto side = [&](double latency) {
      std::vector<json_document> documents;
      for (int i = 0; i < processes; ++i)
        documents.push_back(document_of({measured(hub, latency * shift(random), random(), 8, 0.02)}));
      return documents;
    };
    const auto base = side(base_us), now = side(new_us);
    count += compare(base, now).points.front().what == what;
  }
  return count;
}

TEST(comparison, knows_files_of_one_run) {
  auto one = document_of({measured(hub, 2), measured(inbox, 3, 2)});
  one.started = "2026-01-31T12:00:00Z";
  one.seed = 7;
  auto part = one, again = one, later = one;
  part.results.pop_back();
  part.machine.host = "another name";
  EXPECT_TRUE(are_of_one_run(one, part));
  EXPECT_TRUE(are_of_one_run(part, one));
  later.started = "2026-01-31T12:00:01Z";
  EXPECT_TRUE(are_of_one_run(one, later)) << "merged with what began earlier";
  later.results.pop_back();
  EXPECT_FALSE(are_of_one_run(one, later)) << "one point may be alike by chance";
  again.results = {measured(hub, 2, 3), measured(inbox, 3, 4)};  // another node, in the same second
  EXPECT_FALSE(are_of_one_run(one, again));
  part.results.clear();
  EXPECT_FALSE(are_of_one_run(one, part));
}

TEST(comparison, takes_no_two_runs_of_whole_cycles_for_one) {
  auto one = document_of({measured(hub, 2), measured(inbox, 3, 2)});
  for (auto& result : one.results) result.metrics.front().raw = {24, 24, 25, 24};
  one.started = "2026-01-31T12:00:00Z";
  one.seed = 7;
  auto another = one;
  EXPECT_TRUE(are_of_one_run(one, another)) << "begun at once with one seed";
  another.started = "2026-02-01T12:00:00Z";
  EXPECT_FALSE(are_of_one_run(one, another));
}

// Seven processes a side: a tenth more at one of two points, which the correction for two leaves shown.
TEST(comparison, a_row_for_each_subject_says_which_points_are_worse) {
  std::vector<json_document> base, now;
  auto wider = hub;
  wider.set(axes::blocks_per_sm, 4.0);
  for (int i = 0; i < 7; ++i) {
    const double drift = 1 + 0.001 * i;
    base.push_back(document_of({measured(hub, 2 * drift, 1, 8, 0), measured(wider, 4 * drift, 1, 8, 0)}));
    now.push_back(document_of({measured(hub, 2.2 * drift, 1, 8, 0), measured(wider, 4 * drift, 1, 8, 0)}));
  }
  const auto compared = compare(base, now);
  const auto text = table_by_subject(compared, 0.02);
  // The mean is geometric: the root of 1.1. The least p is 1 of 3432, times two.
  EXPECT_NE(text.find("| 2 | 1.049 | 1.000 to 1.100 | 0.00058 | "), std::string::npos) << text;
  EXPECT_NE(text.find(" 1.100 |\n"), std::string::npos) << text;
  EXPECT_NE(table_by_subject(compared, 0.2).find("| 1 | none |"), std::string::npos);
  const auto ratios = ratios_of(compared);
  ASSERT_EQ(ratios.size(), 2U);
  EXPECT_NEAR(ratios[0].metrics[0].median, 1.1, 1e-9);
  EXPECT_NEAR(ratios[0].number("medians").value_or(0), 1.1, 1e-9);
}

// Of a bandwidth more is better: half of it is worse, and shuts a gate as a longer time does.
TEST(comparison, follows_the_metrics_direction) {
  auto base = measured(hub, 2), less = measured(hub, 2, 7);
  test::add_metric(base, "bandwidth", "GB/s", better::more, 100);
  test::add_metric(less, "bandwidth", "GB/s", better::more, 50);
  const auto down = compare_two({base}, {less}).points, up = compare_two({less}, {base}).points;
  ASSERT_EQ(down.size(), 2U);
  EXPECT_EQ(down[0].what, change::not_shown);
  EXPECT_EQ(down[1].measured.name, "bandwidth");
  EXPECT_EQ(down[1].what, change::worse);
  EXPECT_EQ(up[1].what, change::improved);
}

// Neither a longer nor a shorter unit of waiting is a loss, nor a gradient below zero, nor one that is gone.
TEST(comparison, judges_no_metric_of_which_no_value_is_better) {
  auto base = measured(hub, 2), now = measured(hub, 2, 7);
  test::add_metric(base, "unit", "us", better::neither, 20);
  test::add_metric(now, "unit", "us", better::neither, 320);
  test::add_metric(base, "gradient", "us", better::neither, -1);
  const auto compared = compare_two({base}, {now});
  ASSERT_EQ(compared.points.size(), 1U);
  EXPECT_EQ(compared.points[0].measured.name, "latency");
  EXPECT_TRUE(compared.lost.empty());
  EXPECT_TRUE(gate_violations(compared, {0.1}).empty());
}

TEST(comparison, of_equal_machines_rarely_shows_a_difference) {
  // Without a shift from process to process the margin makes errors very rare.
  EXPECT_LE(how_often(change::worse, 2, 2, 0, 1) + how_often(change::improved, 2, 2, 0, 1), 2);
  // With one of up to 2 % on either side, 4 % in the worst case, too.
  const int wrong = how_often(change::worse, 2, 2, 0.02, 1) + how_often(change::improved, 2, 2, 0.02, 1);
  // Processes as the unit need no margin: 1 - 2/70 = 97 % for four a side.
  const int wrong_by_process =
      how_often(change::worse, 2, 2, 0.02, 4) + how_often(change::improved, 2, 2, 0.02, 4);
  std::printf("equal machines look different: one process a side %d of 500, four a side %d of 500\n", wrong,
              wrong_by_process);
  EXPECT_LE(wrong, 5);
  EXPECT_LE(wrong_by_process, 25);
  EXPECT_GE(wrong_by_process, 3);  // an interval that never errs is no 97 % interval
}

TEST(comparison, finds_a_real_difference) {
  const int ten = how_often(change::worse, 2, 2.2, 0.005, 1);
  const int fifteen_faster = how_often(change::improved, 2, 2 / 1.15, 0.02, 1);
  const int five_by_process = how_often(change::worse, 2, 2.1, 0.01, 4);
  std::printf(
      "found: 10 %% slower, one process a side %d; 15 %% faster %d; 5 %% slower, four a side %d of 500\n",
      ten, fifteen_faster, five_by_process);
  EXPECT_GE(ten, 450);
  EXPECT_GE(fifteen_faster, 450);
  EXPECT_GE(five_by_process, 475);
}

TEST(comparison, the_margin_widens_the_interval_on_both_sides) {
  const auto base = measured(hub, 2, 1), now = measured(hub, 2.06, 2);
  const auto without = compare_two({base}, {now}, 0).points.front();
  const auto with = compare_two({base}, {now}).points.front();
  EXPECT_EQ(without.what, change::worse);
  EXPECT_EQ(with.what, change::not_shown);
  EXPECT_EQ(with.margin, default_noise);
  EXPECT_DOUBLE_EQ(with.low, without.low / 1.04);
  EXPECT_DOUBLE_EQ(with.high, without.high * 1.04);
  EXPECT_DOUBLE_EQ(with.ratio, without.ratio);
  EXPECT_NEAR(with.ratio, 1.03, 0.01);
}

TEST(comparison, four_processes_a_side_are_the_unit) {
  std::vector<json_document> base, now;
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    base.push_back(document_of({measured(hub, 2 + 0.01 * static_cast<double>(seed), seed)}));
    now.push_back(document_of({measured(hub, 2.1 + 0.01 * static_cast<double>(seed), seed + 10)}));
  }
  const auto four = compare(base, now).points.front();
  EXPECT_TRUE(four.by_process);
  EXPECT_EQ(four.margin, 0);
  EXPECT_EQ(four.what, change::worse);
  EXPECT_EQ(compare(base, now, 0.1).points.front().what, change::not_shown);
  base.pop_back();
  EXPECT_FALSE(compare(base, now).points.front().by_process);
}

TEST(comparison, pairs_by_everything_but_the_numbers_of_the_members) {
  point elsewhere = hub;
  elsewhere.group = {4, 5, 6, 7};
  EXPECT_EQ(compare_two({measured(hub, 2)}, {measured(elsewhere, 2)}).points.size(), 1u);
  point list = hub;
  list.placement = "list:0,1,2,3";
  elsewhere.placement = list.placement;
  EXPECT_TRUE(compare_two({measured(list, 2)}, {measured(elsewhere, 2)}).points.empty());
  for (const auto change_it :
       {+[](point& p) { p.ranks = 4; }, +[](point& p) { p.set(axes::blocks_per_sm, 2.0); },
        +[](point& p) { p.set(axes::load, "streaming"); }, +[](point& p) { p.placement = "far"; },
        +[](point& p) { p.variant = "relay"; }}) {
    point other = hub;
    change_it(other);
    const auto compared = compare_two({measured(hub, 2)}, {measured(other, 2)});
    EXPECT_TRUE(compared.points.empty());
    EXPECT_EQ(compared.only_base.size(), 1u);
    EXPECT_EQ(compared.only_new.size(), 1u);
  }
}

TEST(comparison, pairs_nodes_by_name_or_else_by_place) {
  const auto on = [](const std::string& node, double latency) {
    point one = hub;
    one.node = node;
    return measured(one, latency);
  };
  const auto measured_on = [&](std::vector<std::string> hosts, std::vector<result> results) {
    auto document = document_of(std::move(results));
    document.machine.hosts = std::move(hosts);
    return std::vector{document};
  };
  const auto base = measured_on({"n1", "n2"}, {on("n1", 2), on("n2", 4)});
  const auto same = compare(base, measured_on({"n2", "n1"}, {on("n2", 4), on("n1", 2)}));
  const auto other = compare(base, measured_on({"n8", "n9"}, {on("n8", 2), on("n9", 4)}));
  for (const auto& compared : {same, other}) {
    ASSERT_EQ(compared.points.size(), 2u);
    for (const auto& one : compared.points) EXPECT_EQ(one.what, change::not_shown) << one.point.node;
  }
}

TEST(comparison, of_too_few_batches_says_so) {
  const auto compared = compare_two({measured(hub, 2, 1, 10)}, {measured(hub, 4, 2, 1)});
  EXPECT_EQ(compared.points.front().what, change::too_few);
  auto negative = measured(hub, 2);
  for (double& value : negative.metrics[0].raw) value = -1;
  EXPECT_EQ(compare_two({measured(hub, 2)}, {negative}).points.front().what, change::no_ratio);
  // A batch below 0 beside a median above it leaves the medians to compare.
  auto one_batch = measured(hub, 2);
  one_batch.metrics[0].raw[0] = -1;
  EXPECT_EQ(compare_two({measured(hub, 2)}, {one_batch}).points.front().what, change::too_few);
}

TEST(comparison, a_gate_is_shut_by_what_did_not_pass_its_check) {
  auto broken = measured(hub, 1), unchecked = measured(hub, 1);
  broken.verdict.passed = false;
  unchecked.verdict = {};
  const auto of = [](const result& base, const result& now) {
    return gate_violations(compare_two({base}, {now}), {0.1});
  };
  ASSERT_EQ(of(measured(hub, 2), broken).size(), 1u) << "however fast it is";
  EXPECT_EQ(of(measured(hub, 2), broken)[0],
            "multigrid:hub on 4 host members {0,1,2,3}, shape 1: did not pass its check in NEW");
  ASSERT_EQ(of(measured(hub, 2), unchecked).size(), 1u);
  EXPECT_TRUE(of(measured(hub, 2), unchecked)[0].ends_with("is unchecked in NEW, and was checked in BASE"));
  // What BASE does not claim, NEW need not.
  EXPECT_TRUE(of(broken, broken).empty());
  EXPECT_TRUE(of(unchecked, measured(hub, 1, 2)).empty());
}

TEST(comparison, a_gate_is_shut_by_another_unit) {
  const auto base = measured(hub, 2);
  auto ms = measured(hub, 0.002), more = base;
  ms.metrics[0].unit = "ms";
  more.metrics[0].better = better::more;
  for (const auto& [now, in] : {std::pair{ms, "its latency is in 'ms', and was in 'us'"},
                                {more, "its latency is in 'us' (more is better), and was in 'us'"}}) {
    const auto compared = compare_two({base}, {now});
    EXPECT_TRUE(compared.points.empty());
    const auto violations = gate_violations(compared, {0.1});
    ASSERT_EQ(violations.size(), 1u);
    EXPECT_NE(violations[0].find(in), std::string::npos) << violations[0];
  }
  // Files of one side are no processes of one measurement then.
  const auto mixed =
      compare(std::vector{document_of({base})}, std::vector{document_of({base}), document_of({ms})});
  EXPECT_EQ(gate_violations(mixed, {0.1}).size(), 1u);
}

TEST(comparison, a_gate_is_shut_by_what_is_not_above_0) {
  auto zero = measured(hub, 2), less = measured(hub, 2);
  for (double& value : zero.metrics[0].raw) value = 0;
  for (double& value : less.metrics[0].raw) value = -3;
  for (const auto& [base, now] : {std::pair{measured(hub, 2), zero},
                                  {measured(hub, 2), less},
                                  {zero, measured(hub, 2)},
                                  {less, less}}) {
    const auto violations = gate_violations(compare_two({base}, {now}), {0.1});
    ASSERT_EQ(violations.size(), 1u);
    EXPECT_NE(violations[0].find("what is 0 or below is no measurement"), std::string::npos) << violations[0];
  }
  // A residual beside the first metric may be 0.
  auto with_residual = measured(hub, 2);
  test::add_metric(with_residual, "residual", "cycles", better::less, 0);
  const auto compared = compare_two({with_residual}, {with_residual});
  EXPECT_EQ(compared.points.at(1).what, change::no_ratio);
  EXPECT_TRUE(gate_violations(compared, {0.1}).empty());
  EXPECT_NE(format_comparison(compared).find(", 1 of 0 or below\n"), std::string::npos);
}

TEST(comparison, what_failed_or_was_waived_is_lost) {
  const auto compared = compare_two({measured(hub, 2), measured(inbox, 3)},
                                    {failed(hub, "violated"), waived(inbox, "no peer access")});
  ASSERT_EQ(compared.lost.size(), 2u);
  EXPECT_EQ(compared.lost[0].status, result_status::failed);
  EXPECT_EQ(compared.lost[1].status, result_status::waived);
  EXPECT_EQ(compared.lost[1].reason, "no peer access");
  const auto violations = gate_violations(compared, {0.5});
  ASSERT_EQ(violations.size(), 2u);
  EXPECT_EQ(violations[0], "multigrid:hub on 4 host members {0,1,2,3}, shape 1: failed in NEW: violated");
  // One failure among several processes stays one.
  const auto base = std::vector{document_of({measured(hub, 2)})};
  const auto now = std::vector{document_of({failed(hub, "violated")}), document_of({measured(hub, 2)})};
  EXPECT_EQ(gate_violations(compare(base, now), {0.5}).size(), 1u);
  // What was never measured in BASE cannot be lost.
  EXPECT_TRUE(compare_two({waived(hub, "x")}, {failed(hub, "y")}).lost.empty());
}

TEST(comparison, a_gate_is_shut_by_what_is_shown_and_beyond_its_limit) {
  const auto slower = compare_two({measured(hub, 2, 1)}, {measured(hub, 2.4, 2)});
  EXPECT_TRUE(gate_violations(slower, {0.25}).empty());
  ASSERT_EQ(gate_violations(slower, {0.1}).size(), 1u);
  EXPECT_NE(gate_violations(slower, {0.1}).front().find("times as long"), std::string::npos);
  EXPECT_TRUE(gate_violations(compare_two({measured(hub, 2.4, 1)}, {measured(hub, 2, 2)}), {0.1}).empty());
  // Above the limit, but inside the noise.
  const auto noisy = compare_two({measured(hub, 2, 1, 8, 0.2)}, {measured(hub, 2.2, 5, 8, 0.2)}, 0.2);
  EXPECT_EQ(noisy.points.front().what, change::not_shown);
  EXPECT_TRUE(gate_violations(noisy, {0.01}).empty());
  EXPECT_EQ(undecided(noisy, 0.01), 1u);
  EXPECT_EQ(undecided(noisy, 9), 0u);
  // A point so slow that it got one batch does not slip through.
  const auto crawling = compare_two({measured(hub, 2, 1)}, {measured(hub, 20, 2, 1)});
  EXPECT_EQ(gate_violations(crawling, {0.1}).size(), 1u);
  EXPECT_TRUE(gate_violations(compare_two({measured(hub, 2, 1)}, {measured(hub, 2, 2, 1)}), {0.1}).empty());
}

TEST(comparison, lists_what_changed_and_counts_the_rest) {
  const auto inbox = test::a_point("multigrid", "inbox", 2), relay = test::a_point("multigrid", "relay", 2);
  auto unchecked = measured(relay, 2, 2);
  unchecked.verdict = {};
  const auto compared = compare_two({measured(hub, 2), measured(inbox, 2), measured(relay, 2)},
                                    {measured(hub, 3), measured(inbox, 2), unchecked});
  const auto grouped = format_comparison(compared, detail::grouped), every = format_comparison(compared);
  EXPECT_NE(grouped.find("multigrid:hub"), std::string::npos) << grouped;
  EXPECT_NE(grouped.find("unchecked in NEW"), std::string::npos) << "a note is news: " << grouped;
  EXPECT_EQ(grouped.find("multigrid:inbox"), std::string::npos) << grouped;
  EXPECT_NE(grouped.find("1 slower, 0 faster, 2 without a difference shown (--verbose lists each)\n"),
            std::string::npos)
      << grouped;
  EXPECT_NE(every.find("multigrid:inbox"), std::string::npos) << every;
  EXPECT_EQ(every.find("--verbose"), std::string::npos) << every;
  const auto same =
      format_comparison(compare_two({measured(inbox, 2)}, {measured(inbox, 2)}), detail::grouped);
  EXPECT_TRUE(same.starts_with("0 slower, 0 faster, 1 without a difference shown (--verbose")) << same;
}

TEST(comparison, says_when_auto_ran_something_else_or_the_check_was_skipped) {
  auto base = measured(hub, 2, 1), now = measured(hub, 2, 2);
  base.environment["algorithm"] = "inbox: one block per GPU";
  now.environment["algorithm"] = "inbox: for another reason";
  EXPECT_TRUE(compare_two({base}, {now}).points.front().notes.empty());
  now.environment["algorithm"] = "hub";
  now.verdict = {};
  const auto compared = compare_two({base}, {now});
  EXPECT_EQ(compared.points.front().notes,
            (std::vector<std::string>{"ran hub, was inbox", "unchecked in NEW"}));
  EXPECT_NE(format_comparison(compared).find("no difference shown  ran hub, was inbox, unchecked in NEW\n"),
            std::string::npos);
}

TEST(comparison, marks_what_orders_less_than_a_barrier) {
  auto less = measured(hub, 2);
  less.facts = known_facts{{.origin = fact::origin::vendor,
                            .driver = fact::driver::device,
                            .scope = fact::scope::node,
                            .extent = fact::extent::block,
                            .order = fact::order::both}};
  const auto both = compare_two({less, measured(inbox, 2)}, {less, measured(inbox, 2)});
  EXPECT_EQ(both.points[0].notes, std::vector<std::string>{"orders less than a barrier"});
  EXPECT_TRUE(both.points[1].notes.empty());
  less.facts->ranked_anyway = true;
  EXPECT_TRUE(compare_two({less}, {less}).points[0].notes.empty());
}

TEST(comparison, marks_what_orders_memory_inside_nodes_alone) {
  auto over_nodes = measured(hub, 2);
  over_nodes.facts = known_facts{{.origin = fact::origin::mpi,
                                  .driver = fact::driver::host,
                                  .scope = fact::scope::nodes,
                                  .extent = fact::extent::everything,
                                  .order = fact::order::inside_nodes}};
  EXPECT_EQ(compare_two({over_nodes}, {over_nodes}).points[0].notes,
            std::vector<std::string>{"memory inside nodes"});
}

TEST(comparison, tells_how_far_runs_differ_of_what_the_host_drives) {
  const auto notes = [](const point& where, std::optional<known_facts> facts) {
    auto base = measured(where, 2), now = measured(where, 4);
    base.facts = now.facts = std::move(facts);
    return compare_two({base}, {now}).points.front().notes;
  };
  const std::vector<std::string> far{"driven by the host: runs of one build differ by 10 to 60 %"}, nothing;
  point launch = a_point("traditional", "", 1);
  launch.device = topology::device::gpu;
  EXPECT_EQ(notes(launch, std::nullopt), nothing);
  known_facts inside{{.origin = fact::origin::vendor,
                      .driver = fact::driver::device,
                      .scope = fact::scope::grid,
                      .extent = fact::extent::everything,
                      .order = fact::order::both}};
  EXPECT_EQ(notes(launch, inside), nothing);
  inside.driver = fact::driver::kernel_boundary;
  EXPECT_EQ(notes(launch, inside), far);
  launch.device = topology::device::host;
  EXPECT_EQ(notes(launch, inside), nothing);
  launch.device = topology::device::gpu;
  launch.members = 2;
  auto slow = measured(launch, 4), fast = measured(launch, 2);
  slow.times_launches = true;
  EXPECT_EQ(compare_two({fast}, {slow}).points.front().notes, far);
}

// Runs of one build differ by so much, which batches of one process each do not show.
TEST(comparison, a_gate_stays_open_for_what_the_host_drives_and_runs_differ_by) {
  known_facts driven{{.origin = fact::origin::vendor,
                      .driver = fact::driver::kernel_boundary,
                      .scope = fact::scope::grid,
                      .extent = fact::extent::everything,
                      .order = fact::order::both}};
  point launch = a_point("kernel-boundary", "traditional", 1);
  launch.device = topology::device::gpu;
  const auto shut = [&](double us, std::size_t processes) {
    auto base = measured(launch, 2), now = measured(launch, us);
    base.facts = now.facts = driven;
    const std::vector<json_document> before(processes, document_of({base})),
        after(processes, document_of({now}));
    const auto compared = compare(before, after);
    EXPECT_EQ(compared.points.front().is_worse_by_chance(0.1),
              us == 2.8 && processes == 1 && driven.driver != fact::driver::device);
    return !gate_violations(compared, {0.1}).empty();
  };
  EXPECT_FALSE(shut(2.8, 1));
  EXPECT_TRUE(shut(3.4, 1));
  EXPECT_TRUE(shut(2.8, 6));
  driven.driver = fact::driver::device;
  EXPECT_TRUE(shut(2.8, 1));
}

TEST(comparison, table_names_what_changed_first) {
  const auto text = format_comparison(
      compare_two({measured(hub, 2, 1), measured(inbox, 2, 2), measured(a_point("mpi", "default", 2), 5, 3)},
                  {measured(hub, 2, 4), measured(inbox, 3, 5), measured(a_point("mpi", "default", 2), 2.5, 6),
                   measured(a_point("openmp", "runtime", 2), 1, 7)}));
  const auto slow = text.find("inbox"), fast = text.find("mpi"), same = text.find("hub");
  EXPECT_LT(slow, fast);
  EXPECT_LT(fast, same);
  EXPECT_NE(text.find("only in NEW         openmp:runtime on 2 host members {0,1}, shape 1"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("1 slower, 1 faster, 1 without a difference shown\n"), std::string::npos) << text;
  EXPECT_NE(text.find("wider by 4 %"), std::string::npos);
  for (std::size_t at = text.find('\n'); at != std::string::npos; at = text.find('\n', at + 1))
    EXPECT_FALSE(at > 0 && text[at - 1] == ' ') << "a line ends in a blank";
}

// The metrics keep their order where the first has changed at a later point than the second.
TEST(comparison, table_of_the_first_metric_comes_first) {
  auto base = measured(hub, 2, 1), now = measured(hub, 2, 2);
  test::add_metric(base, "bandwidth", "GB/s", better::more, 100);
  test::add_metric(now, "bandwidth", "GB/s", better::more, 50);
  const auto text = format_comparison(
      compare_two({base, measured(inbox, 2, 3)}, {now, measured(inbox, 3, 4)}), detail::grouped);
  ASSERT_NE(text.find("BASE_us"), std::string::npos) << text;
  EXPECT_LT(text.find("BASE_us"), text.find("BASE_bandwidth")) << text;
}

}}  // namespace mgsync
