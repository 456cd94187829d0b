// What shows that a kernel of this study is what it claims to be: its products are right, and a wrong entry
// is noticed; its stages were handed over in order, and a consumer that gives its buffer back too early is
// noticed. Every timed row is kept for the result, as CSV.
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

// Asks once for the runs that prove, some of them with a planted fault, and keeps the times of all others.
class kernel_prover : public prover {
 public:
  std::optional<step> next() final;
  std::string refuted() const final { return refuted_; }

 protected:
  explicit kernel_prover(std::shared_ptr<const kernel_plan> plan) : plan_(std::move(plan)) {}
  virtual std::vector<order> proofs() const = 0;
  bool all_caught() const { return planted_ > 0 && caught_ == planted_; }

  std::shared_ptr<const kernel_plan> plan_;
  std::size_t planted_ = 0, caught_ = 0;
  std::string refuted_;
  times_kept times_;

 private:
  bool asked_ = false;
};

// A run that proves multiplies the check number `units` and yields "error": the largest over what rounding
// allows.
class product_prover final : public kernel_prover {
 public:
  explicit product_prover(std::shared_ptr<const kernel_plan> plan) : kernel_prover(std::move(plan)) {}
  void take(const step&, std::span<const seen>) override;
  verdict judge() const override;
  std::string void_because() const override;
  void add_to(result&) const override;

 private:
  std::vector<order> proofs() const override;

  std::size_t right_ = 0, wrong_ = 0;
  double largest_ = 0;
};

// A run that proves records the setting number `units`; its evidence "stamps" is CSV of what every agent did
// when.
class handover_prover final : public kernel_prover {
 public:
  explicit handover_prover(std::shared_ptr<const kernel_plan> plan) : kernel_prover(std::move(plan)) {}
  void take(const step&, std::span<const seen>) override;
  verdict judge() const override;
  std::string void_because() const override;
  void add_to(result&) const override;

 private:
  std::vector<order> proofs() const override;

  std::uint64_t stages_ = 0, wrong_ = 0;
  std::vector<stamp_row> stamps_;
};

}  // namespace mgsync::pipeline
