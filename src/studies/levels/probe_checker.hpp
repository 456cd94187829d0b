// The verdict on a probe: its machine code was read when the subject was made. And what it saw, kept as it
// came.
#pragma once

#include <map>
#include <string>

#include "src/harness/checker.hpp"
#include "src/harness/methods/slope.hpp"
#include "src/studies/levels/level_points.hpp"

namespace mgsync::levels {

// The raw samples of a result by chain length; empty where it has none. They stand in three columns, a row
// for each count that was seen: "links", "cycles" and how many "times".
using by_length = std::map<std::uint64_t, cycle_histogram>;
by_length histograms_of(const result&);
void set_histograms(result&, const by_length&);

class probe_checker final : public checker {
 public:
  explicit probe_checker(const level_probe& what) : what_(what) {}

  std::optional<step> next() override { return std::nullopt; }
  void take(const step&, std::span<const seen>) override;
  verdict judge() const override;
  // The environment's "link" (a word of link_of), and what histograms_of() reads (not of L2 and DRAM, where
  // no two are alike); of clusters "sms", on how many SMs the blocks were, and in brackets in how many
  // launches, and "first_sm", the lowest of them.
  void add_to(result&) const override;

 private:
  level_probe what_;
  by_length histograms_;
  cycle_histogram sms_of_launches_, first_sms_;  // how many launches were on so many SMs; from which SM on
};

}  // namespace mgsync::levels
