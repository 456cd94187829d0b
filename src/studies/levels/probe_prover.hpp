// The verdict on a probe: its machine code was read when the subject was made. And what it saw, kept as it
// came.
#pragma once

#include <map>
#include <string>

#include "src/harness/methods/slope.hpp"
#include "src/harness/prover.hpp"
#include "src/studies/levels/level_points.hpp"

namespace mgsync::levels {

// The raw samples by chain length, as text for a result: "16=387*90,391*6 32=771*96" (cycles*times).
std::string text_of(const std::map<std::uint64_t, cycle_histogram>&);
// Back again; std::invalid_argument for a text that is none.
std::map<std::uint64_t, cycle_histogram> histograms_from(const std::string&);

class probe_prover final : public prover {
 public:
  explicit probe_prover(const level_probe& what) : what_(what) {}

  std::optional<step> next() override { return std::nullopt; }
  void take(const step&, std::span<const seen>) override;
  verdict judge() const override;
  // The environment's "link" (a word of link_of) and "cycles" (text_of; not of L2 and DRAM, where no two are
  // alike); of clusters "sms", on how many SMs the blocks were, and in brackets in how many launches, and
  // "first_sm", the lowest of them.
  void add_to(result&) const override;

 private:
  level_probe what_;
  std::map<std::uint64_t, cycle_histogram> histograms_;
  cycle_histogram sms_of_launches_, first_sms_;  // how many launches were on so many SMs; from which SM on
};

}  // namespace mgsync::levels
