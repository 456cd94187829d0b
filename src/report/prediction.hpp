// What a barrier would take at members and a shape that it was not measured at, or was: from results. Pure.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "src/results/result.hpp"
#include "src/results/subject_facts.hpp"

namespace mgsync::report {

// A step: every member works for `work_us`, all synchronize, and each gives `bytes` to others.
struct step {
  topology::device device = topology::device::gpu;
  int members = 2;
  double work_us = 0;
  double bytes = 0;
  double gbps = 0;                      // what moves them; 0: unknown
  std::optional<member_shape> shape{};  // none: the smallest measured
};

// The latency of one passage; where it was not measured at this group and shape, from its neighbours: along
// the members at the same shape and along the shapes at the same members, in logarithms, as if the two were
// independent. Its interval is then what every known point of the barrier allows there, when latencies grow
// no faster, and fall no more, than those of the committed results: narrow between two that are alike, wide
// outside.
struct prediction {
  std::string barrier;
  double us = 0, low = 0,
         high = 0;  // measured: the 95 % interval; else what all known points allow, at least 3 %
  bool measured = false;
  bool one_batch = false;       // measured, but once: half and double stand for an interval
  bool beyond_members = false;  // more members than were measured of it, or fewer
  bool beyond_shape = false;    // more blocks or threads than were measured of it, or fewer
  std::string source{};         // short_key of the point, where it was measured
  int ranks = 1;                // that own the members
  subject_facts facts{};        // declared of it, for these members and this shape
  bool beyond() const { return beyond_members || beyond_shape; }
  bool is_callable() const { return !facts.call.empty(); }
  // Measured; in one batch only, or from what was measured around it; a guess: what is less sure never stands
  // before what is surer.
  int doubt() const { return measured && !one_batch ? 0 : beyond() ? 2 : 1; }
};

// A barrier that is nothing for these members and this shape.
struct refusal {
  std::string why;
  bool by_host = false;
};

// Of every barrier that the results know enough of and that joins such members and such a shape: first those
// that a program can call, the surest of them first, and of these the fastest; the others behind them. Only
// what passed its check, idle. `refused`: those that do not join them, or could not there.
std::vector<prediction> predict(std::span<const result>, const step&, facts_of_point,
                                std::vector<refusal>* refused = nullptr);

// Whether a prediction may come from it. Beside how much work a point was measured counts for what the host
// drives: launches hide behind work.
bool is_usable(const result&, const step&, facts_of_point);
// Of all usable results.
std::optional<member_shape> smallest_shape(std::span<const result>, const step&, facts_of_point);

}  // namespace mgsync::report
