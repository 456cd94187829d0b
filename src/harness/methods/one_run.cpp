#include "src/harness/methods/one_run.hpp"

#include <stdexcept>

namespace mgsync {

one_run::one_run(one_run_settings settings) : settings_(std::move(settings)), rule_(settings_.stopping) {
  if (settings_.runs_per_batch == 0 || settings_.count == 0) throw std::invalid_argument("a batch without runs");
}

std::optional<step> one_run::next(std::chrono::nanoseconds spent) {
  why_ = rule_.decide(rule_.batches() < settings_.stopping.min_batches ? spent / 2 : spent);
  if (why_ != stop_reason::none && rule_.batches() > 0) return std::nullopt;
  why_ = stop_reason::none;
  step batch;
  batch.batch = rule_.batches();
  batch.orders.assign(settings_.warm_ups + settings_.runs_per_batch, order{.count = settings_.count});
  return batch;
}

void one_run::take(const step& asked, std::span<const seen> came) {
  times_us_.emplace_back();
  gbps_.emplace_back();
  for (std::size_t i = settings_.warm_ups; i < came.size(); ++i) {
    const double each = value_of(came[i], settings_.value) / static_cast<double>(settings_.count);
    times_us_.back().push_back(each);
    rule_.add_value(asked.batch, each);
    if (const auto bytes = came[i].values.find("bytes"); bytes != came[i].values.end() && each > 0)
      gbps_.back().push_back(bytes->second.at(0) / each * 1e-3);
  }
  if (gbps_.back().empty()) gbps_.pop_back();
  rule_.close_batch();
}

std::vector<metric> one_run::values() const {
  if (times_us_.empty()) return {};
  std::vector<metric> all{summarize_batches({"time", "us"}, times_us_)};
  if (!gbps_.empty()) all.push_back(summarize_batches({"bandwidth", "GB/s", better::more}, gbps_));
  return all;
}

}  // namespace mgsync
