// What shows that a kernel of this study is what it claims to be: its products are right, and a wrong entry is noticed; its
// stages were handed over in order, and a consumer that gives its buffer back too early is noticed. Every timed row is
// kept for the result, as CSV.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "src/harness/prover.hpp"
#include "src/studies/pipeline/measured_rows.hpp"

namespace mgsync::pipeline {

// What is known once a subject was made: the machine, and the settings of which order i times number i.
struct kernel_plan {
  machine_facts facts;
  int sms = 1;
  std::vector<product_row> products;
  std::vector<synthetic_row> synthetic;
  std::vector<synthetic_row> recorded;
  std::size_t checks = 0;  // products that are multiplied and checked
};

inline constexpr std::string_view rows_attachment = "rows.csv", stamps_attachment = "stamps.csv";
inline constexpr std::string_view fault_of_products = "one wrong entry", fault_of_stages = "released early";

// The times of every batch, by row.
class times_kept {
 public:
  void take(const step&, std::span<const seen>, const std::string& value);
  std::vector<double> of(std::size_t row) const;
  bool empty() const { return batches_.empty(); }

 private:
  std::vector<std::vector<double>> batches_;
};

// A run that proves multiplies the check number `units` and yields "error": the largest over what rounding allows.
class product_prover final : public prover {
 public:
  explicit product_prover(std::shared_ptr<const kernel_plan> plan) : plan_(std::move(plan)) {}
  std::optional<step> next() override;
  void take(const step&, std::span<const seen>) override;
  verdict judge() const override;
  std::string refuted() const override { return refuted_; }
  std::string void_because() const override;
  void add_to(result&) const override;

 private:
  std::shared_ptr<const kernel_plan> plan_;
  bool asked_ = false;
  std::size_t right_ = 0, wrong_ = 0, caught_ = 0, planted_ = 0;
  double largest_ = 0;
  std::string refuted_;
  times_kept times_;
};

// A run that proves records the setting number `units`; its evidence "stamps" is CSV of what every agent did when.
class handover_prover final : public prover {
 public:
  explicit handover_prover(std::shared_ptr<const kernel_plan> plan) : plan_(std::move(plan)) {}
  std::optional<step> next() override;
  void take(const step&, std::span<const seen>) override;
  verdict judge() const override;
  std::string refuted() const override { return refuted_; }
  std::string void_because() const override;
  void add_to(result&) const override;

 private:
  std::shared_ptr<const kernel_plan> plan_;
  bool asked_ = false;
  std::uint64_t stages_ = 0, wrong_ = 0;
  std::size_t planted_ = 0, caught_ = 0;
  std::string refuted_;
  std::vector<stamp_row> stamps_;
  times_kept times_;
};

}  // namespace mgsync::pipeline
