#include "src/studies/barriers/barriers_evaluation.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <stdexcept>
#include <tuple>

#include <fmt/format.h>

namespace mgsync::barriers {

std::optional<variance_shares> shares_of_variance(const std::vector<std::vector<double>>& values) {
  const std::size_t rows = values.size(), columns = rows == 0 ? 0 : values.front().size();
  if (rows < 2 || columns < 2) throw std::invalid_argument("shares of variance need two rows and two columns");
  std::vector<double> of_row(rows), of_column(columns);
  double all = 0;
  const auto cells = static_cast<double>(rows * columns);
  for (std::size_t r = 0; r < rows; ++r) {
    if (values[r].size() != columns) throw std::invalid_argument("shares of variance need a full rectangle");
    for (std::size_t c = 0; c < columns; ++c) {
      if (!(values[r][c] > 0)) throw std::invalid_argument("shares of variance need values above 0");
      const double log = std::log(values[r][c]);
      of_row[r] += log / static_cast<double>(columns);
      of_column[c] += log / static_cast<double>(rows);
      all += log / cells;
    }
  }
  double total = 0, by_rows = 0, by_columns = 0;
  for (std::size_t r = 0; r < rows; ++r) by_rows += static_cast<double>(columns) * (of_row[r] - all) * (of_row[r] - all);
  for (std::size_t c = 0; c < columns; ++c) by_columns += static_cast<double>(rows) * (of_column[c] - all) * (of_column[c] - all);
  for (const auto& row : values)
    for (const double value : row) total += (std::log(value) - all) * (std::log(value) - all);
  if (total <= 0) return std::nullopt;
  return variance_shares{by_rows / total, by_columns / total, std::max(0.0, 1 - (by_rows + by_columns) / total)};
}

extent full_rectangle(const heat_map& map) {
  extent best;
  std::size_t columns = map.columns.size();
  for (std::size_t r = 0; r < map.values.size(); ++r) {
    std::size_t wide = 0;
    while (wide < columns && map.values[r][wide]) ++wide;
    columns = wide;
    if ((r + 1) * columns > best.rows * best.columns) best = {r + 1, columns};
  }
  return best;
}

namespace {

bool is_idle(const result& r) { return r.point.word("load", "idle") == "idle"; }

std::string members_of(const point& p) { return count_of_members(p); }

// Points that differ in their shape only, by subject and group.
std::map<std::pair<std::string, int>, std::vector<const result*>> by_subject(std::span<const result> all) {
  std::map<std::pair<std::string, int>, std::vector<const result*>> groups;
  for (const auto& r : all)
    if (r.point.study == "barriers" && r.point.device == topology::device::gpu && is_idle(r) && !r.point.find("work") &&
        r.point.number("blocks_per_sm") && r.point.number("threads_per_block"))
      groups[{subject_of(r.point), r.point.members}].push_back(&r);
  return groups;
}

std::optional<heat_map> map_of(const std::string& subject, const std::vector<const result*>& results) {
  std::set<double> blocks, threads;
  for (const auto* r : results) blocks.insert(*r->point.number("blocks_per_sm")), threads.insert(*r->point.number("threads_per_block"));
  if (blocks.size() < 2 || threads.size() < 2) return std::nullopt;
  const auto members = members_of(results.front()->point);
  heat_map map{{fmt::format("map-{}-{}", subject, results.front()->point.members), fmt::format("{} on {}", subject, members),
                "Latency of one round over the shapes; a hole did not fit or was not measured."},
               "blocks per SM", "threads per block", {}, {}, {}, "us", {}};
  for (const double b : blocks) map.rows.push_back(fmt::format("{:.0f}", b));
  for (const double t : threads) map.columns.push_back(fmt::format("{:.0f}", t));
  map.values.assign(blocks.size(), std::vector<std::optional<double>>(threads.size()));
  map.holes.assign(blocks.size(), std::vector<std::string>(threads.size()));
  bool any = false;
  for (const auto* r : results) {
    const auto row = static_cast<std::size_t>(std::distance(blocks.begin(), blocks.find(*r->point.number("blocks_per_sm"))));
    const auto column = static_cast<std::size_t>(std::distance(threads.begin(), threads.find(*r->point.number("threads_per_block"))));
    if (r->has_metrics() && r->metrics.front().median > 0) {
      map.values[row][column] = r->metrics.front().median;
      any = true;
    } else {
      map.holes[row][column] = r->reason;
    }
  }
  std::replace(map.heading.name.begin(), map.heading.name.end(), ':', '-');
  return any ? std::optional(std::move(map)) : std::nullopt;
}

void add_maps(std::span<const result> all, evaluation& e) {
  table drives{{"what-drives", "What drives the latency", "Shares of the variance of log latency over the full rectangle that fits."},
               {"barrier", "members", "rectangle", "blocks per SM", "threads per block", "both together"}, {}, {false, true, false, true, true, true}};
  for (const auto& [of, results] : by_subject(all)) {
    auto map = map_of(of.first, results);
    if (!map) continue;
    const auto full = full_rectangle(*map);
    if (full.rows >= 2 && full.columns >= 2) {
      std::vector<std::vector<double>> values(full.rows);
      for (std::size_t r = 0; r < full.rows; ++r)
        for (std::size_t c = 0; c < full.columns; ++c) values[r].push_back(*map->values[r][c]);
      if (const auto shares = shares_of_variance(values))
        drives.rows.push_back({of.first, members_of(results.front()->point),
                               fmt::format("1..{} x {}..{}", map->rows[full.rows - 1], map->columns.front(), map->columns[full.columns - 1]),
                               fmt::format("{:.0f} %", 100 * shares->rows), fmt::format("{:.0f} %", 100 * shares->columns),
                               fmt::format("{:.0f} %", 100 * shares->rest)});
    }
    e.figures.push_back(std::move(*map));
  }
  if (!drives.rows.empty()) e.tables.push_back(std::move(drives));
}

// Everything but the members and the subject is the same along a curve, and in one picture.
using circumstances = std::tuple<std::string, std::string, std::string>;  // device, shape, placement

void add_curves(std::span<const result> all, evaluation& e) {
  std::map<circumstances, std::map<std::string, curve>> pictures;
  for (const auto& r : all) {
    if (r.point.study != "barriers" || !r.has_metrics() || !is_idle(r) || r.point.find("work") || !(r.metrics.front().median > 0)) continue;
    const auto& m = r.metrics.front();
    auto& one = pictures[{std::string(to_string(r.point.device)), format_shape(r.point), r.point.placement}][subject_of(r.point)];
    one.name = subject_of(r.point);
    one.points.push_back({static_cast<double>(r.point.members), m.median, m.ci95_low, m.ci95_high, {}, fmt::format("{} samples", m.samples)});
  }
  for (auto& [where, curves] : pictures) {
    const auto& [device, shape, placement] = where;
    chart c{{fmt::format("over-members-{}-{}", device, shape), fmt::format("Latency over {}, shape {}", device == "gpu" ? "GPUs" : "host members", shape),
             "Medians with their 95 % intervals (000, figure 9)."}, {device == "gpu" ? "GPUs" : "members"}, {"latency (us)", true}, {}};
    for (auto& [name, one] : curves) {
      std::sort(one.points.begin(), one.points.end(), [](const auto& a, const auto& b) { return a.x < b.x; });
      if (one.points.size() > 1) c.curves.push_back(std::move(one));
    }
    if (!c.curves.empty() && c.curves.size() <= 40) e.figures.push_back(std::move(c));
  }
}

void add_verdict(std::span<const result> all, evaluation& e) {
  std::map<std::tuple<std::string, int, std::string>, const result*> best;
  std::size_t violated = 0, waived = 0, measured = 0;
  for (const auto& r : all) {
    if (r.point.study != "barriers") continue;
    violated += r.status == result_status::failed;
    waived += r.status == result_status::waived;
    if (!r.has_metrics()) continue;
    ++measured;
    if (!is_idle(r) || !r.verdict.passed) continue;
    auto& one = best[{std::string(to_string(r.point.device)), r.point.members, format_shape(r.point)}];
    if (one == nullptr || r.metrics.front().median < one->metrics.front().median) one = &r;
  }
  if (measured == 0) return;
  table t{{"fastest", "The fastest barrier of each group and shape"}, {"members", "shape", "barrier", "latency, us", "ci95"}, {}, {false, false, false, true, true}};
  for (const auto& [where, r] : best) {
    const auto& m = r->metrics.front();
    t.rows.push_back({members_of(r->point), std::get<2>(where), subject_of(r->point), fmt::format("{:.4g}", m.median), fmt::format("{:.4g} - {:.4g}", m.ci95_low, m.ci95_high)});
  }
  e.sentences.push_back(fmt::format("{} barriers were measured; {} {} violated or stuck, {} could not run here.", measured, violated, violated == 1 ? "was" : "were", waived));
  e.tables.push_back(std::move(t));
}

}  // namespace

evaluation evaluate(std::span<const result> all) {
  evaluation e;
  add_verdict(all, e);
  add_maps(all, e);
  add_curves(all, e);
  return e;
}

}  // namespace mgsync::barriers
