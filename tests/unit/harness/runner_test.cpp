// The runner with scripted subjects: what is checked, timed, interrupted, void, wrong and stuck.
#include "src/harness/runner.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <thread>

#include "src/harness/methods/one_run.hpp"
#include "src/harness/methods/slope.hpp"

namespace mgsync { namespace {

// Chains at 4 cycles a link; what else a run does is the script's.
class scripted final : public subject {
 public:
  explicit scripted(std::function<void(seen&)> script) : script_(std::move(script)) {}
  seen run(const run_order& asked) override {
    seen came{.done = asked};
    came.values["cycles"] = {23 + 4.0 * static_cast<double>(asked.count)};
    script_(came);
    stopped_s_ = came.stopped_s;
    return came;
  }
  seen put_together(seen mine) override {  // as of another rank
    mine.stopped_s = std::max(mine.stopped_s, stopped_s_);
    return mine;
  }

 private:
  std::function<void(seen&)> script_;
  double stopped_s_ = 0;
};

// Every run, timed or its own, must say that its sum is right.
class right_sum final : public checker {
 public:
  std::optional<step> next() override {
    return asked_++ == 0 ? std::optional(step{{run_order{.what = run_order::purpose::check}}, 0, true})
                         : std::nullopt;
  }
  void take(const step&, std::span<const seen> came) override {
    for (const auto& run : came) {
      ++verdict_.rounds;
      if (run.checked) verdict_.violations += run.checked->wrong;
    }
  }
  verdict judge() const override {
    auto now = verdict_;
    now.kind = verdict_kind::sum;
    now.passed = now.violations == 0;
    return now;
  }
  std::string refuted() const override { return verdict_.violations > 0 ? "a sum is wrong" : ""; }

 private:
  int asked_ = 0;
  verdict verdict_;
};

measurement chain(const std::string& name, std::function<void(seen&)> script) {
  measurement m;
  m.point.study = "test";
  m.point.subject = name;
  m.point.members = 1;
  m.cell = "all";
  m.create = [script] {
    return subject_creation{std::make_unique<scripted>(script), {}, {{"code", "read"}}};
  };
  m.method = [] { return std::make_unique<slope>(slope_settings{{16, 32}, 3}); };
  m.checker = [] { return std::make_unique<right_sum>(); };
  return m;
}

struct run_of_study {
  watchdog dog{[](const std::string&) {}, [](const std::string&) {}};
  std::vector<std::string> said;
  std::vector<result> results;

  explicit run_of_study(const std::vector<measurement>& all) {
    auto job = communicator::single(std::chrono::seconds(5));
    runner_events events;
    events.running = [this](const point& p, std::string_view what) {
      said.push_back(p.subject + " " + std::string(what));
    };
    runner measuring(job, dog, {1, std::chrono::seconds(5)}, nullptr, std::move(events));
    results = measuring.run(all);
  }
};

TEST(runner, proves_then_measures_and_gives_metrics_with_their_verdict) {
  const run_of_study done({chain("good", [](seen&) {})});
  const auto& r = done.results.front();
  EXPECT_EQ(r.status, result_status::measured);
  ASSERT_TRUE(r.has_metrics());
  EXPECT_DOUBLE_EQ(r.metrics.front().median, 4);
  EXPECT_EQ(r.verdict.kind, verdict_kind::sum);
  EXPECT_TRUE(r.verdict.passed);
  EXPECT_EQ(r.verdict.rounds, 1U + 3U * 2U);  // its own run, and every timed one
  EXPECT_EQ(r.environment.at("code"), "read");
  EXPECT_EQ(r.method, "cycle counter, slope over chain lengths");
  EXPECT_EQ(done.said.front(), "good creating");
  EXPECT_EQ(done.said[1], "good checking");
}

TEST(runner, a_tool_makes_figures_of_gpus_mean_little) {
  auto on_a_gpu = chain("one", [](seen&) {}), on_the_host = chain("other", [](seen&) {});
  on_a_gpu.point.device = topology::device::gpu;
  const auto tools_of = [&](const measurement& which) {
    return std::ranges::count(run_of_study({which}).results.front().doubts, doubt_kinds::tool, &doubt::kind);
  };
  EXPECT_EQ(tools_of(on_a_gpu), 0);
  setenv("NV_SANITIZER_INJECTION_PORT_BASE", "1", 1);
  EXPECT_EQ(tools_of(on_a_gpu), 1);
  EXPECT_EQ(tools_of(on_the_host), 0);
  unsetenv("NV_SANITIZER_INJECTION_PORT_BASE");
}

// A run that tells of lost hardware threads, and samples that fall into two groups, are doubts of the result.
TEST(runner, says_when_a_figure_means_little) {
  int runs = 0;
  const run_of_study done({chain("shaken", [&runs](seen& s) {
    s.values[std::string(taken_from_members)] = {
        s.done.what == run_order::purpose::time && ++runs % 3 == 0 ? 0.4 : 0.0};
  })});
  const auto& doubts = done.results.front().doubts;
  const auto found = std::ranges::find(doubts, doubt_kinds::switches, &doubt::kind);
  ASSERT_NE(found, doubts.end());
  EXPECT_EQ(found->text, "members switched out in 33 % of the runs");
  const run_of_study calm({chain("calm", [](seen& s) {
    s.values[std::string(taken_from_members)] = {0.002};
  })});  // by a kernel's thread
  for (const auto& one : calm.results.front().doubts) EXPECT_NE(one.kind, doubt_kinds::switches);
}

TEST(runner, a_wrong_subject_has_no_figure_and_takes_none_from_its_neighbours) {
  int runs = 0;
  const run_of_study done({chain("late wrong",
                                 [&runs](seen& s) {
                                   if (++runs > 4) s.checked = check_counts{1, 1, 1};
                                 }),
                           chain("good", [](seen&) {})});
  EXPECT_EQ(done.results[0].status, result_status::failed);
  EXPECT_EQ(done.results[0].reason, "a sum is wrong");
  EXPECT_FALSE(done.results[0].has_metrics());
  EXPECT_EQ(done.results[1].status, result_status::measured);
}

// Every timed run shows that its surroundings were not those asked for.
class wrong_surroundings final : public checker {
 public:
  std::optional<step> next() override { return std::nullopt; }
  void take(const step&, std::span<const seen>) override { void_ = "the load ran elsewhere"; }
  verdict judge() const override { return {}; }
  std::string void_because() const override { return void_; }
  void add_to(result& r) const override { r.notes.push_back("looked"); }

 private:
  std::string void_;
};

TEST(runner, void_figures_are_an_error_and_not_a_failure) {
  auto planned = chain("beside load", [](seen&) {});
  planned.checker = [] { return std::make_unique<wrong_surroundings>(); };
  const run_of_study done({planned, chain("good", [](seen&) {})});
  EXPECT_EQ(done.results[0].status, result_status::error);
  EXPECT_EQ(done.results[0].reason, "void: the load ran elsewhere");
  EXPECT_FALSE(done.results[0].has_metrics());
  EXPECT_EQ(done.results[0].notes, std::vector<std::string>{"looked"});
  EXPECT_EQ(done.results[1].status, result_status::measured);
}

TEST(runner, a_subject_that_is_not_made_again_is_waived_without_figures) {
  int made = 0;
  auto planned = chain("once", [](seen&) {});
  planned.create = [&made, again = planned.create] {
    return ++made < 3 ? again() : subject_creation{nullptr, "no memory left", {}};
  };
  const run_of_study done({planned});
  EXPECT_EQ(done.results[0].status, result_status::waived);
  EXPECT_EQ(done.results[0].reason, "no memory left");
  EXPECT_FALSE(done.results[0].has_metrics());
}

TEST(runner, says_where_the_time_went) {
  watchdog dog{[](const std::string&) {}, [](const std::string&) {}};
  auto job = communicator::single(std::chrono::seconds(5));
  runner measuring(job, dog, {}, nullptr, {});
  const std::vector all{chain("good", [](seen& s) {
    std::this_thread::sleep_for(std::chrono::milliseconds(s.done.what == run_order::purpose::check ? 20 : 5));
  })};
  measuring.run(all);
  EXPECT_GE(measuring.spent().checking, std::chrono::milliseconds(20));
  EXPECT_GE(measuring.spent().sampling, std::chrono::milliseconds(30));
  EXPECT_GT(measuring.spent().creating, std::chrono::nanoseconds(0));
}

TEST(runner, stuck_died_and_aborted_are_three_words) {
  const auto ends_as = [](ending how) {
    return [how](seen& s) {
      s.ended = how;
      s.reason = "so it ended";
    };
  };
  const run_of_study stuck({chain("s", ends_as(ending::stuck))}), died({chain("d", ends_as(ending::died))}),
      aborted({chain("a", ends_as(ending::aborted)), chain("never tried", [](seen&) {})});
  EXPECT_EQ(stuck.results[0].status, result_status::failed);
  EXPECT_EQ(stuck.results[0].reason, "so it ended");
  EXPECT_EQ(died.results[0].status, result_status::error);
  const run_of_study overdue({chain("o", ends_as(ending::overdue))});
  EXPECT_EQ(overdue.results[0].status, result_status::error);
  EXPECT_EQ(overdue.results[0].reason, "so it ended");
  EXPECT_EQ(aborted.results[0].status, result_status::interrupted);
  EXPECT_EQ(aborted.results[1].status, result_status::interrupted);
}

// Who was stopped made the runs of all others long, or stuck: neither is the subject's doing.
TEST(runner, what_a_stopped_process_held_up_is_measured_again) {
  int runs = 0, made = 0;
  auto planned = chain("held up", [&runs](seen& s) {
    ++runs;
    if (runs != 4 && runs != 6) return;
    s.stopped_s = 2;
    s.values["cycles"] = {1e12};
    if (runs == 6) s.ended = ending::stuck;
  });
  planned.create = [&made, create = planned.create] {
    ++made;
    return create();
  };
  int undisturbed = 0;
  auto other = chain("good", [](seen&) {});
  other.create = [&undisturbed, create = other.create] {
    ++undisturbed;
    return create();
  };
  const run_of_study done({planned, other});
  const auto& r = done.results.front();
  EXPECT_EQ(r.status, result_status::measured) << r.reason;
  ASSERT_TRUE(r.has_metrics());
  EXPECT_DOUBLE_EQ(r.metrics.front().max, 4) << "a run in which somebody was stopped is no sample";
  EXPECT_TRUE(r.verdict.passed);
  EXPECT_EQ(made, undisturbed + 1) << "what was given up is made anew";
  ASSERT_EQ(r.notes.size(), 1U);
  EXPECT_NE(r.notes.front().find("stopped, 4 s in all"), std::string::npos) << r.notes.front();
  EXPECT_TRUE(done.results.back().notes.empty());
}

TEST(runner, who_is_stopped_again_and_again_is_an_error_and_no_verdict) {
  const run_of_study done({chain("s", [](seen& s) {
    s.stopped_s = 1;
    s.ended = ending::stuck;
    s.reason = "nobody came";
  })});
  EXPECT_EQ(done.results[0].status, result_status::error);
  EXPECT_EQ(done.results[0].reason, "nobody came");
}

TEST(runner, what_cannot_be_is_waived_with_its_reason) {
  auto planned = chain("planned", [](seen&) {});
  planned.waived = "no GPU here";
  auto made = chain("made", [](seen&) {});
  made.create = [] { return subject_creation{nullptr, "it does not fit", {}}; };
  const run_of_study done({planned, made});
  EXPECT_EQ(done.results[0].status, result_status::waived);
  EXPECT_EQ(done.results[0].reason, "no GPU here");
  EXPECT_EQ(done.results[1].status, result_status::waived);
  EXPECT_EQ(done.results[1].reason, "it does not fit");
}

TEST(runner, points_of_a_cell_are_interleaved_by_batch) {
  const run_of_study done({chain("a", [](seen&) {}), chain("b", [](seen&) {})});
  std::vector<std::string> batches;
  for (const auto& line : done.said)
    if (line.find("batch") != std::string::npos) batches.push_back(line.substr(2));
  EXPECT_TRUE(std::is_sorted(batches.begin(), batches.end()));
}

}}  // namespace mgsync
