// Checkers of the kernels of this study: whether products are right, and whether stages are handed over in
// order. The positive controls are a wrong entry, and a consumer that gives its buffer back too early. The
// checkers also keep every timed row for the result, as CSV.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "src/harness/checker.hpp"
#include "src/harness/checks.hpp"
#include "src/studies/pipeline/measured_rows.hpp"

namespace mgsync::pipeline {

// What is known after a subject was made: the machine, and the settings. An order with `units` i is about
// setting i.
struct kernel_plan {
  machine_facts facts;
  int sms = 1;
  std::vector<product_row> products;
  std::vector<synthetic_row> synthetic;
  std::vector<synthetic_row> recorded;
  std::size_t checks = 0;    // how many products are checked
  bool is_recorded = false;  // one more is, by a kernel that says what it does when
};

inline constexpr std::string_view rows_attachment = "rows.csv", stamps_attachment = "stamps.csv",
                                  recorded_attachment = "recorded.csv";
inline constexpr std::string_view synthetic_kernel_name =
    "synthetic";  // of rows of this kind; others are products
inline constexpr std::string_view fault_of_products = "one wrong entry", fault_of_stages = "released early";

// The counts of checking one product: right where its largest error is within what rounding explains.
// `product`: its name for people.
check_counts check_of_product(double error_over_rounding, std::string_view product);

// The times of every batch, by row.
class times_kept {
 public:
  void take(const step&, std::span<const seen>, const std::string& value);
  std::vector<double> of(std::size_t row) const;
  bool empty() const { return batches_.empty(); }

 private:
  std::vector<std::vector<double>> batches_;
};

// Asks once for the checking runs, some of them with a planted fault, and keeps the times of all other runs.
class kernel_checker : public checker {
 public:
  std::optional<step> next() final;
  std::string refuted() const final { return checks_.example(); }

 protected:
  explicit kernel_checker(std::shared_ptr<const kernel_plan> plan) : plan_(std::move(plan)) {}
  virtual std::vector<run_order> checking_runs() const = 0;

  std::shared_ptr<const kernel_plan> plan_;
  checks checks_;
  times_kept times_;

 private:
  bool asked_ = false;
};

// A checking run computes and checks product number `units`, and yields "error", the largest error relative
// to what rounding explains. The one after the last is of the recorded kernel, and carries its recorded_rows.
class product_checker final : public kernel_checker {
 public:
  explicit product_checker(std::shared_ptr<const kernel_plan> plan) : kernel_checker(std::move(plan)) {}
  void take(const step&, std::span<const seen>) override;
  verdict judge() const override { return checks_.judge(verdict_kind::sum); }
  std::string void_because() const override;
  void add_to(result&) const override;

 private:
  std::vector<run_order> checking_runs() const override;

  double largest_ = 0;
  std::vector<recorded_row> recorded_;
};

// A checking run records setting number `units`, and carries its stamp_rows: what every agent did when.
class handover_checker final : public kernel_checker {
 public:
  explicit handover_checker(std::shared_ptr<const kernel_plan> plan) : kernel_checker(std::move(plan)) {}
  void take(const step&, std::span<const seen>) override;
  verdict judge() const override { return checks_.judge(verdict_kind::rounds); }
  std::string void_because() const override;
  void add_to(result&) const override;

 private:
  std::vector<run_order> checking_runs() const override;

  std::vector<stamp_row> stamps_;
};

}  // namespace mgsync::pipeline
