// Measurement of paper 002's region: the cycles of its passes, one pass as a recording, and the method, in
// which a batch is a launch of every kernel. Pure.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "src/harness/code_checker.hpp"
#include "src/probes/probe_arguments.hpp"
#include "src/results/frame/recording.hpp"
#include "src/studies/timeline/instruction_overlap.hpp"
#include "src/studies/timeline/single_passes.hpp"

namespace mgsync::timelines {

// The region's block has 128 threads, four warps as in the paper. Its shared memory holds a word per thread,
// and what loads_16 reads.
inline constexpr unsigned region_threads = 128, region_shared_bytes = 16 * 512 + 4 * region_threads;

// A warp's two reads of its SM's counter around a pass.
using warp_pass = probes::stamp;

// The median in cycles over all warps and passes but the first, which meets cold caches. `seen`:
// [passes][warps]; std::invalid_argument without a second pass.
double typical_cycles(std::span<const warp_pass> seen, unsigned warps);

// A recording of one pass of all warps of an SM with the START and STOP of every warp, as in the paper's
// table.
recording recording_of_pass(std::span<const warp_pass> one_pass, std::uint32_t sm);

// What a run carries besides numbers: the last pass of the corrected region, and that of its twin as the
// compiler leaves it.
struct region_recordings {
  recording corrected{}, as_compiled{};
};

// What follows from a run of the subject, whose values are cycles by the kernels' names: about the region,
// loads side by side and a pair.
struct region_figures {
  region_cycles cycles;
  region_judgement judged;
  load_overlap loads;
  double pair_overlap = 0;
};
region_figures figures_of(const seen&);

// Takes eight batches of one run each. Metrics in cycles: "corrected", "sum_of_parts", "as_compiled", the
// parts, the latency of a load beside others and the interval between loads; and "overlap" of a load and a
// shuffle.
class region_method final : public single_passes {
 public:
  std::vector<metric_name> columns() const override;

 private:
  std::vector<named_value> row_of(const seen&) const override;
};

// Keeps the last pass of the last run.
class region_checker final : public code_checker {
 public:
  void take(const step&, std::span<const seen>) override;
  void add_to(result&) const override;

 private:
  region_recordings last_;
};

}  // namespace mgsync::timelines
