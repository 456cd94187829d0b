// Who may be absent: what stamps mean, what is foretold, what results say together; and cases on host
// threads, carried out.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include "src/base/errors.hpp"
#include "src/base/json_fields.hpp"
#include "src/harness/study.hpp"
#include "src/studies/blocking/blocking_evaluation.hpp"
#include "src/studies/blocking/case_subject.hpp"
#include "tests/unit/refused.hpp"

namespace mgsync {
extern const study blocking_study;
}

namespace mgsync::blocking { namespace {

blocking_case a_case(std::string level, std::string name, absence how, std::string who = "last") {
  blocking_case c;
  c.level = std::move(level);
  c.method = std::move(name);
  c.how = how;
  c.who = std::move(who);
  return c;
}

// Of three participants, the last of which is absent, by lines such as "event 2 acted 5".
case_seen said(std::string_view lines) {
  case_seen seen{.participants = std::vector<participant>(3), .ended_by = "itself"};
  std::istringstream in{std::string(lines)};
  std::string event, what;
  std::size_t who = 0;
  for (std::int64_t ns = 0; in >> event >> who >> what >> ns;) {
    auto& p = seen.participants.at(who);
    (what == "arrived" ? p.arrived : what == "left" ? p.left : p.acted) = ns;
  }
  return seen;
}

std::optional<outcome> judged(std::string_view level, std::string_view name, absence how,
                              std::string_view lines) {
  return judge(said(lines), a_case(std::string(level), std::string(name), how), *find_method(level, name));
}

TEST(blocking_case, is_the_same_after_it_was_told_to_another_process) {
  auto c = a_case("grid", "ours", absence::exit_late, "half");
  c.form = "predicated";
  c.gpus = {1, 0};
  c.seed = 77;
  c.rounds = 5;
  EXPECT_EQ(case_from(on_wire(c)), c);
  const auto refused = [&](std::string_view part, std::string_view by) {
    auto text = on_wire(c);
    return mgsync::test::refused([&] { case_from(text.replace(text.find(part), part.size(), by)); });
  };
  EXPECT_NE(refused("\"grid\"", "\"moon\"").find("no barrier 'ours' of level 'moon'"), std::string::npos);
  EXPECT_NE(refused("exit-late", "never").find("exit-before"), std::string::npos);
  EXPECT_NE(refused("half", "all").find("accepted: first, last, half"), std::string::npos);
  EXPECT_NE(refused("\"members\":4", "\"members\":\"x\"").find("members"), std::string::npos);
  EXPECT_NE(refused("\"members\":4", "\"members\":1").find("two participants"), std::string::npos);
  EXPECT_NE(refused("\"who\"", "\"colour\"").find("colour"), std::string::npos);
  EXPECT_FALSE(mgsync::test::refused([] { case_from("nonsense"); }).empty());
}

TEST(case_seen, is_put_together_of_what_several_processes_say) {
  case_seen first{.participants = std::vector<participant>(3), .named = {2, 1}, .ended_by = "time-out"},
      second;
  first.participants[0] = {.arrived = 5, .left = 7};
  second.participants.resize(2);
  second.participants[1] = {.arrived = 6, .acted = 4};
  second.named = {1};
  second.ended_by = "bound";
  second.held = holding{.rounds = 9, .begin = {0.5, 1}, .unit = "cycles"};
  second.found = {{"toolkit", "gcc \"12\"\n"}};
  const auto seen =
      case_seen_from(on_wire(first) + "\nsomething of a library\n{cut off\n" + on_wire(second) + "\n");
  EXPECT_EQ(seen.participants, (std::vector<participant>{{5, 7, {}}, {6, {}, 4}, {}}));
  EXPECT_EQ(seen.named, (std::vector<unsigned>{1, 2}));
  EXPECT_EQ(seen.ended_by,
            "time-out");  // of ranks, the one that timed out says more than those that were ended
  EXPECT_EQ(seen.held, second.held);
  EXPECT_EQ(seen.found, second.found);
}

TEST(blocking_case, the_absent_are_the_first_the_last_or_every_other_one) {
  EXPECT_EQ(absentees(a_case("thread", "ours", absence::spin, "first"), 4), (std::vector<unsigned>{0}));
  EXPECT_EQ(absentees(a_case("thread", "ours", absence::spin, "last"), 4), (std::vector<unsigned>{3}));
  EXPECT_EQ(absentees(a_case("thread", "ours", absence::spin, "half"), 4), (std::vector<unsigned>{1, 3}));
  EXPECT_TRUE(absentees(a_case("thread", "ours", absence::nobody), 4).empty());
}

TEST(judging, tells_held_passed_and_hung_apart) {
  const auto* both =
      "event 2 acted 5\nevent 0 arrived 10\nevent 1 arrived 20\nevent 0 left 21\nevent 1 left 22\n";
  const auto* apart =
      "event 2 acted 5\nevent 0 arrived 10\nevent 1 arrived 20\nevent 0 left 19\nevent 1 left 22\n";
  const auto* one_waits = "event 2 acted 5\nevent 0 arrived 10\nevent 1 arrived 20\nevent 0 left 21\n";
  EXPECT_EQ(judged("lane", "syncwarp", absence::exit_before, both), outcome::held);
  EXPECT_EQ(judged("lane", "syncwarp", absence::exit_before, apart), outcome::passed);
  EXPECT_EQ(judged("lane", "syncwarp", absence::exit_before, one_waits), outcome::hung);
  // Whoever lives and is a member must come: where the others pass without him, they were not held.
  EXPECT_EQ(judged("lane", "syncwarp", absence::spin, both), outcome::passed);
  EXPECT_EQ(judged("lane", "coalesced", absence::spin, both), outcome::held);
  EXPECT_EQ(judged("thread", "std-barrier", absence::elsewhere, both), outcome::passed);
}

TEST(judging, somebody_late_counts_from_when_he_came) {
  const auto* waited = "event 0 arrived 10\nevent 1 arrived 20\nevent 2 arrived 90\nevent 0 left 91\nevent 1 "
                       "left 92\nevent 2 left 93\n";
  const auto* did_not = "event 0 arrived 10\nevent 1 arrived 20\nevent 0 left 21\nevent 1 left 22\nevent 2 "
                        "arrived 90\nevent 2 left 93\n";
  const auto* is_lost =
      "event 0 arrived 10\nevent 1 arrived 20\nevent 0 left 91\nevent 1 left 92\nevent 2 arrived 90\n";
  EXPECT_EQ(judged("thread", "ours", absence::late, waited), outcome::held);
  EXPECT_EQ(judged("thread", "ours", absence::late, did_not), outcome::passed);
  EXPECT_EQ(judged("thread", "ours", absence::late, is_lost), outcome::hung);
}

TEST(judging, another_place_of_one_barrier_is_an_arrival) {
  const auto* waited = "event 2 acted 5\nevent 2 arrived 30\nevent 0 arrived 10\nevent 1 arrived 20\nevent 0 "
                       "left 31\nevent 1 left 32\n";
  EXPECT_EQ(judged("member", "openmp", absence::elsewhere, waited), outcome::held);
}

TEST(judging, asks_nothing_of_a_barrier_to_which_nobody_came) {
  EXPECT_FALSE(judged("thread", "ours", absence::spin, "event 2 acted 5\nevent 0 arrived 10\n"));
  EXPECT_FALSE(judged("thread", "ours", absence::spin, ""));
  // A launcher that ends the job is the end of a hang, told by nobody.
  auto ended = said("event 2 acted 5\nevent 0 arrived 10\n");
  ended.ended_by.clear();
  EXPECT_EQ(
      judge(ended, a_case("rank", "mpi-barrier", absence::exit_before), *find_method("rank", "mpi-barrier")),
      outcome::hung);
}

TEST(what_is_foretold, covers_every_cell_with_a_word_and_holds_the_papers) {
  std::set<std::pair<std::string_view, std::string_view>> names;
  for (const auto& m : methods()) {
    EXPECT_TRUE(names.insert({m.level, m.name}).second) << m.level << " " << m.name;
    EXPECT_FALSE(m.why.empty());
    for (const auto how :
         {absence::exit_before, absence::exit_late, absence::spin, absence::elsewhere, absence::late})
      for (const auto* form : {"branch", "predicated"})
        EXPECT_TRUE(from_word<outcome>(predicted(m, how, form))) << m.level << " " << m.name;
    if (m.paper == "deadlock") { EXPECT_EQ(predicted(m, absence::exit_before, "branch"), "hung"); }
    if (m.paper == "no deadlock") { EXPECT_EQ(predicted(m, absence::exit_before, "branch"), "held"); }
  }
  // Paper 000, VIII-B: some blocks of a grid, some blocks or GPUs of a multi-grid; not lanes, not warps. It
  // knew neither our barriers nor votes.
  for (const auto& m : methods()) {
    const bool deadlocks = m.name == "grid-sync" || m.name == "vendor";
    EXPECT_EQ(m.paper == "deadlock", deadlocks) << m.level << " " << m.name;
  }
  EXPECT_EQ(predicted(*find_method("lane", "syncthreads"), absence::spin, "predicated"), "passed");
  EXPECT_EQ(predicted(*find_method("lane", "syncthreads"), absence::spin, "branch"), "hung");
  // One barrier of the team, whatever the place: whoever waits elsewhere has come.
  EXPECT_EQ(predicted(*find_method("member", "openmp"), absence::elsewhere, ""), "held");
  EXPECT_EQ(predicted(*find_method("thread", "std-barrier"), absence::elsewhere, ""), "hung");
}

// The plan on a machine with so many GPUs.
std::vector<measurement> plan_on(std::size_t gpus, const typed_words& typed) {
  topology::machine machine;
  machine.gpus.resize(gpus);
  for (std::size_t i = 0; i < gpus; ++i) machine.gpus[i].id = static_cast<int>(i);
  const std::vector<topology::rank_view> ranks{{0, 0, machine, {}}};
  study_request asked;
  asked.ranks = ranks;
  asked.device = gpus > 0 ? topology::device::gpu : topology::device::host;
  asked.with_cuda = true;
  asked.planning = true;
  asked.settle(blocking_study.axes, typed);
  return blocking_study.points(asked);
}

std::size_t can_run(const std::vector<measurement>& plan) {
  return static_cast<std::size_t>(
      std::count_if(plan.begin(), plan.end(), [](const auto& m) { return m.waived.empty(); }));
}

TEST(blocking_plan, asks_more_than_sixty_cases_of_gpus_and_none_of_gpus_that_others_use) {
  EXPECT_EQ(can_run(plan_on(2, {})), 0U);
  const auto mine = plan_on(2, {{"gpu_is_mine", {"yes"}}, {"who", {"last"}}});
  EXPECT_GT(can_run(mine), 60U);
  std::set<std::string> names;
  for (const auto& m : mine) EXPECT_TRUE(names.insert(canonical_text(m.point)).second) << name_of(m.point);
  for (const auto& m : plan_on(2, {{"gpu_is_mine", {"yes"}}, {"level", {"multigrid-blocks"}}}))
    EXPECT_EQ(m.point.members, 2);
  const auto one =
      plan_on(1, {{"gpu_is_mine", {"yes"}}, {"level", {"multigrid-gpus"}}, {"question", {"absent"}}});
  EXPECT_FALSE(one.empty());
  EXPECT_EQ(can_run(one), 0U);
  EXPECT_GT(can_run(plan_on(0, {})), 60U);  // host members
}

TEST(blocking_plan, every_barrier_can_be_asked_for_by_its_level_and_name) {
  for (const auto& m : methods())
    EXPECT_FALSE(plan_on(m.device == topology::device::gpu ? 2 : 0,
                         {{"level", {std::string(m.level)}}, {"method", {std::string(m.name)}}})
                     .empty())
        << m.level << " " << m.name;
}

TEST(blocking_plan, names_what_it_accepts) {
  const auto complaint = [](const typed_words& typed) -> std::string {
    try {
      plan_on(0, typed);
      return "";
    } catch (const usage_error& error) { return error.what(); }
  };
  EXPECT_NE(complaint({{"how", {"sleep"}}}).find("exit-before, exit-late, spin"), std::string::npos);
  EXPECT_NE(complaint({{"level", {"lane"}}}).find("member, rank, thread"), std::string::npos);
  EXPECT_NE(complaint({{"bound", {"0"}}}).find("50 to 4000"), std::string::npos);
  EXPECT_NE(complaint({{"members", {"1,2"}}}).find("2 to 64"), std::string::npos);
  EXPECT_NE(complaint({{"gpu_is_mine", {"perhaps"}}}).find("no, yes"), std::string::npos);
}

// How a case ended, as its subject reports it.
case_report ended(std::string by, std::vector<unsigned> named = {}) {
  case_report run;
  run.end.seen.ended_by = std::move(by);
  run.end.seen.named = std::move(named);
  run.absent = {3};
  return run;
}

// A result as the runner makes it, of one run.
result made_up(const blocking_case& c, std::string outcome, case_report report = ended("bound")) {
  result r;
  r.point.study = "blocking";
  r.point.subject = c.method;
  r.point.device = find_method(c.level, c.method)->device;
  r.point.members = static_cast<int>(c.members);
  r.point.set("level", c.level);
  r.point.set("question", c.rounds > 0 ? "holds" : "absent");
  r.point.set("how", std::string(to_string(c.how)));
  r.point.set("who", c.who);
  if (!c.form.empty()) r.point.set("form", c.form);
  r.status = result_status::measured;
  auto told = make_outcome_checker(c);
  seen run;
  run.outcome = std::move(outcome);
  run.own = std::move(report);
  told->take({}, std::vector<seen>{run});
  r.verdict = told->judge();
  told->add_to(r);
  return r;
}

blocking_case with_form(blocking_case c, std::string form) {
  c.form = std::move(form);
  return c;
}

TEST(outcome_checker, a_barrier_of_ours_must_name_the_absent_and_let_nobody_through) {
  const auto c = a_case("thread", "ours", absence::spin);
  EXPECT_TRUE(made_up(c, "hung", ended("time-out", {3})).verdict.passed);
  EXPECT_EQ(made_up(c, "hung", ended("time-out", {2})).verdict.violations, 1U);
  EXPECT_EQ(made_up(c, "hung").verdict.violations, 1U);
  EXPECT_EQ(made_up(c, "passed").verdict.violations, 1U);
  EXPECT_EQ(made_up(a_case("thread", "std-barrier", absence::spin), "hung").verdict.violations, 0U);
  auto broken = ended("bound");
  broken.afterwards = "all came, and it hung";
  EXPECT_EQ(made_up(a_case("thread", "std-barrier", absence::spin), "hung", broken).verdict.violations, 1U);
}

TEST(outcome_checker, tells_what_was_not_foretold) {
  const auto r = made_up(with_form(a_case("grid", "grid-sync", absence::exit_before), "branch"), "held");
  EXPECT_EQ(r.verdict.details.at("finding"), "hung was foretold, and it held");
  EXPECT_TRUE(r.verdict.passed);  // it is a finding, not a failure
  EXPECT_FALSE(made_up(with_form(a_case("grid", "grid-sync", absence::exit_before), "branch"), "hung")
                   .verdict.details.contains("finding"));
}

result of_rounds(const blocking_case& c, std::uint64_t violations, std::uint64_t control,
                 std::uint64_t hung_in = 0) {
  auto report = ended("bound");
  report.end.seen.held = holding{.rounds = 1000,
                                 .violations = violations,
                                 .control_rounds = 1000,
                                 .control_violations = control,
                                 .hung_in = hung_in,
                                 .begin = {0, 10, 20},
                                 .end = {21, 22, 23},
                                 .control_begin = {0, 10, 20},
                                 .control_end = {1, 11, 21},
                                 .unit = "cycles"};
  return made_up(c, hung_in != 0 ? "hangs" : violations == 0 ? "holds" : "does not hold", std::move(report));
}

TEST(outcome_checker, rounds_need_a_control_that_violates) {
  auto c = a_case("lane", "shuffle", absence::nobody);
  c.rounds = 1000;
  const auto good = of_rounds(c, 0, 1000);
  EXPECT_TRUE(good.verdict.passed && good.verdict.control_flagged);
  EXPECT_DOUBLE_EQ(*good.verdict.bound, 0.003);
  EXPECT_FALSE(of_rounds(c, 0, 990).verdict.passed);
  EXPECT_TRUE(of_rounds(c, 7, 1000).verdict.details.contains("finding"));
  c = a_case("lane", "coalesced", absence::nobody);
  c.rounds = 1000;
  EXPECT_FALSE(of_rounds(c, 1000, 1000).verdict.details.contains("finding"));  // members of one branch only
  EXPECT_TRUE(of_rounds(c, 0, 1000).verdict.details.contains("finding"));
  c = a_case("thread", "ours", absence::nobody);
  c.rounds = 1000;
  EXPECT_EQ(of_rounds(c, 1, 1000).verdict.violations, 1U);
}

TEST(outcome_checker, rounds_that_hang_are_a_finding_and_no_error) {
  auto c = a_case("lane", "syncthreads", absence::nobody);
  c.rounds = 1000;
  const auto hung = of_rounds(c, 0, 1000, 17);
  EXPECT_TRUE(hung.verdict.passed);
  EXPECT_EQ(hung.verdict.details.at("finding"),
            "it hangs when all come, each in a branch of its own: in round 17");
}

TEST(blocking_evaluation, says_of_the_papers_cells_whether_they_are_so_here) {
  const auto on = [](const char* level, const char* name, absence how, const char* word) {
    auto report = ended("bound");
    report.end.seen.found = {{"toolkit", "CUDA 13.0"}, {"architecture", "sm_90"}};
    return made_up(with_form(a_case(level, name, how), "branch"), word, report);
  };
  const std::vector<result> as_there{on("grid", "grid-sync", absence::exit_before, "hung"),
                                     on("lane", "syncwarp", absence::exit_before, "held")};
  auto e = evaluate(as_there);
  ASSERT_EQ(e.tables.size(), 3U);  // no findings
  EXPECT_EQ(e.tables[2].heading.name, "paper");
  EXPECT_EQ(e.tables[2].rows, (std::vector<std::vector<std::string>>{
                                  {"lane", "syncwarp (branch)", "none", "held", "yes"},
                                  {"grid", "grid-sync (branch)", "deadlock", "hung", "yes"}}));
  const std::vector<result> otherwise{on("grid", "grid-sync", absence::exit_before, "held"),
                                      on("warp", "syncthreads", absence::exit_before, "hung")};
  e = evaluate(otherwise);
  ASSERT_EQ(e.tables.size(), 4U);
  EXPECT_EQ(e.tables[2].heading.name, "findings");
  EXPECT_EQ(e.tables[2].rows.size(), 2U);
  EXPECT_EQ(e.tables[2].rows[0].back(), "sm_90");
  for (const auto& row : e.tables[3].rows) EXPECT_EQ(row.back(), "no: a finding");
}

TEST(blocking_evaluation, tells_users_who_may_be_absent) {
  std::vector<result> all;
  for (const auto* who : {"first", "last"}) {
    all.push_back(
        made_up(with_form(a_case("warp", "syncthreads", absence::exit_before, who), "branch"), "held"));
    all.push_back(made_up(with_form(a_case("warp", "syncthreads", absence::spin, who), "branch"),
                          std::string(who) == "last" ? "hung" : "passed"));
  }
  const auto e = evaluate(all);
  const auto& users = e.tables[0];
  EXPECT_EQ(users.rows.front()[2], "who ended before");
  EXPECT_EQ(users.rows.front()[3], "who goes on (nobody waits for him)");
  EXPECT_EQ(e.tables[1].rows.front()[5], "last: hung; first: passed, then hung");
  // Both forms in one row where they say the same; whoever is waited for in vain is named.
  const auto late = [](const char* form, const char* word) {
    return made_up(with_form(a_case("lane", "syncthreads", absence::late), form), word);
  };
  const auto same =
      evaluate(std::vector<result>{late("branch", "hung"), late("predicated", "hung")}).tables[0];
  ASSERT_EQ(same.rows.size(), 1U);
  EXPECT_EQ(same.rows[0][1], "syncthreads");
  EXPECT_EQ(same.rows[0][3], "who only comes late");
  EXPECT_EQ(
      evaluate(std::vector<result>{late("branch", "hung"), late("predicated", "held")}).tables[0].rows.size(),
      2U);
}

TEST(blocking_evaluation, draws_the_staircase_and_its_control) {
  auto c = a_case("lane", "shuffle", absence::nobody);
  c.rounds = 1000;
  const std::vector<result> all{of_rounds(c, 0, 1000)};
  const auto e = evaluate(all);
  ASSERT_EQ(e.figures.size(), 2U);
  const auto& held = std::get<timeline>(e.figures[0]);
  EXPECT_EQ(held.unit, "cycles");
  ASSERT_EQ(held.tracks.size(), 3U);
  EXPECT_EQ(held.tracks[1].events, (std::vector<event>{{"at the barrier", 10, 22}}));
  EXPECT_EQ(heading_of(e.figures[1]).name, "staircase-lane-shuffle-control");
  EXPECT_EQ(e.tables[0].rows[0].back(), "holds");
  EXPECT_TRUE(evaluate({}).tables.empty());
}

// The cases themselves. A bound that must pass is short; one within which something must happen is long.
case_end carried_out(std::string level, std::string name, absence how, unsigned bound_ms,
                     std::string who = "last") {
  auto c = a_case(std::move(level), std::move(name), how, std::move(who));
  c.bound_ms = bound_ms;
  return carry_out({MGSYNC_PROGRAM, {}}, c);
}

TEST(thread_cases, whoever_comes_late_is_waited_for) {
  for (const auto* name : {"std-barrier", "pthread-barrier", "ours"}) {
    const auto end = carried_out("thread", name, absence::late, 20'000, "half");
    EXPECT_EQ(end.outcome, outcome::held) << name << " " << end.error;
    EXPECT_EQ(end.seen.ended_by, "itself");
  }
  EXPECT_EQ(carried_out("member", "openmp", absence::late, 20'000, "first").outcome, outcome::held);
}

TEST(thread_cases, a_count_in_memory_waits_for_whoever_has_gone) {
  for (const auto how : {absence::exit_before, absence::exit_late, absence::spin, absence::elsewhere})
    EXPECT_EQ(carried_out("thread", "std-barrier", how, 100).outcome, outcome::hung) << to_string(how);
  EXPECT_EQ(carried_out("member", "openmp", absence::spin, 100).outcome, outcome::hung);
  EXPECT_EQ(carried_out("thread", "std-barrier", absence::drop, 20'000, "half").outcome, outcome::held);
}

TEST(thread_cases, ours_end_in_a_time_out_that_names_the_absent) {
  for (const auto how : {absence::exit_before, absence::exit_late, absence::spin, absence::elsewhere}) {
    const auto end = carried_out("thread", "ours", how, 300, "half");
    EXPECT_EQ(end.outcome, outcome::hung) << to_string(how) << " " << end.error;
    EXPECT_EQ(end.seen.ended_by, "time-out") << to_string(how);
    EXPECT_EQ(end.seen.named, (std::vector<unsigned>{1, 3})) << to_string(how);
  }
}

TEST(thread_cases, rounds_hold_everybody_and_without_the_barrier_nobody) {
  for (const auto* name : {"std-barrier", "ours"}) {
    auto c = a_case("thread", name, absence::nobody);
    c.rounds = 200;
    const auto end = carry_out({MGSYNC_PROGRAM, {}}, c);
    ASSERT_TRUE(end.seen.held) << end.error;
    EXPECT_EQ(end.seen.held->violations, 0U);
    EXPECT_EQ(end.seen.held->wrong_data, 0U);
    EXPECT_GT(end.seen.held->control_violations, 198U);
    EXPECT_EQ(end.seen.held->begin.size(), 4U);
  }
}

subject_creation subject_of(const case_starter& by, const blocking_case& c) {
  auto crew = std::make_shared<case_crew>(by);
  const auto ability = crew->plan_ability(c, {0}), first = crew->plan(c, {0}, ability);
  return make_case_subject(std::move(crew), ability, first);
}

// When the first and the last stamp of a case were taken.
std::pair<std::int64_t, std::int64_t> span_of(const case_report& report) {
  std::vector<std::int64_t> all;
  for (const auto& p : report.end.seen.participants)
    for (const auto& stamp : {p.arrived, p.acted})
      if (stamp) all.push_back(*stamp);
  return std::minmax({*std::ranges::min_element(all), *std::ranges::max_element(all)});
}

TEST(case_crew, carries_out_several_at_once_and_never_two_of_one_unit) {
  case_crew crew({MGSYNC_PROGRAM, {}});
  auto c = a_case("thread", "pthread-barrier", absence::spin);
  c.bound_ms = 3000;
  const auto ability = crew.plan_ability(c, {0});
  const auto first = crew.plan(c, {0}, ability), beside = crew.plan(c, {1}, ability),
             behind = crew.plan(c, {0, 1}, ability);
  const auto [began, waited] = span_of(crew.report(first));
  const auto [began_beside, waited_beside] = span_of(crew.report(beside));
  const auto [began_behind, waited_behind] = span_of(crew.report(behind));
  constexpr std::int64_t bound_ns = 3'000'000'000;
  EXPECT_LT(began_beside, waited + bound_ns);
  EXPECT_LT(began, waited_beside + bound_ns);
  EXPECT_GE(began_behind, waited + bound_ns);
  EXPECT_GE(began_behind, waited_beside + bound_ns);
  EXPECT_EQ(crew.report(behind).end.outcome, outcome::hung);
  EXPECT_EQ(crew.report(behind).afterwards, "works");
}

TEST(case_crew, carries_out_nothing_of_a_barrier_that_cannot_run) {
  case_crew crew({MGSYNC_PROGRAM, {}});
  const auto c = a_case("cluster", "barrier-cluster", absence::late);  // of no GPU
  const auto ability = crew.plan_ability(c, {0});
  crew.plan(c, {0}, ability);
  EXPECT_TRUE(crew.report(ability).end.seen.found.contains("waived"));
}

TEST(thread_cases, a_fresh_process_afterwards_shows_that_all_works) {
  auto c = a_case("thread", "std-barrier", absence::exit_before);
  c.bound_ms = 100;
  const auto made = subject_of({MGSYNC_PROGRAM, {}}, c);
  ASSERT_TRUE(made.subject) << made.reason;
  const auto came = made.subject->run({.seed = 1});
  EXPECT_EQ(came.ended, ending::completed);
  EXPECT_EQ(came.outcome, "hung");
  const auto& report = std::any_cast<const case_report&>(came.own);
  EXPECT_EQ(report.afterwards, "works");
  EXPECT_EQ(report.absent, (std::vector<unsigned>{3}));
  EXPECT_FALSE(report.end.seen.found.at("toolkit").empty());
}

TEST(thread_cases, what_does_not_work_when_all_come_is_an_error) {
  const auto made = subject_of({"/nowhere/program", {}}, a_case("thread", "ours", absence::spin));
  ASSERT_TRUE(made.subject);
  const auto came = made.subject->run({.seed = 1});
  EXPECT_EQ(came.ended, ending::died);
  EXPECT_NE(came.reason.find("cannot be started"), std::string::npos);
}

}}  // namespace mgsync::blocking
