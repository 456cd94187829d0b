// Paper 002's region as it was seen: what its passes took, and one pass as a recording. How it is measured: a batch is a
// launch of every kernel. Pure.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "src/harness/methods/method.hpp"
#include "src/harness/prover.hpp"
#include "src/results/recording.hpp"
#include "src/studies/timeline/instruction_overlap.hpp"

namespace mgsync::timelines {

// A warp's two reads of its SM's counter around a pass.
struct warp_pass {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

// The median over all warps and passes but the first, which meets cold caches. `seen`: [passes][warps];
// std::invalid_argument without a second pass.
double typical_cycles(std::span<const warp_pass> seen, unsigned warps);

// One pass of all warps of an SM as the paper's table has it: START and STOP of every warp.
recording recording_of_pass(std::span<const warp_pass> one_pass, std::uint32_t sm);

// What a run of the subject yields, in cycles under the kernels' names, as numbers: of the region, of loads and of a pair.
struct region_figures {
  region_cycles cycles;
  region_judgement judged;
  load_overlap loads;
  double pair_overlap = 0;
};
region_figures figures_of(const seen&);

// Eight batches of one run each. Metrics in cycles: "corrected", "sum_of_parts", "as_compiled", the parts, the latency of a
// load beside others and the interval between them; and "overlap" of a load and a shuffle.
class region_method final : public method {
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

// The machine code was read when the subject was made. Keeps the last pass of the last run.
class region_prover final : public prover {
 public:
  std::optional<step> next() override { return std::nullopt; }
  void take(const step&, std::span<const seen>) override;
  verdict judge() const override;
  void add_to(result&) const override;

 private:
  std::string corrected_, as_compiled_;  // recordings as JSON
};

}  // namespace mgsync::timelines
