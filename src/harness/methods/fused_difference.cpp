#include "src/harness/methods/fused_difference.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include <fmt/format.h>

#include "src/results/values/statistics.hpp"

namespace mgsync {
namespace {

// The wider half of a figure's interval.
double uncertainty(const metric& m) { return std::max(m.median - m.ci95_low, m.ci95_high - m.median); }

constexpr double timer_step_us = 0.032;  // of the device's timer, on Hopper

double apart(const metric& a, const metric& b) { return std::abs(a.median - b.median); }

// Whether two lengths of the unit give the same: within the wider interval, and within 5 % or a step of the
// device's timer.
bool agree(const metric& a, const metric& b) {
  return apart(a, b) <= std::max(uncertainty(a), uncertainty(b)) &&
         apart(a, b) <= std::max(0.05 * std::abs(a.median), timer_step_us);
}

void rename_all(sample& row, std::string_view prefix) {
  for (auto& value : row.values)
    if (value.name.find('_') == std::string::npos) value.name.insert(0, prefix);
}

}  // namespace

metric fused_difference::at_unit::figure(std::string_view name) const {
  return summarize(metric_name{std::string(name), "us"}, samples);
}

bool fused_difference::at_unit::host_bound() const {
  const auto more = figure("additional"), calls = figure("call");
  return more.median - calls.median <= std::hypot(uncertainty(more), uncertainty(calls));
}

fused_difference::fused_difference(fused_settings settings) : settings_(settings) {
  if (settings.fewer == 0 || settings.more <= settings.fewer)
    throw std::invalid_argument("fused launches need i > j > 0");
  if (settings.batches < batches_for_an_interval || settings.samples_per_batch == 0)
    throw std::invalid_argument("fused launches need batches for an interval");
  if (!(settings.first_unit_us > 0 && settings.first_unit_us <= settings.last_unit_us))
    throw std::invalid_argument("a unit of waiting lasts longer than nothing");
  tried_.push_back({settings_.first_unit_us});
}

// Whether O of the last length agrees with O of the two lengths before it, each within the wider of the two
// intervals, and all three are valid.
bool fused_difference::settled() const {
  if (tried_.size() < 3) return false;
  const auto last = tried_.back().figure("overhead");
  for (auto before = tried_.rbegin() + 1; before != tried_.rbegin() + 3; ++before) {
    if (before->host_bound() || !agree(last, before->figure("overhead"))) return false;
  }
  return !tried_.back().host_bound();
}

bool fused_difference::has_plateau() const {
  const auto longer = tried_.back().figure("overhead"),
             settled = tried_[tried_.size() - 2].figure("overhead");
  return !tried_.back().host_bound() &&
         apart(longer, settled) <= std::max(0.1 * std::abs(settled.median), 3 * timer_step_us);
}

std::optional<step> fused_difference::next(std::chrono::nanoseconds) {
  if (stopped_ != stop_reason::none) return std::nullopt;
  if (batch_ == settings_.batches) {
    const double last = tried_.back().unit_us;
    const bool ends = looks_ahead_ || last >= settings_.last_unit_us;
    if (looks_ahead_ ? has_plateau() : ends && settled()) stopped_ = stop_reason::precision;
    else if (ends) stopped_ = stop_reason::max_time;
    if (ends) return std::nullopt;
    looks_ahead_ = settled();
    const double longer = std::min((looks_ahead_ ? 8 : 2) * last, settings_.last_unit_us);
    const auto here = samples_.end() - static_cast<std::ptrdiff_t>(tried_.back().samples.size());
    if (!looks_ahead_)
      for (auto row = here; row != samples_.end(); ++row) rename_all(*row, "shorter_");
    tried_.push_back({longer});
    batch_ = 0;
  }
  const auto i = settings_.more, j = settings_.fewer;
  const double unit = tried_.back().unit_us;
  step all;
  all.batch = static_cast<std::uint32_t>(tried_.size() - 1) * settings_.batches + batch_;
  for (std::uint32_t s = 0; s < settings_.samples_per_batch; ++s) {
    all.orders.push_back({.count = i, .units = j, .unit_us = unit});
    all.orders.push_back({.count = j, .units = i, .unit_us = unit});
    all.orders.push_back({.count = 2 * i, .units = j, .unit_us = unit});
  }
  return all;
}

void fused_difference::take(const step& asked, std::span<const seen> came) {
  const auto i = static_cast<double>(settings_.more), j = static_cast<double>(settings_.fewer);
  const auto waited = [](const seen& s) {
    return s.values.contains("waited_us") ? value_of(s, "waited_us") : 0.0;
  };
  for (std::size_t s = 0; s + 2 < came.size(); s += 3) {
    const auto &many = came[s], &few = came[s + 1], &twice = came[s + 2];
    const double beyond_waiting =
        value_of(many, "total_us") - waited(many) - (value_of(few, "total_us") - waited(few));
    samples_.push_back({asked.batch,
                        {{"overhead", beyond_waiting / (i - j)},
                         {"additional", (value_of(twice, "total_us") - value_of(many, "total_us")) / i},
                         {"call", value_of(twice, "call_us") / (2 * i)},
                         {"unit", tried_.back().unit_us}}});
    tried_.back().samples.push_back(samples_.back());
    if (looks_ahead_) rename_all(samples_.back(), "longer_");
  }
  ++batch_;
}

std::vector<metric_name> fused_difference::columns() const {
  return {metric_name{"overhead", "us"}, metric_name{"additional", "us", better::neither},
          metric_name{"call", "us"}, metric_name{"unit", "us", better::neither}};
}

std::string fused_difference::void_because() const {
  if (stopped_ != stop_reason::max_time) return {};
  if (tried_.back().host_bound())
    return fmt::format("host-bound: a launch that waits {:g} us takes no longer than its launch call",
                       tried_.back().unit_us);
  if (looks_ahead_)
    return fmt::format("no plateau: {:.2f} us at units of {:g} us, and {:.2f} at {:g}",
                       tried_[tried_.size() - 2].figure("overhead").median, tried_[tried_.size() - 2].unit_us,
                       tried_.back().figure("overhead").median, tried_.back().unit_us);
  return fmt::format("not stable: the overhead still changes at units of {:g} us", tried_.back().unit_us);
}

}  // namespace mgsync
