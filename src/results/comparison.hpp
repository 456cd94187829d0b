// Two measurements of the same points, set against each other: what got slower or faster, and what was lost.
// The unit of replication is the process where each side has enough of them, else the batch; a process as a whole is
// shifted by 1 to 4 % in a way that its own batches do not show (docs/results/host-barriers.md), so that with batches
// the interval is widened by a margin.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "src/results/json_document.hpp"

namespace mgsync {

// The largest shift from process to process that was seen.
inline constexpr double default_noise = 0.04;

enum class change {
  slower,     // the whole interval lies above 1
  faster,     // the whole interval lies below 1
  not_shown,  // the interval holds 1
  too_few,    // too few batches for an interval of 95 %, or latencies that are not positive
};
std::string_view to_string(change);

struct compared_point {
  mgsync::point point;  // as BASE has it
  double base_us = 0;   // medians
  double new_us = 0;
  double ratio = 1;     // NEW over BASE: the median over all quotients of two units
  double low = 1;       // its 95 % interval, with the margin
  double high = 1;
  bool by_process = false;  // the units are processes (files), not batches
  double margin = 0;        // share by which the interval was widened on either side
  change what = change::not_shown;
  std::vector<std::string> notes;  // "ran hub, was inbox" where auto chose otherwise, "unchecked in NEW"
};

// Measured in BASE; NEW tried and has no latency.
struct lost_point {
  mgsync::point point;
  std::string reason;
  bool failed = false;  // the barrier was violated or stuck; else waived
};

struct comparison {
  std::vector<compared_point> points;  // those of both sides, in the order of BASE
  std::vector<lost_point> lost;
  std::vector<mgsync::point> only_base;  // measured there, and the other side never tried
  std::vector<mgsync::point> only_new;   // measured in NEW, not in BASE
};

// Each document is one process. Points are paired by all that describes them but the numbers of their members, unless
// the placement is a list of these; nodes that are measured each by itself, on other hosts, by their places in the job.
// The margin is `noise`; where it is absent, default_noise between batches and 0
// between processes, which show their shifts themselves.
comparison compare(std::span<const json_document> base, std::span<const json_document> now,
                   std::optional<double> noise = {});

// Why a gate that lets nothing be slower by more than `limit` is shut, a sentence each; empty: it is open. It is shut by
// a point whose ratio is above 1 + limit and shown to be slower, by one whose medians are as far apart with too few
// batches to tell (the slowest get the fewest), and by one that failed or was waived in NEW.
std::vector<std::string> gate_violations(const comparison&, double limit);

// How many points may be slower by more than `limit` for all that is known, without a difference shown.
std::size_t undecided(const comparison&, double limit);

}  // namespace mgsync
