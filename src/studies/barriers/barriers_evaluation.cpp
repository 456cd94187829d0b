#include "src/studies/barriers/barriers_evaluation.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <set>
#include <stdexcept>
#include <string_view>
#include <tuple>

#include <fmt/format.h>

#include "src/results/frame/conditions.hpp"
#include "src/results/frame/frame.hpp"

namespace mgsync::barriers {

std::optional<variance_shares> shares_of_variance(const std::vector<std::vector<double>>& values) {
  const std::size_t rows = values.size(), columns = rows == 0 ? 0 : values.front().size();
  if (rows < 2 || columns < 2)
    throw std::invalid_argument("shares of variance need two rows and two columns");
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
  for (std::size_t r = 0; r < rows; ++r)
    by_rows += static_cast<double>(columns) * (of_row[r] - all) * (of_row[r] - all);
  for (std::size_t c = 0; c < columns; ++c)
    by_columns += static_cast<double>(rows) * (of_column[c] - all) * (of_column[c] - all);
  for (const auto& row : values)
    for (const double value : row) total += (std::log(value) - all) * (std::log(value) - all);
  if (total <= 0) return std::nullopt;
  return variance_shares{by_rows / total, by_columns / total,
                         std::max(0.0, 1 - (by_rows + by_columns) / total)};
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

shape_place place_of_shape(const point& p) {
  const auto in_all = p.number(axes::blocks);
  return {!in_all.has_value(), in_all ? *in_all : p.number(axes::blocks_per_sm).value_or(0),
          p.number(axes::threads_per_block).value_or(0)};
}

std::string word_for_names(std::string words) {
  for (char& c : words)
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '.') c = '-';
  return words;
}

namespace {

shape_place place_of(const result& r) { return place_of_shape(r.point); }

// The rows that are full to the last column.
extent widest_rectangle(const heat_map& map) {
  extent all{0, map.columns.size()};
  while (all.rows < map.values.size() &&
         std::ranges::all_of(map.values[all.rows], [](const auto& cell) { return cell.has_value(); }))
    ++all.rows;
  return all;
}

// "map-<what>-4", or "map-<what>-4-late-20".
std::string figure_name(std::string_view of, std::string_view what, std::string_view size,
                        const std::string& under) {
  return word_for_names(fmt::format("{}-{}-{}{}", of, what, size, under.empty() ? "" : "-" + under));
}
std::string and_under(const std::string& under) { return under.empty() ? "" : ", " + under; }

std::optional<heat_map> map_of(const std::string& subject, const frame<result>& results) {
  const auto blocks_of = number(axes::blocks_per_sm), threads_of = number(axes::threads_per_block);
  const auto cells = pivot(results, blocks_of, threads_of);
  const auto columns = one_by(results, threads_of);
  if (cells.size() < 2 || columns.size() < 2) return std::nullopt;
  const auto& any = results.front()->point;
  const auto under = circumstances_of(any);
  heat_map map{.heading = {figure_name("map", subject, fmt::format("{}", any.members), under),
                           fmt::format("{} on {}{}", subject, count_of_members(any), and_under(under)),
                           "Latency of one round over the shapes; a hole did not fit or was not measured."},
               .row_label = "blocks per SM",
               .column_label = "threads per block",
               .unit = "us"};
  for (const auto& [threads, r] : columns) map.columns.push_back(fmt::format("{:.0f}", threads));
  for (const auto& [blocks, row] : cells) {
    std::vector<const result*> line;
    auto& holes = map.holes.emplace_back();
    for (const auto& [threads, r] : columns) {
      const auto* here = at(row, threads);
      line.push_back(here != nullptr && can_be_drawn(*here) ? here : nullptr);
      holes.push_back(here == nullptr || line.back() != nullptr ? "" : why_not(*here));
    }
    map.add(fmt::format("{:.0f}", blocks), line);
  }
  // With less than half of the cells measured this is no map; add_shapes() shows them.
  const auto known = where(results, [](const result& r) { return r.has_metrics() || !r.reason.empty(); });
  return first(results, can_be_drawn) != nullptr && 2 * known.size() >= cells.size() * columns.size()
             ? std::optional(std::move(map))
             : std::nullopt;
}

void add_maps(std::span<const result> all, evaluation& e) {
  table drives{
      {"what-drives", "What drives the latency",
       "How much of the differences between shapes (the variance of log latency) the blocks explain, the "
       "threads, and only both together: over the largest rectangle of shapes without a hole, and over the "
       "one "
       "with all threads per block. Which of the two matters depends on how far each goes."},
      {"barrier", "members | >", "rectangle", "blocks per SM | .0f %", "threads per block | .0f %",
       "both together | .0f %"}};
  const auto has_shape = [](const result& r) {
    return r.point.number(axes::blocks_per_sm) && r.point.number(axes::threads_per_block);
  };
  const auto on_gpus = where(all, is_of(default_study), is_idle, has_shape,
                             [](const result& r) { return r.point.device == topology::device::gpu; });
  // Results of one group differ in their shape only.
  const auto group_of = [](const result& r) {
    return std::tuple(subject_of(r.point), r.point.members, circumstances_of(r.point));
  };
  for (const auto& [of, results] : by(on_gpus, group_of)) {
    const auto& subject = std::get<0>(of);
    auto map = map_of(subject, results);
    if (!map) continue;
    const auto full = full_rectangle(*map), wide = widest_rectangle(*map);
    for (const auto& some : wide.rows == full.rows ? std::vector{full} : std::vector{full, wide}) {
      if (some.rows < 2 || some.columns < 2) continue;
      std::vector<std::vector<double>> values(some.rows);
      for (std::size_t r = 0; r < some.rows; ++r)
        for (std::size_t c = 0; c < some.columns; ++c) values[r].push_back(*map->values[r][c]);
      if (const auto shares = shares_of_variance(values))
        drives.add({subject, count_of_members(results.front()->point),
                    fmt::format("1..{} x {}..{}", map->rows[some.rows - 1], map->columns.front(),
                                map->columns[some.columns - 1]),
                    shares->rows, shares->columns, shares->rest});
    }
    e.figures.push_back(std::move(*map));
  }
  e.add(std::move(drives));
}

// " 3 of 12 values are of one batch, without an interval."; empty where none is.
std::string single_batches(const frame<result>& some) {
  const auto single =
      std::ranges::count_if(some, [](const auto* r) { return first_metric(*r).of_one_batch(); });
  return single == 0 ? ""
                     : fmt::format(" {} of {} values {} of one batch, without an interval.", single,
                                   some.size(), single == 1 ? "is" : "are");
}

// Adds every barrier over the shapes, a figure for each group; sorted by the latency at the last shape.
void add_shapes(std::span<const result> all, evaluation& e) {
  const auto group_of = [](const result& r) {
    return std::tuple(r.point.device, circumstances_of(r.point), r.point.members);
  };
  for (const auto& [group, some] : by(where(all, is_of(default_study), is_idle, can_be_drawn), group_of)) {
    const auto& [device, under, members] = group;
    const auto columns = one_by(some, place_of);
    if (columns.size() < 2) continue;
    const auto subjects = pivot(some, marked_subject_of, place_of);
    heat_map map{.heading = {figure_name("shapes", to_string(device), fmt::format("{}", members), under),
                             fmt::format("Every barrier over the shapes: {}{}",
                                         count_of_members(some.front()->point), and_under(under)),
                             "Medians in us, from dark, the least, to yellow on a logarithmic scale; -: not "
                             "measured. The best at the last shape first (000, figures 5, 7 and 8)." +
                                 single_batches(some) + words_on_registers(some)},
                 .row_label = "barrier",
                 .column_label = device == topology::device::gpu ? "blocks per SM x threads per block"
                                                                 : "threads per member",
                 .unit = "us"};
    for (const auto& [place, r] : columns) map.columns.push_back(format_shape(r->point));
    std::vector<std::pair<double, std::string>> order;
    for (const auto& [name, by_shape] : subjects) {
      const auto* last = at(by_shape, columns.rbegin()->first);
      order.emplace_back(last == nullptr ? 1e300 : median_of(*last), name);
    }
    std::sort(order.begin(), order.end());
    for (const auto& [last, name] : order) {
      std::vector<const result*> line;
      for (const auto& [place, r] : columns) line.push_back(at(subjects.at(name), place));
      map.add(name, line);
    }
    e.figures.push_back(std::move(map));
  }
}

curve curve_of(const std::string& name, const frame<result>& results) {
  curve one{.name = name};
  for (const auto* r : results) {
    const auto& m = first_metric(*r);
    one.points.push_back({static_cast<double>(r->point.members), m.median, m.ci95_low, m.ci95_high, m.raw,
                          fmt::format("{} samples", m.samples), short_key(r->point)});
  }
  std::ranges::sort(one.points, {}, &chart_point::x);
  return one;
}

// The best at the largest group first; of these the best of each backend and the vendor's, since there may be
// more curves than colours.
void put_in_order(std::vector<curve>& curves, const frame<result>& results) {
  std::ranges::sort(curves, [](const curve& a, const curve& b) {
    const auto &last_a = a.points.back(), &last_b = b.points.back();
    return last_a.x != last_b.x ? last_a.x > last_b.x : last_a.y < last_b.y;
  });
  const auto vendors = one_by(where(results, is_vendors), marked_subject_of);
  std::set<std::string> shown;
  std::stable_partition(curves.begin(), curves.end(), [&](const curve& one) {
    return vendors.contains(one.name) || shown.insert(one.name.substr(0, one.name.find(':'))).second;
  });
}

// Adds the barriers over the members, a figure for each device, circumstances and shape.
void add_curves(std::span<const result> all, evaluation& e) {
  const auto points = where(all, is_of(default_study), is_idle, can_be_drawn);
  const auto picture_of = [](const result& r) {
    return std::tuple(std::string(to_string(r.point.device)), circumstances_of(r.point),
                      place_of_shape(r.point), format_shape(r.point));
  };
  for (const auto& [group, some] : by(points, picture_of)) {
    const auto& [device, under, place, shape] = group;
    const bool gpus = device == "gpu";
    chart c{
        {figure_name("over-members", device, shape, under),
         fmt::format("Latency over {}{}{}", gpus ? "GPUs" : "host members",
                     shape.empty() || (!gpus && shape == "1") ? "" : ", shape " + shape, and_under(under)),
         "Medians, their 95 % intervals as bands, and the medians of the batches as small points (000, "
         "figure 9)."},
        {gpus ? "GPUs" : "members"},
        {"latency (us)", true},
        {}};
    for (const auto& [name, results] : by(some, marked_subject_of))
      if (results.size() > 1) c.curves.push_back(curve_of(name, results));
    if (c.curves.empty()) continue;
    c.heading.caption += words_on_registers(some);
    put_in_order(c.curves, points);
    c.x.logarithmic = std::ranges::any_of(c.curves, [](const curve& one) { return one.points.back().x > 8; });
    e.figures.push_back(std::move(c));
  }
}

}  // namespace

evaluation evaluate(std::span<const result> all) {
  evaluation e;
  add_fastest(all, e);
  add_ranked(all, e);
  add_ladder(all, e);
  add_curves(all, e);
  add_shapes(all, e);
  add_maps(all, e);
  add_late(all, e);
  add_unordered(all, e);
  add_carried(all, e);
  add_loads(all, e);
  add_forms_of_others(all, e);
  return e;
}

}  // namespace mgsync::barriers
