#include "src/studies/barriers/barrier_points.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/base/session.hpp"
#include "src/base/units.hpp"
#include "src/harness/checker.hpp"
#include "src/harness/methods/rounds_difference.hpp"
#include "src/results/values/statistics.hpp"
#include "src/studies/barriers/barrier_facts.hpp"
#include "src/studies/barriers/barrier_subject.hpp"
#include "src/studies/barriers/checked_code.hpp"
#include "src/studies/barriers/trial_exchange.hpp"
#include "src/studies/barriers/verdict.hpp"
#include "topology/group.hpp"

namespace mgsync::barriers {
namespace {

// Is it a barrier? (docs/method.md): many rounds that nobody may leave early, a positive control after the
// first of them, and a look at every timed run for who comes last and what the load beside it was.
class rounds_checker final : public checker {
 public:
  // At least `rounds` rounds are checked; 0: none. `piece`: a piece of a barrier has nothing to check. The
  // group must outlive the checker.
  rounds_checker(const point&, const topology::group&, std::uint64_t rounds, std::uint64_t seed, bool piece);

  std::optional<step> next() override;
  void take(const step&, std::span<const seen>) override;
  verdict judge() const override { return verdict_; }
  std::string refuted() const override { return refuted_; }
  std::string void_because() const override { return void_because_; }
  void add_to(result&) const override;

 private:
  void take_control(const seen&);
  void take_rounds(const seen&);
  void take_sample(const seen& longer);

  point point_;
  const topology::group* group_;
  std::uint64_t seed_;
  check_reach reach_;
  bool trivial_ = false;
  std::uint32_t control_rounds_ = 256;  // of the next positive control; each one has four times as many
  std::uint64_t launches_left_ = 0;     // how many runs of the check are left
  std::uint64_t per_launch_ = 0;        // rounds of such a run
  verdict verdict_;
  std::string refuted_, void_because_;
  std::vector<std::string> notes_;
  std::vector<unsigned> times_slowest_;                // by member
  std::map<unsigned, ran_at> ran_;                     // by member: over all timed runs
  std::map<unsigned, std::vector<double>> load_gbps_;  // by member, of the longer runs
};

constexpr std::uint32_t most_control_rounds = 4096;
// The check has several runs with the same object, since a run may leave state behind that breaks the next.
// Signals are handled between runs, so a run has at most most_rounds.
constexpr std::uint64_t fewest_launches = 4, most_rounds = 16384;

rounds_checker::rounds_checker(const point& p, const topology::group& group, std::uint64_t rounds,
                               std::uint64_t seed, bool piece)
    : point_(p), group_(&group), seed_(seed), times_slowest_(group.members.size()) {
  if (piece) notes_.push_back("a piece of a barrier: nothing to check");
  if (rounds == 0 || piece) return;
  trivial_ = is_trivial(p);
  reach_ = reach_of_check(p, group);
  if (!reach_.note.empty()) notes_.push_back(reach_.note);
  if (!trivial_ && !reach_.within_hosts && !reach_.across_hosts) return;
  verdict_.scope = reach_.scope;
  if (trivial_) verdict_.kind = verdict_kind::trivial;
  launches_left_ = std::max(fewest_launches, (rounds + most_rounds - 1) / most_rounds);
  per_launch_ = (rounds + launches_left_ - 1) / launches_left_;
}

std::optional<step> rounds_checker::next() {
  if (launches_left_ == 0 || !refuted_.empty()) return std::nullopt;
  step one;
  one.preparing = true;
  one.orders.push_back({.what = run_order::purpose::check, .count = per_launch_, .seed = seed_});
  // The first rounds of a new object are checked before the control, whose own violations would hide theirs.
  if (trivial_ || verdict_.rounds == 0 || verdict_.control_flagged) return one;
  one.orders.front().count = control_rounds_;
  one.orders.front().fault = early_arrival;
  one.orders.front().faulty = control_member(point_, *group_, seed_);
  return one;
}

void rounds_checker::take(const step& asked, std::span<const seen> came) {
  if (asked.orders.front().what == run_order::purpose::time) return take_sample(came.back());
  if (asked.orders.front().fault.empty()) return take_rounds(came.front());
  take_control(came.front());
}

void rounds_checker::take_control(const seen& run) {
  const auto all = run.checked.value().wrong,
             far = static_cast<std::uint64_t>(value_of(run, "far_violations"));
  verdict_.control_flagged = (!reach_.within_hosts || all > far) && (!reach_.across_hosts || far > 0);
  control_rounds_ *= 4;
  if (verdict_.control_flagged) verdict_.kind = verdict_kind::rounds;
  else if (control_rounds_ > most_control_rounds)
    refuted_ =
        fmt::format("void: the check did not notice a member of {} that arrives before its time, so its "
                    "verdict is void",
                    name_of(point_));
}

void rounds_checker::take_rounds(const seen& run) {
  const auto& found = run.checked.value();
  verdict_.rounds += found.rounds;
  verdict_.observations += found.compared;
  verdict_.violations += found.wrong;
  verdict_.bound = upper_bound(verdict_.rounds);
  if (!found.example.empty()) refuted_ = found.example;
  verdict_.passed = --launches_left_ == 0 && refuted_.empty();
}

// A result is void where the load beside the barrier did not run, or ran elsewhere.
void rounds_checker::take_sample(const seen& longer) {
  if (const auto slowest = longer.values.find("slowest"); slowest != longer.values.end())
    ++times_slowest_[static_cast<std::size_t>(slowest->second.front())];
  if (const auto members = longer.values.find("ran_member"); members != longer.values.end())
    for (std::size_t i = 0; i < members->second.size(); ++i) {
      auto& ran = ran_[static_cast<unsigned>(members->second[i])];
      ran.rank = static_cast<int>(longer.values.at("ran_rank")[i]);
      ran.cpus.insert(static_cast<int>(longer.values.at("ran_cpu")[i]));
    }
  if (!longer.void_because.empty()) void_because_ = longer.void_because;
  if (!longer.values.contains("load_members")) return;
  const auto &members = longer.values.at("load_members"), &gbps = longer.values.at("load_gbps");
  for (std::size_t i = 0; i < members.size(); ++i) {
    const auto member = static_cast<unsigned>(members[i]);
    load_gbps_[member].push_back(gbps[i]);
    if (gbps[i] == 0 && void_because_.empty())
      void_because_ =
          fmt::format("member {} made no traffic while the barrier ran", group_->members[member].id);
  }
}

void rounds_checker::add_to(result& r) const {
  r.notes.insert(r.notes.end(), notes_.begin(), notes_.end());
  if (r.metrics.empty()) return;
  const auto most = std::max_element(times_slowest_.begin(), times_slowest_.end());
  const auto runs = std::accumulate(times_slowest_.begin(), times_slowest_.end(), 0u);
  if (runs == 0) return;
  const int slowest = group_->members[static_cast<std::size_t>(most - times_slowest_.begin())].id;
  if (!ran_.empty()) r.environment["placed"] = where_members_ran(*group_, ran_);
  r.environment["slowest_member"] = fmt::format("{}", slowest);
  if (is_systematic(*most, runs, times_slowest_.size()))
    r.notes.push_back(fmt::format("member {} last in {:.0f} % of the runs", slowest, 100.0 * *most / runs));
  for (const auto& [member, gbps] : load_gbps_) {
    auto& of_members = r.quantities["load_of_members"];
    of_members.unit = "GB/s";
    of_members.values.push_back(median(gbps));
    r.notes.push_back(
        fmt::format("{} GB/s of load on {}", in_digits(median(gbps), 3), group_->members[member].id));
  }
}

// The ranks that own members of the current cell. Cells are measured one after the other, and the
// communicator of one is freed before the next is made: a large sweep has hundreds of cells, and MPI limits
// the number of communicators.
class cell_session {
 public:
  explicit cell_session(const session& job) : job_(&job) {}

  // Makes the communicator of a cell. Collective over the job.
  void enter(bool has_members) {
    session_.reset();
    part_.reset();
    part_ = job_->job().split(has_members ? 0 : -1);
    session_.emplace(job_->job(), part_ ? *part_ : job_->job(), job_->watchdog(), job_->timeout());
  }
  session& here() { return *session_; }

 private:
  const session* job_;
  std::optional<communicator> part_;
  std::optional<session> session_;
};

std::vector<unsigned> members_of_rank(const topology::group& group, int rank) {
  std::vector<unsigned> mine;
  for (unsigned m = 0; m < group.members.size(); ++m)
    if (group.members[m].rank == rank) mine.push_back(m);
  return mine;
}

// Where the members were asked to be: member, rank, host, CPU and GPU. For host members the checker later
// replaces this by where they were; a thread that could not be pinned fails the creation.
std::string placed(const topology::group& group) {
  std::vector<std::string> all;
  for (const auto& m : group.members)
    all.push_back(fmt::format(
        "{}: rank {} on {}, {}{}", m.id, m.rank, m.host,
        m.cpus.empty() ? "not pinned"
                       : fmt::format("CPU {}", fmt::join(std::set<int>(m.cpus.begin(), m.cpus.end()), "+")),
        m.gpu >= 0 ? fmt::format(", CUDA's GPU {}", m.gpu) : ""));
  return fmt::format("{}", fmt::join(all, "; "));
}

std::unique_ptr<method> latency(const stopping_rule& stopping) {
  rounds_difference_settings asked;
  asked.stopping = stopping;
  asked.beside = {load_rate};
  return std::make_unique<rounds_difference>(asked);
}

}  // namespace

std::size_t points_to_measure(const plan& planned) {
  std::size_t points = 0;
  for (const auto& c : planned.cells)
    points += static_cast<std::size_t>(
        std::ranges::count_if(c.points, [](const auto& p) { return p.waived.empty(); }));
  return points;
}

std::chrono::nanoseconds default_max_time(std::size_t points) {
  using namespace std::chrono_literals;
  return std::clamp<std::chrono::nanoseconds>(
      std::chrono::nanoseconds(16s) / std::max<std::size_t>(points, 1), 60ms, 2s);
}

std::vector<measurement> points_of(plan made, const settings& asked, const session* where_we_are) {
  const auto planned = std::make_shared<const plan>(std::move(made));
  const auto meeting = where_we_are == nullptr ? nullptr : std::make_shared<cell_session>(*where_we_are);
  std::vector<measurement> all;
  for (std::size_t i = 0; i < planned->cells.size(); ++i) {
    const cell& where = planned->cells[i];
    const auto mine = members_of_rank(where.group, where_we_are == nullptr ? 0 : where_we_are->rank());
    for (const planned_point& each : where.points) {
      measurement m;
      m.point = each.point;
      m.waived = each.waived;
      m.cell = fmt::format("{}", i);
      m.describe_cell = [planned, &where](detail wanted) { return description_of(where, wanted); };
      m.enter_cell = [meeting, has_members = !mine.empty()] { meeting->enter(has_members); };
      m.speaker = where.group.members.empty() ? 0 : where.group.members.front().rank;
      m.notes = where.notes;
      m.facts = known_facts_of(each.point);
      if (const auto library = each.choice.variant->library;
          m.facts && library != nullptr && m.waived.empty() && where_we_are != nullptr)
        m.facts->library = library();
      m.create = [planned, &where, &each, where_we_are, meeting, mine, asked] {
        creation built;
        if (!mine.empty())
          built = each.choice.variant->make.of(where.group.device)(where.group, each.configuration,
                                                                   meeting->here());
        subject_creation out;
        out.reason = built.reason;
        if (built.reason.empty()) out.found["placed"] = placed(where.group);
        if (!built.algorithm.empty()) out.found["algorithm"] = built.algorithm;
        if (!built.peer_memory.empty()) out.found["peer_memory"] = built.peer_memory;
        if (auto code = code_of(built.checked); !code.empty()) out.found["code"] = std::move(code);
        out.subject = std::make_unique<barrier_subject>(where_we_are->job(), each.point, where, mine,
                                                        std::move(built.barrier), asked.seed, asked.timeout);
        return out;
      };
      m.method = [stopping = asked.stopping] { return latency(stopping); };
      m.checker = [planned, &where, &each, asked] {
        return std::make_unique<rounds_checker>(each.point, where.group, asked.check_rounds, asked.seed,
                                                !each.choice.variant->facts.joins_all());
      };
      all.push_back(std::move(m));
    }
  }
  return all;
}

}  // namespace mgsync::barriers
