// One suite over the whole table of backends, through the barrier interface: what every backend promises, on
// host members in one process or, under mpirun, spread over the ranks. All ranks run the same tests together.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "barriers/backend.hpp"
#include "src/base/communicator.hpp"
#include "src/base/launcher.hpp"
#include "src/base/session.hpp"
#include "src/base/watchdog.hpp"
#include "src/studies/barriers/trial_exchange.hpp"
#include "topology/discovery.hpp"

namespace mgsync { namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

// Set by main before the tests are listed.
communicator* job = nullptr;
watchdog* dog = nullptr;
topology::machine here;
std::vector<std::string> hosts;  // of each rank
constexpr auto patience = 60s;

struct point_of_test {
  const backend* what;
  const barrier_variant* variant;
  unsigned members;
  unsigned blocks;
};

void PrintTo(const point_of_test& p, std::ostream* out) {
  *out << p.what->name << ":" << p.variant->name << " on " << p.members << " members of " << p.blocks;
}

std::string name_of_point(const testing::TestParamInfo<point_of_test>& info) {
  std::string name(info.param.what->name);
  name += "_" + std::string(info.param.variant->name) + "_" + std::to_string(info.param.members) + "x" +
          std::to_string(info.param.blocks);
  for (char& c : name)
    if (c == '-') c = '_';
  return name;
}

// Several members in a rank, one in each, and ranks that have none.
std::vector<unsigned> member_counts(unsigned ranks) {
  if (ranks <= 2) return {1, 2, 4};
  if (ranks == 4) return {2, 4};
  return {ranks};
}

// Host members, spread evenly over the ranks. Their waits yield: the tests run on few cores.
topology::group group_of(const point_of_test& p) {
  const auto ranks = std::min(static_cast<unsigned>(job->size()), p.members);
  topology::group group;
  group.oversubscribed = true;
  for (unsigned m = 0; m < p.members; ++m) {
    topology::member one;
    one.id = static_cast<int>(m);
    one.rank = static_cast<int>(m * ranks / p.members);
    one.host = hosts[static_cast<std::size_t>(one.rank)];
    group.members.push_back(one);
  }
  return group;
}

configuration configuration_of(const point_of_test& p) {
  configuration wanted;
  wanted.blocks_per_sm = p.blocks;
  return wanted;
}

support can_run(const point_of_test& p) {
  return mgsync::can_run(*p.what, *p.variant, here, group_of(p), configuration_of(p));
}

std::vector<point_of_test> all_points() {
  std::vector<point_of_test> points;
  for (const backend* b : backends())
    for (const auto& variant : b->variants)
      for (const unsigned members : member_counts(static_cast<unsigned>(job->size())))
        for (const unsigned blocks : {1u, 2u}) points.push_back({b, &variant, members, blocks});
  return points;
}

// The barriers, or the pieces of a barrier, that can run here.
std::vector<point_of_test> points_that_run(bool barriers = true) {
  auto points = all_points();
  std::erase_if(points,
                [&](const auto& p) { return !can_run(p).ok || p.variant->facts.joins_all() != barriers; });
  return points;
}

TEST(table, refuses_with_a_reason) {
  for (const auto& p : all_points())
    if (const auto can = can_run(p); !can.ok) { EXPECT_NE(can.reason, "") << testing::PrintToString(p); }
}

// What is known to run between host members, over any ranks of one host. Refused, it would leave this suite
// in silence.
constexpr std::string_view runs_between_host_members[] = {"multigrid:auto",
                                                          "multigrid:inbox",
                                                          "multigrid:hub",
                                                          "multigrid:dissemination",
                                                          "multigrid:central",
                                                          "multigrid:crowd",
                                                          "multigrid:pull-dissemination",
                                                          "peer-reduction:push",
                                                          "peer-reduction:pull",
                                                          "peers:flags-per-block",
                                                          "peers:flags-of-block-0",
                                                          "peers:three-state",
                                                          "peers:cas-mailbox",
                                                          "peers:counter-per-peer",
                                                          "peers:sum-to-zero",
                                                          "peers:sign-alternating",
                                                          "peers:pull",
                                                          "peers:dissemination-2",
                                                          "peers:dissemination-4"};

std::string full_name(const point_of_test& p) {
  return std::string(p.what->name) + ":" + std::string(p.variant->name);
}

// Whether this build must run the point; nothing where this suite does not know it.
std::optional<bool> expected_to_run(const point_of_test& p) {
  const auto group = group_of(p);
  const bool one_rank = topology::owners_of(group).size() == 1;
  const bool one_node = topology::hosts_of(group).size() == 1;
  if (p.what->name == "openmp") return one_rank;
  if (p.what->name == "mpi") return !one_rank;
  if (p.what->name == "nodes") return !one_node;
  if (!one_node) return {};
  if (std::ranges::find(runs_between_host_members, full_name(p)) != std::end(runs_between_host_members))
    return true;
  return {};
}

TEST(table, runs_what_is_for_host_members) {
  std::set<std::string> known;
  for (const auto& p : all_points()) {
    if (!p.variant->facts.joins_all()) continue;  // every_piece runs those
    const auto can = can_run(p);
    const auto expected = expected_to_run(p);
    if (expected) {
      EXPECT_EQ(can.ok, *expected) << testing::PrintToString(p) << ": " << can.reason;
      if (can.ok) known.insert(full_name(p));
    } else if (!can.ok && topology::hosts_of(group_of(p)).size() == 1) {
      EXPECT_NE(can.reason.find("GPU"), std::string::npos)
          << testing::PrintToString(p) << " is refused, and not because it is for GPUs: " << can.reason;
    }
  }
  const bool one_node = std::ranges::all_of(hosts, [](const auto& h) { return h == hosts.front(); });
  for (const auto name : runs_between_host_members)
    EXPECT_TRUE(known.contains(std::string(name)) || !one_node) << name << " is not in the table any more";
  EXPECT_TRUE(known.contains("openmp:runtime") || job->size() > 1);
  EXPECT_TRUE(known.contains("mpi:default") || job->size() == 1);
  EXPECT_TRUE(known.contains("nodes:leader") || one_node);
}

class every_backend : public testing::TestWithParam<point_of_test> {
 protected:
  every_backend() : group_(group_of(GetParam())), wanted_(configuration_of(GetParam())) {
    for (unsigned m = 0; m < GetParam().members; ++m)
      if (group_.members[m].rank == job->rank()) mine_.push_back(m);
    part_ = job->split(mine_.empty() ? -1 : 0);
    place_.emplace(*job, part_ ? *part_ : *job, *dog, patience);
  }

  bool alone() const { return GetParam().members * GetParam().blocks == 1; }

  // Nothing on a rank without members.
  void create() {
    barrier_.reset();
    if (mine_.empty()) return;
    auto made = GetParam().variant->make.of(group_.device)(group_, wanted_, *place_);
    EXPECT_EQ(made.reason, "") << "can_run() said yes";
    ASSERT_TRUE(made.barrier);
    barrier_ = std::move(made.barrier);
  }

  static run_request request(std::uint32_t rounds, run_mode mode) {
    run_request asked;
    asked.rounds = rounds;
    asked.mode = mode;
    asked.seed = 12345;
    asked.deadline = awake_clock::now() + patience;
    return asked;
  }

  group_trial run(const run_request& asked) {
    last_ = barrier_ ? barrier_->run(asked) : trial{};
    return exchange(*job, last_, mine_, false);
  }

  void expect_a_barrier(std::uint32_t rounds) {
    const auto seen = run(request(rounds, run_mode::check));
    EXPECT_EQ(seen.outcome, outcome::completed);
    EXPECT_EQ(seen.violations, 0u);
    EXPECT_TRUE(alone() || seen.observations >= rounds);
  }

  topology::group group_;
  std::vector<unsigned> mine_;  // this rank's members
  std::optional<communicator> part_;
  std::optional<session> place_;
  configuration wanted_;
  std::unique_ptr<barrier> barrier_;
  trial last_;  // of this rank
};

TEST_P(every_backend, is_a_barrier_run_after_run) {
  create();
  for (int launch = 0; launch < 3; ++launch) expect_a_barrier(300);
  const auto timed = run(request(100, run_mode::time));
  EXPECT_EQ(timed.outcome, outcome::completed);
  EXPECT_GT(timed.longest_us, 0);
  ASSERT_EQ(last_.elapsed.size(), mine_.size()) << "one duration for each local member";
  for (const auto& e : last_.elapsed) EXPECT_GT(e.count(), 0);
  expect_a_barrier(300);
  create();  // a new object beside what the old one left
  expect_a_barrier(300);
}

TEST_P(every_backend, flags_a_member_that_arrives_early) {
  if (alone()) GTEST_SKIP() << "nobody is there to see it";
  create();
  std::uint64_t violations = 0;
  for (std::uint32_t rounds = 256; rounds <= 4096 && violations == 0; rounds *= 4) {
    auto asked = request(rounds, run_mode::check);
    asked.fault = {fault::kind::arrive_early, GetParam().members - 1, 0, 0};
    violations = run(asked).violations;
  }
  EXPECT_GT(violations, 0u);
  expect_a_barrier(100);
}

TEST_P(every_backend, names_who_never_arrives) {
  if (!GetParam().variant->bounded) GTEST_SKIP() << "its waits are not ours: the watchdog ends them";
  if (alone()) GTEST_SKIP() << "nobody waits for anybody";
  const unsigned late = GetParam().blocks == 1 ? GetParam().members - 1 : 0;
  group_trial seen;
  // On a busy machine others come too late as well; given more time they arrive, and one alone is named.
  for (const auto deadline : {150ms + 25ms * job->size(), 2000ms, 20'000ms}) {
    create();
    auto asked = request(50, run_mode::check);
    asked.deadline = awake_clock::now() + deadline;
    asked.fault = {fault::kind::never_arrive, late, GetParam().blocks - 1, 5};
    const auto begin = steady_clock::now();
    seen = run(asked);
    EXPECT_LT(steady_clock::now() - begin, deadline + patience);
    ASSERT_EQ(seen.outcome, outcome::timed_out);
    EXPECT_EQ(seen.violations, 0u);
    if (seen.missing.size() == 1) break;
  }
  ASSERT_EQ(seen.missing.size(), 1u);
  EXPECT_EQ(seen.missing.front().member, late);
  EXPECT_EQ(seen.missing.front().block, GetParam().blocks - 1);
  EXPECT_EQ(seen.stuck_round, 6u) << "rounds count from 1 in the heartbeats";
  create();
  expect_a_barrier(100);
}

INSTANTIATE_TEST_SUITE_P(table, every_backend, testing::ValuesIn(points_that_run()), name_of_point);

// A piece of a barrier, which nothing can check, still waits for the other member.
class every_piece : public every_backend {};

TEST_P(every_piece, ends_all_rounds_and_waits_for_whoever_never_arrives) {
  create();
  EXPECT_EQ(run(request(300, run_mode::time)).outcome, outcome::completed);
  create();
  auto asked = request(50, run_mode::check);
  asked.deadline = awake_clock::now() + 2s;
  asked.fault = {fault::kind::never_arrive, 1, 0, 5};
  const auto seen = run(asked);
  ASSERT_EQ(seen.outcome, outcome::timed_out);
  ASSERT_EQ(seen.missing.size(), 1u);
  EXPECT_EQ(seen.missing.front().member, 1u);
  EXPECT_EQ(seen.stuck_round, 7u) << "the other member is the first to wait";
}

INSTANTIATE_TEST_SUITE_P(table, every_piece, testing::ValuesIn(points_that_run(false)), name_of_point);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(every_piece);

// Of the ranks other than 0: only what failed.
class failures_only : public testing::EmptyTestEventListener {
  void OnTestPartResult(const testing::TestPartResult& part) override {
    if (part.failed())
      std::fprintf(stderr, "rank %d: %s:%d: %s\n", job->rank(),
                   part.file_name() == nullptr ? "" : part.file_name(), part.line_number(), part.message());
  }
};

int run_tests(int count, char** words) {
  watchdog guard([](const std::string& text) { std::fprintf(stderr, "%s\n", text.c_str()); },
                 [](const std::string&) {});
  dog = &guard;
  auto ranks =
      read_launch().under_mpi ? communicator::world(patience, guard) : communicator::single(patience);
  job = &ranks;
  here = topology::discover({std::nullopt, false});
  hosts = ranks.all_gather(here.host, "gathering the hosts");
  testing::InitGoogleTest(&count, words);
  if (ranks.rank() != 0) {
    auto& listeners = testing::UnitTest::GetInstance()->listeners();
    delete listeners.Release(listeners.default_result_printer());
    listeners.Append(new failures_only);
  }
  const int failed = RUN_ALL_TESTS();
  ranks.barrier("ending the tests");
  return failed;
}

}}  // namespace mgsync

int main(int count, char** words) {
  try {
    return mgsync::run_tests(count, words);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    if (mgsync::job != nullptr && mgsync::job->size() > 1) mgsync::job->abort(1);
    return 1;
  }
}
