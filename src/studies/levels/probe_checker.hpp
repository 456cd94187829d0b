// The verdict on a probe, whose machine code was checked when the subject was made; also keeps the raw
// samples.
#pragma once

#include <map>
#include <string>

#include "src/harness/code_checker.hpp"
#include "src/harness/methods/slope.hpp"
#include "src/studies/levels/level_points.hpp"

namespace mgsync::levels {

// The raw samples of a result by chain length; empty where it has none. In the result they are three columns
// with a row for each number of cycles that was seen: "links", "cycles" and how many "times".
using by_length = std::map<std::uint64_t, cycle_histogram>;
by_length histograms_of(const result&);
void set_histograms(result&, const by_length&);

class probe_checker final : public code_checker {
 public:
  explicit probe_checker(const level_probe& what) : what_(what) {}

  void take(const step&, std::span<const seen>) override;
  verdict judge() const override;
  // Adds the environment's "link" (a word of link_of), and the samples that histograms_of() reads (not for L2
  // and DRAM, where hardly two samples are equal); for clusters also "sms", the number of SMs that the blocks
  // ran on, with the number of launches in brackets, and "first_sm", the lowest of these SMs.
  void add_to(result&) const override;

 private:
  level_probe what_;
  by_length histograms_;
  cycle_histogram sms_of_launches_, first_sms_;  // over launches: how many SMs were used; the lowest of them
};

}  // namespace mgsync::levels
