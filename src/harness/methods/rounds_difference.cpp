#include "src/harness/methods/rounds_difference.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "src/results/values/statistics.hpp"

namespace mgsync {
namespace {

std::string without_unit(const std::string& name) { return name.substr(0, name.rfind("_us")); }

}  // namespace

rounds_difference::rounds_difference(rounds_difference_settings settings)
    : settings_(std::move(settings)), rule_(settings_.stopping), chosen_(settings_.lengths_given) {
  wanted_ = samples_of_a_batch();
}

void rounds_difference::resume(std::span<const sample> before, std::uint32_t next_batch) {
  samples_.assign(before.begin(), before.end());
  for (const auto& one : samples_) rule_.add_value(one.batch, one.at("latency"));
  batch_ = next_batch;
}

step rounds_difference::pilot_step() const {
  step pilot;
  pilot.preparing = true;
  pilot.orders.assign(3, run_order{.count = pilot_rounds_});
  return pilot;
}

// Notes how many seconds the last pair of runs took.
void rounds_difference::note_cost(std::chrono::nanoseconds spent) {
  if (taken_ > 0)
    (taken_ == 1 ? first_costs_ : later_costs_)
        .push_back(std::chrono::duration<double>(spent - asked_at_).count());
  asked_at_ = spent;
}

// The time to create and warm up a new object, as a multiple of the time of a pair of runs.
double rounds_difference::beginning() const {
  if (first_costs_.empty() || later_costs_.empty() || median(later_costs_) <= 0) return 1;
  return median(first_costs_) / median(later_costs_) - 1;
}

std::uint32_t rounds_difference::samples_of_a_batch() const {
  if (settings_.samples_per_batch) return *settings_.samples_per_batch;
  constexpr std::uint32_t most = 5;
  return samples_worth_taking(batches_of(samples_, "latency"), beginning(), most);
}

std::optional<step> rounds_difference::next(std::chrono::nanoseconds spent) {
  if (!chosen_) return pilot_step();
  if (!batch_began_) batch_began_ = spent;
  note_cost(spent);
  const bool used_up = spent - *batch_began_ > settings_.stopping.max_time / settings_.batches_in_max_time;
  if (taken_ >= wanted_ || (taken_ > 0 && used_up)) {
    rule_.close_batch();
    ++batch_;
    taken_ = 0;
    batch_began_ = spent;
    wanted_ = samples_of_a_batch();
  }
  if (taken_ == 0 && rule_.batches() > 0) {
    // Fewer than min_batches give no interval, so a slow subject gets up to twice the time for them.
    why_ = rule_.decide(rule_.batches() < settings_.stopping.min_batches ? spent / 2 : spent);
    if (why_ != stop_reason::none) return std::nullopt;
  }
  step pair;
  pair.batch = batch_;
  if (taken_ == 0)
    pair.orders.push_back({.count = chosen_->rounds_short});  // warms up a new object, not counted
  pair.orders.push_back({.count = chosen_->rounds_short});
  pair.orders.push_back({.count = chosen_->rounds_long});
  return pair;
}

void rounds_difference::take(const step& asked, std::span<const seen> came) {
  if (asked.preparing) {
    // Of the runs the shortest, since one that something else held up says nothing about the rounds.
    double shortest = std::numeric_limits<double>::infinity(), longest = 0, worked_us = 0;
    for (const auto& run : came) {
      const double us = value_of(run, settings_.value);
      pilot_.push_back({static_cast<std::uint32_t>(run.done.count), std::max(us, 1e-3)});
      const double worked = run.values.contains("worked_us") ? value_of(run, "worked_us") : 0;
      const double long_us = std::max(us, (us + worked) / settings_.most_work);
      shortest = std::min(shortest, long_us);
      longest = std::max(longest, long_us);
      worked_us = worked / static_cast<double>(run.done.count);
    }
    pilot_rounds_ *= 4;
    constexpr double far_too_long = 50;  // times as long as is enough, whatever the shortest run took
    if (shortest > settings_.long_enough_us || longest > far_too_long * settings_.long_enough_us ||
        pilot_rounds_ > settings_.most_pilot_rounds) {
      auto wanted = settings_.lengths;
      wanted.precision = settings_.stopping.precision;
      chosen_ = choose_rounds(pilot_, wanted);
      if (worked_us > 0) {
        const double most = std::max(4.0, wanted.longest_run_us * settings_.most_work / worked_us);
        if (chosen_->rounds_long > most)
          *chosen_ = {std::min(chosen_->rounds_short, static_cast<std::uint32_t>(most / 4)),
                      static_cast<std::uint32_t>(most)};
      }
    }
    return;
  }
  const auto& shorter = came[came.size() - 2];
  const auto& longer = came.back();
  samples_.push_back(difference_sample(asked.batch, value_of(shorter, settings_.value),
                                       value_of(longer, settings_.value), chosen_->rounds_short,
                                       chosen_->rounds_long));
  for (const auto& other : settings_.per_round)
    samples_.back().values.push_back({without_unit(other), value_of(longer, other) / chosen_->rounds_long});
  for (const auto& other : settings_.beside)
    if (longer.values.contains(other.name))
      samples_.back().values.push_back({other.name, value_of(longer, other.name)});
  rule_.add_value(asked.batch, samples_.back().at("latency"));
  ++taken_;
}

std::string rounds_difference::void_because() const {
  if (samples_.empty()) return {};
  const auto middle = [this](std::string_view name) {
    return summarize(metric_name{std::string(name), "us"}, samples_).median;
  };
  const double shorter = middle("short_us"), longer = middle("long_us");
  constexpr double long_start_us = 1e6;
  if (shorter < long_start_us || longer - shorter > shorter / 1000) return {};
  return fmt::format("a run of {} round(s) took {:.8g} us and one of {} {:.8g}: what it takes to start a run "
                     "hides its rounds",
                     samples_.front().at("rounds_short"), shorter, samples_.front().at("rounds_long"),
                     longer);
}

std::vector<metric_name> rounds_difference::columns() const {
  std::vector<metric_name> all{metric_name{"latency", "us"}};
  for (const auto& other : settings_.per_round) all.push_back(metric_name{without_unit(other), "us"});
  all.insert(all.end(), settings_.beside.begin(), settings_.beside.end());
  return all;
}

}  // namespace mgsync
