// How single instructions and pairs of them are measured: a batch is a launch of every kernel. Pure.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "src/harness/methods/method.hpp"
#include "src/harness/prover.hpp"
#include "src/studies/timeline/instruction_list.hpp"

namespace mgsync::timelines {

// Cycles between two clock reads over the links of a chain: the latency of one by least squares, and the largest distance of
// a chain from that line. std::invalid_argument with fewer than two lengths.
struct slope {
  double per_link = 0;
  double residual = 0;
};
slope slope_of(std::span<const double> links, std::span<const double> cycles);

// Of one instruction. A run of the subject yields the cycles of each kernel under its name. Metrics in cycles: "latency" (the
// slope), "residual", "once" (the single shot, the two reads included), "as_compiled" (its twin); those that it has.
class instruction_method final : public method {
 public:
  explicit instruction_method(const instruction& of) : of_(of) {}
  std::optional<step> next(std::chrono::nanoseconds spent) override;
  void take(const step&, std::span<const seen>) override;
  std::vector<metric_name> columns() const override;
  stop_reason stopped() const override { return batch_ < batches ? stop_reason::none : stop_reason::precision; }
  std::string description() const override { return of_.chained ? "device clock, slope over the links" : "device clock, single passes"; }
  void resume(std::span<const sample> before, std::uint32_t next_batch) override;

 private:
  static constexpr std::uint32_t batches = 8;
  const instruction& of_;
  std::uint32_t batch_ = 0;
};

// Of all pairs. Metrics: what each takes alone, in cycles ("lds"), less what two reads take with nothing between; and of
// each pair, what of the shorter one is hidden beside the other ("lds_beside_shfl": 1 all of it, 0 nothing).
class pairs_method final : public method {
 public:
  std::optional<step> next(std::chrono::nanoseconds spent) override;
  void take(const step&, std::span<const seen>) override;
  std::vector<metric_name> columns() const override;
  stop_reason stopped() const override { return batch_ < batches ? stop_reason::none : stop_reason::precision; }
  std::string description() const override { return "device clock, single passes"; }
  void resume(std::span<const sample> before, std::uint32_t next_batch) override;

 private:
  static constexpr std::uint32_t batches = 8;
  std::uint32_t batch_ = 0;
};

// The machine code was read when the subject was made.
class code_prover final : public prover {
 public:
  std::optional<step> next() override { return std::nullopt; }
  void take(const step&, std::span<const seen>) override {}
  verdict judge() const override;
};

}  // namespace mgsync::timelines
