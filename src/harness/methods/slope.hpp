// The latency of one link of a chain of dependent operations, by the processor's own cycle counter: the slope
// of cycles over chain lengths (docs/method.md, "Latency inside one SM"; H. Wong et al., ISPASS 2010; papers
// 000 and 001). What is not the chain (reading the clock, loading arguments) costs the same at every length
// and cancels.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "src/harness/methods/method.hpp"
#include "src/results/frame/lines.hpp"

namespace mgsync {

// Integer samples of one chain length: how often each count of cycles was seen.
using cycle_histogram = std::map<std::uint64_t, std::uint64_t>;
cycle_histogram histogram_of(std::span<const double> cycles);
// The count that was seen most often, the smaller one of two. std::invalid_argument for an empty histogram.
std::uint64_t mode_of(const cycle_histogram&);
// The one in the middle, the smaller one of two. std::invalid_argument for an empty histogram.
std::uint64_t median_of(const cycle_histogram&);

// The name under which a sample holds the mode of this chain length: "mode_64".
std::string mode_column(std::uint64_t length);

struct slope_settings {
  std::vector<std::uint64_t> lengths = {64, 128, 256, 512};  // links; at least two that differ
  std::uint32_t batches = 6;                                 // launches of each length
  bool medians =
      false;  // use medians in place of modes, where no two samples are equal, as with loads from L2 and DRAM
  std::string place{};  // the values of this name say where (on which SM) each sample was taken; each place
                        // gets its own slope
};

// Each batch runs every length once; a run yields "cycles", one or more integer samples. Metrics, in cycles:
// "latency" (the slope through the batch's modes), "per_link" (the smallest cycles over links, as Wong and
// the papers give it), "residual" (of the fit). A sample holds each length's mode too, as "mode_64". With
// places "latency" and "residual" are the medians over them, and "lowest" and "highest" the slopes of the
// fastest and of the slowest place.
class slope final : public method {
 public:
  explicit slope(slope_settings);

  std::optional<step> next(std::chrono::nanoseconds spent) override;
  void take(const step&, std::span<const seen>) override;
  std::vector<metric_name> columns() const override;
  stop_reason stopped() const override { return done_ ? stop_reason::precision : stop_reason::none; }
  void resume(std::span<const sample> before, std::uint32_t next_batch) override;
  std::string description() const override { return "cycle counter, slope over chain lengths"; }

  // Samples of one length over all batches.
  const cycle_histogram& histogram(std::uint64_t length) const { return histograms_.at(length); }

 private:
  slope_settings settings_;
  std::uint32_t batch_ = 0;
  bool done_ = false;
  std::map<std::uint64_t, cycle_histogram> histograms_;
};

}  // namespace mgsync
