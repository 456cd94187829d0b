// The runner and the outputs with a scripted backend: what is announced, blamed, kept and written when things
// go wrong.
#include "src/harness/outputs.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <stdexcept>

#include "src/harness/runner.hpp"
#include "src/results/files/atomic_file.hpp"
#include "src/results/files/result_file.hpp"
#include "src/studies/barriers/barrier_points.hpp"
#include "tests/unit/barriers/made_up_variant.hpp"
#include "tests/unit/results/scratch_folder.hpp"

namespace mgsync { namespace {

using namespace std::chrono_literals;

// What the scripted backend does; each test writes its own.
struct script {
  std::function<creation()> create;
  std::function<void(const run_request&, trial&)> run = [](const run_request&, trial&) {};
};
script now;

// Two members whose barrier takes 2 us, and whose check catches a member that arrives early.
class scripted_barrier final : public barrier {
 public:
  trial run(const run_request& asked) override {
    trial seen;
    seen.elapsed = {5us + asked.rounds * 2us, 5us + asked.rounds * 2us};
    if (asked.mode == run_mode::check) seen.observations = asked.rounds;
    if (asked.fault.what == fault::kind::arrive_early) seen.violations = 1;
    now.run(asked, seen);
    return seen;
  }
};

creation make_scripted(const topology::group&, const configuration&, session&) { return now.create(); }
constexpr barrier_variant scripted_variant(std::string_view name) {
  auto one = test::made_up_variant(name);
  one.make = makers::of_hosts(make_scripted);
  return one;
}
constexpr barrier_variant variants[] = {scripted_variant("first"), scripted_variant("second")};
const backend scripted{.name = "scripted", .summary = "does as the test says", .variants = variants};

creation a_barrier() { return {std::make_unique<scripted_barrier>(), {}, {}, {}}; }

plan two_points() {
  cell c;
  for (int id = 0; id < 2; ++id) {
    topology::member m;
    m.id = id;
    m.host = "box";
    c.group.members.push_back(m);
  }
  for (const auto& variant : variants) {
    planned_point p;
    p.choice = {&scripted, &variant};
    p.point.subject = "scripted";
    p.point.variant = variant.name;
    p.point.members = 2;
    p.point.group = {0, 1};
    p.point.set(axes::blocks_per_sm, 1.0);
    c.points.push_back(std::move(p));
  }
  plan all;
  all.cells.push_back(std::move(c));
  return all;
}

// One command: the runner's events go to the outputs as the program's do.
struct command_run {
  test::scratch_folder folder;
  output_request asked;
  outputs written;
  watchdog dog{[](const std::string&) {}, [](const std::string&) {}};
  communicator job = communicator::single(5s);
  std::vector<std::string> announced;

  command_run() {
    now = {};
    now.create = a_barrier;
    asked.json = (folder.path() / "r.json").string();
  }
  static store_header about() {
    store_header all;
    all.machine.host = "box";
    all.seed = 1;
    all.started = "2026-01-31T12:00:00Z";
    return all;
  }
  void open() {
    written.open(asked, about());
    std::vector<result> planned;
    const auto all = two_points();
    for (const auto& p : all.cells[0].points) {
      result one;
      one.point = p.point;
      one.status = result_status::error;
      planned.push_back(one);
    }
    written.plan(planned);
  }
  std::vector<result> measure() {
    barriers::settings settings;
    settings.stopping.max_time = 20ms;
    settings.check_rounds = 100;
    settings.timeout = 2s;
    runner_events events;
    events.running = [this](const point& p, std::string_view) {
      written.measuring(p);
      if (announced.empty() || announced.back() != p.variant) announced.push_back(p.variant);
    };
    events.idle = [this] { written.idle(); };
    events.finished = [this](const result& r) { written.add(r); };
    const session where(job, job, dog, settings.timeout);
    const auto measurements = barriers::points_of(two_points(), settings, &where);
    runner all(job, dog, {settings.seed, settings.timeout}, written.store(), std::move(events));
    return all.run(measurements);
  }
  json_document document() const { return read_result_file(asked.json).document; }
};

TEST(endings, a_sweep_that_ends_well_is_measured_and_written) {
  command_run run;
  run.open();
  auto results = run.measure();
  run.written.replace(std::move(results));
  run.written.write("complete");
  const auto d = run.document();
  ASSERT_EQ(d.results.size(), 2U);
  for (const auto& r : d.results) {
    EXPECT_EQ(r.status, result_status::measured) << r.reason;
    EXPECT_NEAR(r.metrics.at(0).median, 2, 0.01);
    EXPECT_TRUE(r.verdict.passed);
  }
  EXPECT_EQ(d.ended, "complete");
}

TEST(endings, what_breaks_in_creation_is_blamed_and_not_the_one_before) {
  command_run run;
  run.open();
  int made = 0;
  now.create = [&made]() -> creation {
    if (++made == 2) throw std::runtime_error("no communicator could be had");
    return a_barrier();
  };
  EXPECT_THROW(run.measure(), std::runtime_error);
  run.written.write_in_emergency("no communicator could be had", result_status::error);
  const auto d = run.document();
  ASSERT_EQ(d.results.size(), 2U);
  for (const auto& r : d.results) {
    EXPECT_EQ(r.status, result_status::error) << r.point.variant;
    EXPECT_EQ(r.reason, r.point.variant == "second"
                            ? "no communicator could be had"
                            : "not tried, or not to its end: no communicator could be had");
  }
  EXPECT_EQ(run.announced.back(), "second");
}

TEST(endings, a_violated_barrier_failed_and_its_neighbour_is_measured) {
  command_run run;
  run.open();
  int made = 0;
  now.create = [&made] {
    ++made;
    return a_barrier();
  };
  now.run = [&made](const run_request& asked, trial& seen) {
    if (made == 1 && asked.mode == run_mode::check && asked.fault.what == fault::kind::none) {
      seen.violations = 1;
      seen.first_violation = violation{3, {1, 0}, {0, 0}, 4, 3, "phase"};
    }
  };
  const auto results = run.measure();
  EXPECT_EQ(results[0].status, result_status::failed);
  EXPECT_NE(results[0].reason.find("not a barrier"), std::string::npos) << results[0].reason;
  EXPECT_FALSE(results[0].has_metrics());
  EXPECT_EQ(results[1].status, result_status::measured) << results[1].reason;
}

TEST(endings, a_signal_interrupts_and_blames_nobody) {
  command_run run;
  run.open();
  run.written.measuring(two_points().cells[0].points[0].point);
  run.written.write_in_emergency("asked to end", result_status::interrupted);
  const auto d = run.document();
  ASSERT_EQ(d.results.size(), 2U);
  for (const auto& r : d.results) EXPECT_EQ(r.status, result_status::interrupted);
  EXPECT_EQ(d.ended, "interrupted");
}

// The point in flight is blamed, in the document and in the store; the other was not tried.
TEST(endings, an_emergency_says_why_in_the_store_too) {
  command_run run;
  run.asked.store = (run.folder.path() / "s.jsonl").string();
  run.open();
  run.written.measuring(two_points().cells[0].points[0].point);
  EXPECT_TRUE(run.written.write_in_emergency("stuck: nobody came", result_status::failed));
  EXPECT_TRUE(run.written.write_in_emergency("again", result_status::error)) << "once is enough";
  const auto d = run.document();
  ASSERT_EQ(d.results.size(), 2U);
  EXPECT_EQ(d.results[0].status, result_status::failed);
  EXPECT_EQ(d.results[0].reason, "stuck: nobody came");
  EXPECT_EQ(d.results[1].status, result_status::error);
  EXPECT_EQ(d.ended, "failed");
  EXPECT_EQ(d.settings.at("ended_because"), "stuck: nobody came");
  const auto stored = read_store(run.asked.store);
  EXPECT_EQ(stored.ended, "failed");
  ASSERT_EQ(stored.finished.size(), 1U);
  EXPECT_EQ(stored.finished[0].status, result_status::failed);
  const auto text = test::content_of(run.asked.store);
  EXPECT_NE(text.find(R"({"t":"end","why":"failed","reason":"stuck: nobody came")"), std::string::npos)
      << text;
}

// At a signal the end is written at once, in case there is no time for a better one; what comes then replaces
// it.
TEST(endings, what_is_written_at_a_signal_is_replaced_by_the_end) {
  command_run run;
  run.asked.store = (run.folder.path() / "s.jsonl").string();
  run.open();
  run.written.measuring(two_points().cells[0].points[0].point);
  EXPECT_TRUE(run.written.write_meanwhile("signal 15"));
  const auto early = run.document();
  EXPECT_EQ(early.ended, "interrupted");
  ASSERT_EQ(early.results.size(), 2U);
  EXPECT_EQ(early.results[0].reason, "signal 15");
  EXPECT_EQ(early.results[0].status, result_status::interrupted);
  EXPECT_EQ(read_store(run.asked.store).ended, "interrupted");
  run.written.replace(run.measure());
  run.written.write("complete");
  EXPECT_EQ(run.document().ended, "complete");
  EXPECT_EQ(run.document().results[0].status, result_status::measured);
  EXPECT_FALSE(run.document().settings.contains("ended_because"));
  EXPECT_TRUE(run.written.write_meanwhile("too late"));
  EXPECT_EQ(run.document().ended, "complete");
  EXPECT_EQ(read_store(run.asked.store).ended, "complete");
  EXPECT_TRUE(read_store(run.asked.store).damage.empty());
}

// The rank that had the files is gone: what its store holds is in the document of the one that stood by.
TEST(endings, who_stands_by_takes_over_what_is_in_the_store) {
  command_run run;
  run.asked.store = (run.folder.path() / "s.jsonl").string();
  std::vector<result> first;
  {
    command_run lost;
    lost.asked = run.asked;
    lost.open();
    first = lost.measure();
  }
  run.written.stand_by(run.asked, command_run::about());
  run.written.plan(first);
  run.written.take_over();
  EXPECT_TRUE(run.written.write_in_emergency("rank 0 is gone", result_status::error));
  const auto d = run.document();
  ASSERT_EQ(d.results.size(), 2U);
  for (const auto& r : d.results) EXPECT_EQ(r.status, result_status::measured);
  EXPECT_EQ(d.ended, "error");
  EXPECT_EQ(read_store(run.asked.store).ended, "error");
}

TEST(endings, who_stands_by_leaves_alone_what_was_ended) {
  command_run run;
  run.asked.store = (run.folder.path() / "s.jsonl").string();
  {
    command_run lost;
    lost.asked = run.asked;
    lost.open();
    lost.written.replace(lost.measure());
    lost.written.write("complete");
  }
  run.written.stand_by(run.asked, command_run::about());
  run.written.take_over();
  EXPECT_TRUE(run.written.write_in_emergency("rank 0 is gone", result_status::error));
  EXPECT_EQ(run.document().ended, "complete");
  EXPECT_EQ(read_store(run.asked.store).ended, "complete");
}

// A failed point that is resumed: the second attempt has its number, and both can be read.
TEST(endings, attempts_are_numbered) {
  const test::scratch_folder folder;
  const auto store = (folder.path() / "s.jsonl").string();
  {
    command_run run;
    run.asked.store = store;
    run.open();
    now.run = [](const run_request& asked, trial& seen) {
      if (asked.mode == run_mode::check && asked.fault.what == fault::kind::none) seen.violations = 1;
    };
    EXPECT_EQ(run.measure()[0].status, result_status::failed);
    run.written.write("complete");
  }
  command_run again;
  again.asked.store = store;
  again.asked.resume = true;
  again.open();
  const auto results = again.measure();
  EXPECT_EQ(results[0].status, result_status::measured) << results[0].reason;
  EXPECT_EQ(results[0].attempt, 2U);
  const auto contents = read_store(store);
  EXPECT_TRUE(contents.damage.empty());
  for (const auto& r : contents.finished) EXPECT_EQ(r.status, result_status::measured);
}

TEST(outputs, refuse_one_file_for_two_documents_also_through_a_link) {
  command_run run;
  run.asked.store = run.asked.json;
  EXPECT_THROW(run.open(), usage_error);
  std::ofstream(run.folder.path() / "real.jsonl").put('\n');
  std::filesystem::create_symlink(run.folder.path() / "real.jsonl", run.folder.path() / "link.json");
  run.asked.json = (run.folder.path() / "link.json").string();
  run.asked.store = (run.folder.path() / "real.jsonl").string();
  EXPECT_THROW(run.open(), usage_error);
}

TEST(outputs, refuse_one_file_twice_before_it_is_there) {
  command_run run;
  const auto file = std::filesystem::relative(run.asked.json);
  run.asked.forms["csv"] = file;
  EXPECT_THROW(run.open(), usage_error);
  std::filesystem::create_symlink(run.asked.json, run.folder.path() / "link");
  run.asked.forms["csv"] = (run.folder.path() / "link").string();
  EXPECT_THROW(run.open(), usage_error);
  output_request report;
  report.html = report.markdown = "-";
  EXPECT_THROW(prepare_files(report), usage_error);
  report.markdown.clear();
  EXPECT_NO_THROW(prepare_files(report));
}

TEST(outputs, refuse_what_the_command_reads) {
  const test::scratch_folder folder;
  output_request report;
  const std::vector<std::string> files{(folder / "a.json").string()};
  std::ofstream(files.front()).put('\n');
  report.html = (folder.path() / "." / "a.json").string();
  EXPECT_THROW(prepare_files(report, files), usage_error);
  report.html = (folder / "a.html").string();
  EXPECT_NO_THROW(prepare_files(report, files));
}

TEST(outputs, are_written_each_although_another_cannot_be) {
  command_run run;
  run.asked.json = "/dev/full";
  run.asked.forms["csv"] = (run.folder.path() / "r.csv").string();
  run.asked.store = (run.folder.path() / "r.jsonl").string();
  run.open();
  run.written.replace(run.measure());
  EXPECT_THROW(run.written.write("complete"), write_error);
  EXPECT_NE(test::content_of(run.asked.forms["csv"]).find("scripted"), std::string::npos);
  EXPECT_TRUE(read_store(run.asked.store).complete);
}

TEST(outputs, are_written_in_an_emergency_each_by_itself) {
  command_run run;
  run.asked.json = "/dev/full";
  run.asked.forms["csv"] = (run.folder.path() / "r.csv").string();
  run.open();
  run.written.write_in_emergency("stuck", result_status::failed);
  EXPECT_NE(test::content_of(run.asked.forms["csv"]).find("scripted"), std::string::npos);
}

TEST(outputs, say_three_words_by_their_exit_codes) {
  result measured, failed, broke;
  measured.status = result_status::measured;
  measured.metrics.push_back(metric{metric_name{"latency", "us"}});
  failed.status = result_status::failed;
  broke.status = result_status::error;
  EXPECT_EQ(exit_code_of(std::vector{measured}), exit_code::success);
  EXPECT_EQ(exit_code_of(std::vector{measured, failed, broke}), exit_code::barrier_failed);
  EXPECT_EQ(exit_code_of(std::vector{measured, broke}), exit_code::failure);
  EXPECT_EQ(exit_code_of(std::vector{result{}}), exit_code::all_waived);
}

}}  // namespace mgsync
