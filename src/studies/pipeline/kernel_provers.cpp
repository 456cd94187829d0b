#include "src/studies/pipeline/kernel_provers.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "src/studies/pipeline/evaluation.hpp"

namespace mgsync::pipeline {

namespace {

order proving(std::size_t which, std::string_view fault) {
  return {.what = order::purpose::prove, .units = which, .fault = std::string(fault)};
}

template <class Row>
std::string csv_with_times(std::vector<Row> rows, const times_kept& times, const machine_facts& facts) {
  for (std::size_t i = 0; i < rows.size(); ++i) set_times(rows[i], times.of(i));
  return to_csv(std::span<const Row>(rows), facts);
}

}  // namespace

void times_kept::take(const step& asked, std::span<const seen> came, const std::string& value) {
  if (asked.preparing) return;
  std::vector<double> batch;
  for (const seen& one : came) batch.push_back(value_of(one, value));
  batches_.push_back(std::move(batch));
}

std::vector<double> times_kept::of(std::size_t row) const {
  std::vector<double> all;
  for (const auto& batch : batches_) all.push_back(batch.at(row));
  return all;
}

std::optional<step> kernel_prover::next() {
  if (std::exchange(asked_, true)) return std::nullopt;
  return step{.orders = proofs(), .preparing = true};
}

std::vector<order> product_prover::proofs() const {
  std::vector<order> all;
  for (std::size_t i = 0; i < plan_->checks; ++i)
    for (const std::string_view fault : {std::string_view{}, fault_of_products})
      all.push_back(proving(i, fault));
  return all;
}

void product_prover::take(const step& asked, std::span<const seen> came) {
  times_.take(asked, came, "time_ns");
  if (!asked.preparing) return;
  for (const seen& one : came) {
    const double error = value_of(one, "error");
    if (!one.done.fault.empty()) {
      ++planted_;
      caught_ += error > 1;
      continue;
    }
    largest_ = std::max(largest_, error);
    ++(error <= 1 ? right_ : wrong_);
    const auto what = one.evidence.find("product");
    if (!(error <= 1) && refuted_.empty())
      refuted_ = fmt::format("the product {} is off by {:.3g} times what rounding allows",
                             what == one.evidence.end() ? "" : what->second, error);
  }
}

verdict product_prover::judge() const {
  verdict v;
  v.kind = verdict_kind::sum;
  v.rounds = v.observations = right_ + wrong_;
  v.violations = wrong_;
  v.control_flagged = all_caught();
  v.passed = right_ > 0 && wrong_ == 0 && v.control_flagged;
  v.details = {{"largest error over what rounding allows", fmt::format("{:.4f}", largest_)}};
  return v;
}

std::string product_prover::void_because() const {
  if (planted_ == caught_) return {};
  return fmt::format("{} of {} products with a wrong entry were not noticed: the check shows nothing",
                     planted_ - caught_, planted_);
}

void product_prover::add_to(result& r) const {
  if (!times_.empty())
    r.attachments.push_back(
        {std::string(rows_attachment), "text/csv", csv_with_times(plan_->products, times_, plan_->facts)});
}

std::vector<order> handover_prover::proofs() const {
  std::vector<order> all;
  for (std::size_t i = 0; i < plan_->recorded.size(); ++i) {
    const synthetic_row& r = plan_->recorded[i];
    all.push_back(proving(i, {}));
    // Only where producers wait for buffers does it matter when these are given back.
    if (r.math_cycles > r.load_a_cycles + r.load_b_cycles) all.push_back(proving(i, fault_of_stages));
  }
  return all;
}

void handover_prover::take(const step& asked, std::span<const seen> came) {
  times_.take(asked, came, "cycles");
  if (!asked.preparing) return;
  for (const seen& one : came) {
    const auto text = one.evidence.find("stamps");
    if (text == one.evidence.end()) continue;
    const auto rows = read_stamp_rows(text->second, "recorded stages").rows;
    if (rows.empty()) continue;
    const auto wrong = violations_of(rows);
    if (!one.done.fault.empty()) {
      ++planted_;
      caught_ += !wrong.empty();
      continue;
    }
    stages_ += static_cast<std::uint64_t>(rows.front().stages);
    wrong_ += wrong.size();
    if (!wrong.empty() && refuted_.empty()) refuted_ = wrong.front();
    stamps_.insert(stamps_.end(), rows.begin(), rows.end());
  }
}

verdict handover_prover::judge() const {
  verdict v;
  v.kind = verdict_kind::rounds;
  v.rounds = stages_;
  v.observations = stamps_.size();
  v.violations = wrong_;
  v.control_flagged = all_caught();
  v.passed = stages_ > 0 && wrong_ == 0 && v.control_flagged;
  if (stages_ > 0) v.bound = 3.0 / static_cast<double>(stages_);
  return v;
}

std::string handover_prover::void_because() const {
  if (planted_ == caught_) return {};
  return "a consumer that gave its buffers back too early was not noticed: the order of the recorded stages "
         "shows nothing";
}

void handover_prover::add_to(result& r) const {
  if (!times_.empty())
    r.attachments.push_back(
        {std::string(rows_attachment), "text/csv", csv_with_times(plan_->synthetic, times_, plan_->facts)});
  if (!stamps_.empty())
    r.attachments.push_back({std::string(stamps_attachment), "text/csv",
                             to_csv(std::span<const stamp_row>(stamps_), plan_->facts)});
}

}  // namespace mgsync::pipeline
