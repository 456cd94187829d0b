#include "src/studies/pipeline/kernel_checkers.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "src/studies/pipeline/evaluation.hpp"

namespace mgsync::pipeline {

namespace {

run_order check_of(std::size_t which, std::string_view fault) {
  return {.what = run_order::purpose::check, .units = which, .fault = std::string(fault)};
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

check_counts check_of_product(double error, std::string_view product) {
  if (error <= 1) return {.rounds = 1, .compared = 1};
  return {1, 1, 1, fmt::format("the product {} is off by {:.3g} times what rounding allows", product, error)};
}

std::optional<step> kernel_checker::next() {
  if (std::exchange(asked_, true)) return std::nullopt;
  return step{.orders = checking_runs(), .preparing = true};
}

std::vector<run_order> product_checker::checking_runs() const {
  std::vector<run_order> all;
  for (std::size_t i = 0; i < plan_->checks; ++i)
    for (const std::string_view fault : {std::string_view{}, fault_of_products})
      all.push_back(check_of(i, fault));
  if (plan_->is_recorded) all.push_back(check_of(plan_->checks, {}));
  return all;
}

void product_checker::take(const step& asked, std::span<const seen> came) {
  times_.take(asked, came, "time_ns");
  if (!asked.preparing) return;
  for (const seen& one : came) {
    checks_.add(one);
    if (one.done.fault.empty()) largest_ = std::max(largest_, value_of(one, "error"));
    if (const auto* rows = std::any_cast<std::vector<recorded_row>>(&one.own)) recorded_ = *rows;
  }
}

std::string product_checker::void_because() const {
  if (checks_.unnoticed() == 0) return {};
  return fmt::format("{} of {} products with a wrong entry were not noticed: the check shows nothing",
                     checks_.unnoticed(), checks_.controls());
}

void product_checker::add_to(result& r) const {
  if (checks_.rounds() > 0) r.quantities["error_over_rounding"] = {"", {largest_}};
  if (!times_.empty())
    r.attachments.push_back(
        {std::string(rows_attachment), "text/csv", csv_with_times(plan_->products, times_, plan_->facts)});
  if (!recorded_.empty())
    r.attachments.push_back({std::string(recorded_attachment), "text/csv",
                             to_csv(std::span<const recorded_row>(recorded_), plan_->facts)});
}

std::vector<run_order> handover_checker::checking_runs() const {
  std::vector<run_order> all;
  for (std::size_t i = 0; i < plan_->recorded.size(); ++i) {
    const synthetic_row& r = plan_->recorded[i];
    all.push_back(check_of(i, {}));
    // The fault is planted only where producers wait for buffers: otherwise it does not matter when these are
    // given back.
    if (r.math_cycles > r.load_a_cycles + r.load_b_cycles) all.push_back(check_of(i, fault_of_stages));
  }
  return all;
}

void handover_checker::take(const step& asked, std::span<const seen> came) {
  times_.take(asked, came, "cycles");
  if (!asked.preparing) return;
  for (const seen& one : came) {
    const auto* rows = std::any_cast<std::vector<stamp_row>>(&one.own);
    if (rows == nullptr || rows->empty()) continue;
    const auto wrong = violations_of(*rows);
    const bool control = !one.done.fault.empty();
    checks_.add({static_cast<std::uint64_t>(rows->front().stages), rows->size(), wrong.size(),
                 wrong.empty() ? std::string() : wrong.front()},
                control);
    if (!control) stamps_.insert(stamps_.end(), rows->begin(), rows->end());
  }
}

std::string handover_checker::void_because() const {
  if (checks_.unnoticed() == 0) return {};
  return "a consumer that gave its buffers back too early was not noticed: the order of the recorded stages "
         "shows nothing";
}

void handover_checker::add_to(result& r) const {
  if (!times_.empty())
    r.attachments.push_back(
        {std::string(rows_attachment), "text/csv", csv_with_times(plan_->synthetic, times_, plan_->facts)});
  if (!stamps_.empty())
    r.attachments.push_back({std::string(stamps_attachment), "text/csv",
                             to_csv(std::span<const stamp_row>(stamps_), plan_->facts)});
}

}  // namespace mgsync::pipeline
