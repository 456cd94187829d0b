#include "src/report/advice.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "src/base/errors.hpp"
#include "src/results/result_file.hpp"

namespace mgsync::report {
namespace {

std::vector<result> committed(const std::string& name) { return read_result_file(std::string(MGSYNC_RESULTS) + "/" + name).document.results; }

struct held_out {
  const char* file;
  topology::device device;
  int members;
  const char* shape;
};

// Ten cases of committed files, each left out of what the advice may know.
TEST(advice, of_ten_cases_that_it_does_not_know_is_within_5_percent_of_the_best) {
  constexpr auto gpu = topology::device::gpu, host = topology::device::host;
  const held_out cases[] = {{"h200x4-all-backends.json", gpu, 2, "1x32"},  {"h200x4-all-backends.json", gpu, 2, "8x256"},  {"h200x4-all-backends.json", gpu, 3, "1x1024"},
                            {"h200x4-all-backends.json", gpu, 3, "32x64"}, {"h200x4-all-backends.json", gpu, 4, "4x256"},  {"h200x4-all-backends.json", gpu, 4, "32x64"},
                            {"h200x4-gpu-barriers.json", gpu, 4, "16x64"}, {"h200x4-host-one-process.json", host, 8, "1"}, {"h200x4-host-one-process.json", host, 16, "1"},
                            {"h200x4-host-one-process.json", host, 32, "1"}};
  for (const auto& one : cases) {
    SCOPED_TRACE(std::string(one.file) + " " + std::to_string(one.members) + " " + one.shape);
    std::vector<result> known;
    std::map<std::string, double> truth;
    for (auto& r : committed(one.file)) {
      const bool is_the_case = r.point.device == one.device && r.point.members == one.members && format_shape(r.point) == one.shape;
      if (!is_the_case) known.push_back(r);
      else if (r.has_metrics() && r.verdict.passed) truth[subject_of(r.point)] = r.metrics.front().median;
    }
    ASSERT_GE(truth.size(), 3U);
    const auto found = advise(known, {one.device, one.members, 20, 0, 0, one.shape});
    const auto& chosen = found.barriers.front();
    EXPECT_FALSE(chosen.measured);
    ASSERT_TRUE(truth.contains(chosen.barrier)) << chosen.barrier;
    double best = truth.begin()->second;
    for (const auto& [name, us] : truth) best = std::min(best, us);
    EXPECT_LE(truth.at(chosen.barrier), 1.05 * best) << chosen.barrier;
  }
}

result made_up(const std::string& subject, int members, double us, const std::string& load = "idle") {
  result r;
  r.point.subject = subject;
  r.point.device = topology::device::gpu;
  r.point.members = members;
  r.point.set("blocks_per_sm", 1.0);
  r.point.set("threads_per_block", 32.0);
  r.point.set("load", load);
  r.status = result_status::measured;
  r.verdict.passed = true;
  metric m{metric_name{"latency", "us"}};
  m.median = us, m.ci95_low = 0.99 * us, m.ci95_high = 1.01 * us;
  r.metrics.push_back(m);
  return r;
}

TEST(advice, weighs_work_barrier_launch_and_bytes) {
  const std::vector<result> all{made_up("multigrid", 2, 2), made_up("multigrid", 4, 2.5), made_up("kernel-boundary", 2, 4), made_up("kernel-boundary", 4, 18), made_up("multigrid", 2, 8, "peer-stores")};
  const auto a = advise(all, {topology::device::gpu, 4, 22.5, 0, 0, ""});
  EXPECT_EQ(a.barriers.front().barrier, "multigrid");
  EXPECT_TRUE(a.barriers.front().measured);
  EXPECT_NEAR(a.share, 0.1, 1e-12);
  EXPECT_LT(a.share_low, a.share);
  EXPECT_EQ(a.by_host->barrier, "kernel-boundary");
  ASSERT_EQ(a.over_members.size(), 3U);
  EXPECT_EQ(a.over_members[0].step_us, 90);
  EXPECT_EQ(a.over_members[1].step_us, 47);
  EXPECT_EQ(a.best_members, 4);
  const auto text = to_text(a);
  EXPECT_NE(text.find("15.5 us more than multigrid"), std::string::npos) << text;
  EXPECT_NE(text.find("up to 4 times as long (peer-stores)"), std::string::npos) << text;
  // 1 MB at 100 GB/s takes 10 us; little work on many is not worth its exchange.
  EXPECT_EQ(advise(all, {topology::device::gpu, 4, 1, 1e6, 100, ""}).best_members, 1);
  EXPECT_NEAR(advise(all, {topology::device::gpu, 4, 10, 1e6, 100, ""}).share, 2.5 / 22.5, 1e-12);
}

TEST(advice, beyond_what_was_measured_is_a_guess) {
  const std::vector<result> all{made_up("multigrid", 2, 2), made_up("multigrid", 4, 2.5)};
  const auto guess = advise(all, {topology::device::gpu, 8, 10, 0, 0, ""}).barriers.front(), between = advise(all, {topology::device::gpu, 3, 10, 0, 0, ""}).barriers.front();
  EXPECT_TRUE(guess.beyond);
  EXPECT_GT(guess.high / guess.low, 1.9);
  EXPECT_FALSE(between.beyond);
  EXPECT_GT(between.us, 2);
  EXPECT_LT(between.us, 2.5);
}

TEST(advice, of_members_that_nobody_measured_says_what_there_is) {
  auto failed = made_up("multigrid", 4, 2);
  failed.verdict.passed = false;
  EXPECT_THROW(advise(std::vector<result>{failed}, {topology::device::gpu, 4}), usage_error);
  EXPECT_THROW(advise(std::vector<result>{made_up("multigrid", 4, 2)}, {topology::device::host, 4}), usage_error);
}

}  // namespace
}  // namespace mgsync::report
