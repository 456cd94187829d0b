#include "src/studies/barriers/rounds_checker.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "src/results/values/statistics.hpp"
#include "src/studies/barriers/barrier_subject.hpp"

namespace mgsync::barriers {
namespace {

constexpr std::uint32_t most_control_rounds = 4096;
// The check has several runs with the same object, since a run may leave state behind that breaks the next.
// Signals are handled between runs, so a run has at most most_rounds.
constexpr std::uint64_t fewest_launches = 4, most_rounds = 16384;

}  // namespace

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
    r.notes.push_back(fmt::format("{:.3g} GB/s of load on {}", median(gbps), group_->members[member].id));
  }
}

}  // namespace mgsync::barriers
