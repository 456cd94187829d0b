// How single instructions and pairs of them are measured: a batch is a launch of every kernel. Pure.
#pragma once

#include <string>
#include <vector>

#include "src/studies/timeline/instruction_list.hpp"
#include "src/studies/timeline/single_passes.hpp"

namespace mgsync::timelines {

// Measures one instruction. A run of the subject yields the cycles of each kernel under its name. Metrics in
// cycles, as far as there are kernels for them: "latency" (the slope over the links), "residual", "once" (the
// single shot, with both clock reads), "as_compiled" (its twin).
class instruction_method final : public single_passes {
 public:
  explicit instruction_method(const instruction& of) : of_(of) {}
  std::vector<metric_name> columns() const override;
  std::string description() const override {
    return !of_.lengths.empty() ? "device clock, slope over the links" : "device clock, single passes";
  }

 private:
  std::vector<named_value> row_of(const seen&) const override;

  const instruction& of_;
};

// Measures all pairs. Metrics: the cycles of each instruction alone ("lds"), without what the clock reads
// add; and for each pair, which share of the shorter instruction is hidden beside the other
// ("lds_beside_shfl": 1 all of it, 0 nothing).
class pairs_method final : public single_passes {
 public:
  std::vector<metric_name> columns() const override;

 private:
  std::vector<named_value> row_of(const seen&) const override;
};

}  // namespace mgsync::timelines
