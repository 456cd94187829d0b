// Compares two measurements of the same points: what got slower or faster, and what has no number any more.
// The unit of replication is the process where each side has enough of them, else the batch. Whole processes
// differ by 1 to 4 %, which their own batches do not show (docs/results/host-barriers.md), so the interval
// over batches is widened by a margin.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "src/results/files/json_document.hpp"
#include "src/results/frame/frame.hpp"
#include "src/results/frame/not_measured.hpp"

namespace mgsync {

// The margin over batches.
inline constexpr double default_noise = margin_between_processes;
inline constexpr double most_between_runs_of_the_host = 0.6;  // what it drives; 10 % is usual

enum class change {
  worse,  // the whole interval lies on the wrong side of 1: above where less is better, below where more is
  improved,   // the whole interval lies on the other side
  not_shown,  // the interval contains 1
  too_few,    // too few batches for an interval of 95 %, or batches among them that are not positive
  no_ratio,   // a side's median is 0 or below, so there is no meaningful ratio
};
// "slower" and "faster" of a time, "worse" and "better" of anything else.
std::string_view word_of(change, const metric_name&);

struct compared_point {
  mgsync::point point;   // as BASE has it
  metric_name measured;  // what is compared; a point has a row for each of its metrics
  double base_median = 0;
  double new_median = 0;
  double ratio = 1;                             // NEW over BASE: the median over all quotients of two units
  std::vector<double> base_values, new_values;  // these units' medians
  double low = 1;                               // its 95 % interval, with the margin
  double high = 1;
  bool by_process = false;  // the units are processes (files), not batches
  double margin = 0;        // the share by which each end of the interval was moved outwards
  double apart = 0;  // the share that runs of one build may differ by, which no batches show: of one process
                     // that the host drives
  change what = change::not_shown;
  bool decides = true;       // this is the point's first metric, by which subjects are ranked
  std::string void_because;  // why NEW's value is void although BASE's passed its check; empty: it is not
  std::vector<doubt> base_doubts, new_doubts;  // of all files of a side
  std::vector<std::string>
      notes;  // "ran hub, was inbox" where auto chose another algorithm, "unchecked in NEW"

  bool has_ratio() const { return what != change::too_few && what != change::no_ratio; }
  double times_worse() const { return measured.better == better::less ? ratio : 1 / ratio; }
  double at_worst() const { return measured.better == better::less ? high : 1 / low; }
  // Shown to be worse by more than the limit, and by no more than runs of one build differ by.
  bool is_worse_by_chance(double limit) const {
    return what == change::worse && times_worse() > 1 + limit && times_worse() <= 1 + apart;
  }
};

// Measured in BASE; NEW tried and has no number.
struct lost_point {
  mgsync::point point;
  std::string reason;
  result_status status = result_status::waived;  // the status in NEW
};

struct comparison {
  std::vector<compared_point> points;  // points that both sides measured, in the order of BASE
  std::vector<lost_point> lost;
  std::vector<mgsync::point> only_base;  // measured there, and the other side never tried
  std::vector<mgsync::point> only_new;   // measured in NEW, not in BASE
};

// Each document is one process. Points are paired by everything that describes them except their members'
// ids, which count only where the placement is a list. Nodes that were each measured alone are paired by name
// or, on other hosts, by their position in the job. Every metric that BASE has is compared in its own
// direction. The margin is `noise`; where it is absent, default_noise between batches and 0 between
// processes, which show their shifts themselves.
comparison compare(std::span<const json_document> base, std::span<const json_document> now,
                   std::optional<double> noise = {});

// Whether they have samples of one run of mgsync, so that they are no two measurements. Another file's name,
// a part of the points, or other names of the machine make it no other run, nor does merging where at least
// two points, and half of those of the smaller file, keep their samples.
bool are_of_one_run(const json_document&, const json_document&);

struct gate {
  double limit = 0;            // what a point may be worse by, as a share
  bool allow_missing = false;  // points that BASE measured and NEW never tried do not shut it
};

// Why a gate is shut, a sentence each; empty: it is open. A point shuts it whose ratio is worse than 1 +
// limit (and by more than runs of one build differ by) and shown to be worse; whose medians are as far apart,
// with too few batches for an interval (slow subjects get the fewest); which has no value in NEW, or one of
// another unit, or is missing there; which passed its check in BASE and not in NEW, however fast it is; or
// whose first metric is 0 or below on one side, which cannot be a time.
std::vector<std::string> gate_violations(const comparison&, const gate&);

// A sentence for each side with doubtful values: "NEW: 3 of 5 points mean little: ...".
std::vector<std::string> doubtful_sides(const comparison&);

// The number of points that are worse by more than the limit and by no more than runs of one build differ by.
std::size_t worse_by_chance(const comparison&, double limit);
// "2 points driven by the host are worse by less than runs of one build may differ by (60 %)".
std::string words_by_chance(std::size_t count);

// The number of points whose interval allows a change for the worse beyond the limit without showing one.
std::size_t undecided(const comparison&, double limit);

// A table for each metric. Columns: barrier members ranks shape, an axis each that varies, BASE_us NEW_us
// NEW/BASE ci95 result note. Slower points first, the most slowed at the top, then faster ones, then the rest
// in the order of BASE; grouped counts those of which no difference was shown, and lists only the others.
// Below the table: the points of one side only, a summary, and what the numbers mean.
std::string format_comparison(const comparison&, detail = detail::every);

// Of the first metric of each point that has a ratio, NEW over BASE as results, for tables over their axes;
// the quantity "medians" is the quotient of the two medians.
std::vector<result> ratios_of(const comparison&);

// In Markdown, a row for each subject: the mean (geometric) of NEW/BASE over its points, their range, and
// which points are shown to be worse by more than `limit`, a share, by the test of Mann and Whitney
// (one-sided) with Holm's correction for as many comparisons as there are points; the least such p.
std::string table_by_subject(const comparison&, double limit);

}  // namespace mgsync
