// Predicts from results the latency of a barrier at given members and a given shape, whether measured there
// or not. Pure.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "src/results/values/doubt.hpp"
#include "src/results/values/result.hpp"
#include "src/results/values/subject_facts.hpp"

namespace mgsync::report {

// A step: every member works for `work_us`, all synchronize, and each gives `bytes` to others.
struct step {
  topology::device device = topology::device::gpu;
  int members = 2;
  double work_us = 0;
  double bytes = 0;
  double gbps = 0;                      // the bandwidth at which they are moved, in GB/s; 0: unknown
  std::optional<member_shape> shape{};  // nothing: the smallest measured shape
};

// The latency of one passage; where it was not measured at this group and shape, from its neighbours:
// interpolated along the members at the same shape and along the shapes at the same members, in logarithms,
// as if the two were independent. Its interval then contains what all known points of the barrier allow,
// assuming that latencies grow and fall no faster than in the committed results: it is narrow between similar
// neighbours and wide outside of them.
struct prediction {
  std::string barrier;
  double us = 0, low = 0,
         high = 0;  // measured: the 95 % interval; else what all known points allow, at least 3 %
  bool measured = false;
  bool one_batch = false;  // measured in one batch only: half and double the value are taken as the interval
  bool beyond_members = false;  // outside of the measured range of members
  bool beyond_shape = false;    // outside of the measured range of blocks or threads
  std::string source{};         // short_key of the point, where it was measured
  int ranks = 1;                // that own the members
  bool inside_nodes = false;    // measured over nodes: it orders memory inside each of them
  std::vector<doubt> doubts{};  // of the measured point, or of the nearest
  double beside_us = 0;         // the work beside which it was measured there
  subject_facts facts{};        // its facts for these members and this shape
  bool beyond() const { return beyond_members || beyond_shape; }
  bool is_callable() const { return !facts.call.empty(); }
  // 0: measured; 1: measured in one batch only, or interpolated; 2: extrapolated. Predictions are sorted by
  // this first.
  int guess_level() const { return measured && !one_batch ? 0 : beyond() ? 2 : 1; }
};

// A barrier that cannot be used with these members and this shape.
struct refusal {
  std::string why;
  bool by_host = false;
};

// Predictions for every barrier that such members and such a shape can use, as far as the results suffice:
// first those that a program can call, sorted by guess_level() and then by latency, then the others. Uses
// only results without load that passed their check. `refused` gets the barriers that cannot be used there.
std::vector<prediction> predict(std::span<const result>, const step&, facts_of_point,
                                std::vector<refusal>* refused = nullptr);

// Whether it is of a barrier of the step's device that passed its check beside no load, whatever its work.
bool is_idle_barrier(const result&, const step&);
// Whether a prediction may use this result, which is of such a barrier. For barriers that the host drives it
// must have the step's work, because launches overlap with work.
bool is_usable(const result&, const step&, facts_of_point);
// The smallest shape of all usable results.
std::optional<member_shape> smallest_shape(std::span<const result>, const step&, facts_of_point);

}  // namespace mgsync::report
