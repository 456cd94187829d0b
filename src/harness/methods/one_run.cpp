#include "src/harness/methods/one_run.hpp"

#include <cmath>
#include <stdexcept>

namespace mgsync {

one_run::one_run(one_run_settings settings) : settings_(std::move(settings)), rule_(settings_.stopping) {
  if (settings_.runs_per_batch == 0 || settings_.count == 0)
    throw std::invalid_argument("a batch without runs");
}

std::optional<step> one_run::next(std::chrono::nanoseconds spent) {
  why_ = rule_.decide(rule_.batches() < settings_.stopping.min_batches ? spent / 2 : spent);
  if (why_ != stop_reason::none && rule_.batches() > 0) return std::nullopt;
  why_ = stop_reason::none;
  step batch;
  batch.batch = batch_;
  batch.orders.assign(settings_.warm_ups + settings_.runs_per_batch, run_order{.count = settings_.count});
  return batch;
}

void one_run::take(const step& asked, std::span<const seen> came) {
  for (std::size_t i = settings_.warm_ups; i < came.size(); ++i) {
    const double each = value_of(came[i], settings_.value) / static_cast<double>(settings_.count);
    sample row{asked.batch, {{settings_.measured.name, each}}};
    if (came[i].values.contains("bytes") && each > 0)
      row.values.push_back({"bandwidth", value_of(came[i], "bytes") / each * 1e-3});
    for (const auto& other : settings_.beside)
      row.values.push_back({other.name, value_of(came[i], column_name(other))});
    samples_.push_back(std::move(row));
    rule_.add_value(asked.batch, each);
  }
  rule_.close_batch();
  batch_ = asked.batch + 1;
}

std::vector<metric_name> one_run::columns() const {
  std::vector<metric_name> all{settings_.measured};
  if (!samples_.empty() && !std::isnan(samples_.front().at("bandwidth")))
    all.push_back(metric_name{"bandwidth", "GB/s", better::more});
  all.insert(all.end(), settings_.beside.begin(), settings_.beside.end());
  return all;
}

void one_run::resume(std::span<const sample> before, std::uint32_t next_batch) {
  samples_.assign(before.begin(), before.end());
  for (const auto& row : samples_) rule_.add_value(row.batch, row.at(settings_.measured.name));
  rule_.close_batch();
  batch_ = next_batch;
}

}  // namespace mgsync
