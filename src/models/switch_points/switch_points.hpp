// Which of two configurations wins at which size (paper 000, sections VII-A and VII-B, tables III and IV):
// few workers without a barrier, or more workers that pay for one. By Little's law a configuration moves C =
// throughput x latency bytes at a time; up to C it takes its latency, above it is bound by its throughput.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace mgsync::model {

// Workers that read their data once. Any unit of time may be used throughout; the paper's is a cycle.
struct configuration {
  std::string name;           // "1 warp"
  double bytes_per_time = 0;  // throughput
  double latency = 0;         // of one pass over C bytes
};

// C of the paper: how many bytes are in flight at once.
double concurrency_bytes(const configuration&);

// The time for `bytes`, with a barrier that takes `sync` before the result is there (0: no barrier).
double time_of(const configuration&, double bytes, double sync = 0);

// The sizes in bytes where time_of(basic) equals time_of(more, sync). Each formula holds in a range of sizes;
// a value outside its range is no switch point.
struct switch_points {
  std::optional<double> middle;  // C_basic < N <= C_more: Thr_basic (Lat_more + Lat_sync)
  std::optional<double> large;   // N > C_more: Lat_sync Thr_basic Thr_more / (Thr_more - Thr_basic)
  double middle_formula = 0;  // the formulas' values wherever they lie, as the paper's table IV prints them
  double large_formula = 0;   // infinite where more workers have no more throughput
  // The smallest size from which on `more` is never slower; nothing where basic wins at every size.
  std::optional<double> for_good;
};

// Throws std::invalid_argument unless throughputs and latencies are positive and sync is not negative.
switch_points where_they_meet(const configuration& basic, const configuration& more, double sync);

// A switch point as it was measured: two curves of time over the same rising sizes in bytes.
struct crossing {
  std::optional<double> first;     // where `more` is faster for the first time
  std::optional<double> for_good;  // from where on it stays faster
};
// Between two sizes the curves are straight lines of log time over log size. Throws std::invalid_argument
// unless the three have one length, at least two, with rising sizes and positive times.
crossing crossing_of(const std::vector<double>& bytes, const std::vector<double>& basic,
                     const std::vector<double>& more);

}  // namespace mgsync::model
