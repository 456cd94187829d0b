// Samples drawn from a known truth: what the statistics must find again.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "src/results/values/result.hpp"
#include "src/results/values/statistics.hpp"

namespace mgsync::test {

struct truth {
  double latency_us = 2;
  double jitter = 0.02;        // of a sample, relative
  double spike_share = 0.01;   // of the samples, up to three times as long
  double batch_shift = 0.025;  // of a batch as a whole, relative: the median over batches is the truth
};

class made_up_series {
 public:
  made_up_series(const truth& real, std::uint64_t seed) : real_(real), random_(seed) {}

  // `count` samples of one batch. All that varies is put into the long run.
  void add_batch(std::vector<sample>& series, int count) {
    const double shift = 1 + real_.batch_shift * gauss_(random_);
    for (int i = 0; i < count; ++i) {
      double factor = shift * (1 + real_.jitter * gauss_(random_));
      if (uniform_(random_) < real_.spike_share) factor *= 1 + 2 * uniform_(random_);
      constexpr double cost_us = 5;
      constexpr std::uint32_t rounds_short = 10, rounds_long = 1010;
      const double each = real_.latency_us * factor;
      series.push_back(difference_sample(batches_, cost_us + rounds_short * each,
                                         cost_us + rounds_long * each, rounds_short, rounds_long));
    }
    ++batches_;
  }

 private:
  truth real_;
  std::mt19937_64 random_;
  std::normal_distribution<double> gauss_;
  std::uniform_real_distribution<double> uniform_;
  std::uint32_t batches_ = 0;
};

}  // namespace mgsync::test
