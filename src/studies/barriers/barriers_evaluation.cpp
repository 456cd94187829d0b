#include "src/studies/barriers/barriers_evaluation.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <set>
#include <stdexcept>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/results/frame/conditions.hpp"
#include "src/results/frame/frame.hpp"
#include "src/studies/barriers/barrier_facts.hpp"

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

bool is_idle(const result& r) { return r.point.word("load", "idle") == "idle"; }

std::string members_of(const point& p) { return count_of_members(p); }

// Points with the same key differ in their shape only: subject, group and circumstances.
using same_group = std::tuple<std::string, int, std::string>;
std::map<same_group, std::vector<const result*>> by_subject(std::span<const result> all) {
  std::map<same_group, std::vector<const result*>> groups;
  for (const auto& r : all)
    if (r.point.study == default_study && r.point.device == topology::device::gpu && is_idle(r) &&
        r.point.number("blocks_per_sm") && r.point.number("threads_per_block"))
      groups[{subject_of(r.point), r.point.members, circumstances_of(r.point)}].push_back(&r);
  return groups;
}

std::optional<heat_map> map_of(const std::string& subject, const std::vector<const result*>& results) {
  std::set<double> blocks, threads;
  for (const auto* r : results)
    blocks.insert(*r->point.number("blocks_per_sm")), threads.insert(*r->point.number("threads_per_block"));
  if (blocks.size() < 2 || threads.size() < 2) return std::nullopt;
  const auto members = members_of(results.front()->point);
  const auto under = circumstances_of(results.front()->point);
  heat_map map{{word_for_names(fmt::format("map-{}-{}{}", subject, results.front()->point.members,
                                           under.empty() ? "" : "-" + under)),
                fmt::format("{} on {}{}", subject, members, under.empty() ? "" : ", " + under),
                "Latency of one round over the shapes; a hole did not fit or was not measured."},
               "blocks per SM",
               "threads per block",
               {},
               {},
               {},
               "us",
               {},
               {}};
  for (const double b : blocks) map.rows.push_back(fmt::format("{:.0f}", b));
  for (const double t : threads) map.columns.push_back(fmt::format("{:.0f}", t));
  map.values.assign(blocks.size(), std::vector<std::optional<double>>(threads.size()));
  map.holes.assign(blocks.size(), std::vector<std::string>(threads.size()));
  map.sources = map.holes;
  std::size_t known = 0;
  bool any = false;
  for (const auto* r : results) {
    known += r->has_metrics() || !r->reason.empty();
    const auto row = static_cast<std::size_t>(
        std::distance(blocks.begin(), blocks.find(*r->point.number("blocks_per_sm"))));
    const auto column = static_cast<std::size_t>(
        std::distance(threads.begin(), threads.find(*r->point.number("threads_per_block"))));
    if (r->has_metrics() && r->metrics.front().median > 0) {
      map.values[row][column] = r->metrics.front().median;
      map.sources[row][column] = short_key(r->point);
      any = true;
    } else {
      map.holes[row][column] = r->reason;
    }
  }
  // With less than half of the cells measured this is no map; add_shapes() shows them.
  return any && 2 * known >= blocks.size() * threads.size() ? std::optional(std::move(map)) : std::nullopt;
}

void add_maps(std::span<const result> all, evaluation& e) {
  table drives{{"what-drives", "What drives the latency",
                "Shares of the variance of log latency over the full rectangle that fits."},
               {"barrier",
                {"members", ">"},
                "rectangle",
                {"blocks per SM", ".0f %"},
                {"threads per block", ".0f %"},
                {"both together", ".0f %"}}};
  for (const auto& [of, results] : by_subject(all)) {
    const auto& subject = std::get<0>(of);
    auto map = map_of(subject, results);
    if (!map) continue;
    const auto full = full_rectangle(*map);
    if (full.rows >= 2 && full.columns >= 2) {
      std::vector<std::vector<double>> values(full.rows);
      for (std::size_t r = 0; r < full.rows; ++r)
        for (std::size_t c = 0; c < full.columns; ++c) values[r].push_back(*map->values[r][c]);
      if (const auto shares = shares_of_variance(values))
        drives.add({subject, members_of(results.front()->point),
                    fmt::format("1..{} x {}..{}", map->rows[full.rows - 1], map->columns.front(),
                                map->columns[full.columns - 1]),
                    shares->rows, shares->columns, shares->rest});
    }
    e.figures.push_back(std::move(*map));
  }
  e.add(std::move(drives));
}

// Adds every barrier over the shapes, a figure for each group; sorted by the latency at the last shape.
void add_shapes(std::span<const result> all, evaluation& e) {
  using key = std::tuple<topology::device, std::string, int>;  // circumstances, members
  std::map<key, std::map<std::string, std::map<shape_place, const result*>>> groups;
  std::map<key, std::map<shape_place, std::string>> shapes;
  for (const auto& r : all) {
    if (r.point.study != default_study || !r.has_metrics() || !is_idle(r) || !(r.metrics.front().median > 0))
      continue;
    const key where{r.point.device, circumstances_of(r.point), r.point.members};
    groups[where][marked_subject_of(r)][place_of_shape(r.point)] = &r;
    shapes[where][place_of_shape(r.point)] = format_shape(r.point);
  }
  for (const auto& [where, subjects] : groups) {
    const auto& [device, under, members] = where;
    const auto& columns = shapes[where];
    if (columns.size() < 2) continue;
    const auto of = count_of_members(subjects.begin()->second.begin()->second->point);
    heat_map map{{word_for_names(fmt::format("shapes-{}-{}{}", to_string(device), members,
                                             under.empty() ? "" : "-" + under)),
                  fmt::format("Every barrier over the shapes: {}{}", of, under.empty() ? "" : ", " + under),
                  "Medians in us; the colours are logarithmic. The best at the last shape first (000, "
                  "figures 5, 7 and 8)."},
                 "barrier",
                 device == topology::device::gpu ? "blocks per SM x threads per block" : "threads per member",
                 {},
                 {},
                 {},
                 "us",
                 {},
                 {}};
    for (const auto& [place, name] : columns) map.columns.push_back(name);
    std::vector<std::pair<double, std::string>> order;
    for (const auto& [name, by_shape] : subjects)
      order.emplace_back(by_shape.contains(columns.rbegin()->first)
                             ? by_shape.rbegin()->second->metrics.front().median
                             : 1e300,
                         name);
    std::sort(order.begin(), order.end());
    for (const auto& [last, name] : order) {
      std::vector<const result*> line;
      for (const auto& [place, word] : columns) line.push_back(at(subjects.at(name), place));
      map.add(name, line);
    }
    e.figures.push_back(std::move(map));
  }
}

// What is the same in one figure, whose curves are over the members.
using picture_key =
    std::tuple<std::string, std::string, shape_place, std::string>;  // device, circumstances, shape

void add_curves(std::span<const result> all, evaluation& e) {
  std::map<picture_key, std::map<std::string, curve>> pictures;
  std::set<std::string> vendors;
  for (const auto& r : all) {
    if (r.point.study != default_study || !r.has_metrics() || !is_idle(r) || !(r.metrics.front().median > 0))
      continue;
    const auto& m = r.metrics.front();
    auto& one = pictures[{std::string(to_string(r.point.device)), circumstances_of(r.point),
                          place_of_shape(r.point), format_shape(r.point)}][marked_subject_of(r)];
    one.name = marked_subject_of(r);
    if (r.facts && r.facts->origin == fact::origin::vendor && r.facts->driver == fact::driver::device)
      vendors.insert(one.name);
    one.points.push_back({static_cast<double>(r.point.members), m.median, m.ci95_low, m.ci95_high, m.raw,
                          fmt::format("{} samples", m.samples), short_key(r.point)});
  }
  for (auto& [where, curves] : pictures) {
    const auto& [device, under, place, shape] = where;
    const bool gpus = device == "gpu";
    chart c{
        {word_for_names(fmt::format("over-members-{}-{}{}", device, shape, under.empty() ? "" : "-" + under)),
         fmt::format("Latency over {}{}{}", gpus ? "GPUs" : "host members",
                     shape.empty() || (!gpus && shape == "1") ? "" : ", shape " + shape,
                     under.empty() ? "" : ", " + under),
         "Medians, their 95 % intervals as bands, and the medians of the batches as small points (000, "
         "figure 9)."},
        {gpus ? "GPUs" : "members"},
        {"latency (us)", true},
        {}};
    for (auto& [name, one] : curves) {
      std::sort(one.points.begin(), one.points.end(), [](const auto& a, const auto& b) { return a.x < b.x; });
      if (one.points.size() > 1) c.curves.push_back(std::move(one));
    }
    std::sort(c.curves.begin(), c.curves.end(),
              [](const curve& a, const curve& b) {  // the best at the largest group first
                const auto &last_a = a.points.back(), &last_b = b.points.back();
                return last_a.x != last_b.x ? last_a.x > last_b.x : last_a.y < last_b.y;
              });
    // The best of each backend and the vendor's come first, since there may be more curves than colours.
    std::set<std::string> shown;
    std::stable_partition(c.curves.begin(), c.curves.end(), [&](const curve& one) {
      return vendors.contains(one.name) || shown.insert(one.name.substr(0, one.name.find(':'))).second;
    });
    std::set<double> counts;
    for (const auto& one : c.curves)
      for (const auto& p : one.points) counts.insert(p.x);
    if (!counts.empty() && *counts.rbegin() > 8) c.x.logarithmic = true;
    if (!c.curves.empty()) e.figures.push_back(std::move(c));
  }
}

double latency_of(const result* r) { return r->metrics.front().median; }

// Of one device, number of members, shape and circumstances: the fastest barrier that passed, the fastest
// that a program can call, and those whose intervals overlap theirs.
struct fastest {
  const result* best = nullptr;
  const result* answer = nullptr;  // nullptr: a program can call none
  std::vector<const result*> all, callable;

  void add(const result& r) {
    const auto facts = facts_of(r.point);
    all.push_back(&r);
    if (best == nullptr || latency_of(&r) < latency_of(best)) best = &r;
    if (facts.call.empty() || facts.meets_nobody) return;
    callable.push_back(&r);
    if (answer == nullptr || latency_of(&r) < latency_of(answer)) answer = &r;
  }
  static std::vector<std::string> ties_of(const result& of, const std::vector<const result*>& among) {
    std::vector<std::string> names;
    for (const auto* r : among) {  // the same name may come twice, from two groups of this size
      const auto name = subject_of(r->point);
      if (name != subject_of(of.point) && r->metrics.front().ci95_low <= of.metrics.front().ci95_high &&
          std::ranges::find(names, name) == names.end())
        names.push_back(name);
    }
    return names;
  }
  // The fastest barrier that is faster than the answer, and that a program cannot call; nullptr where there
  // is none.
  const result* out_of_reach() const {
    const result* found = nullptr;
    for (const auto* r : all)
      if (latency_of(r) < latency_of(answer) && !facts_of(r->point).meets_nobody &&
          (found == nullptr || latency_of(r) < latency_of(found)))
        found = r;
    return found;
  }
};
using cell_key = std::tuple<std::string, std::string, int, shape_place>;  // device, circumstances, members

// A sentence: how many times as long NVIDIA's own barrier over the same blocks takes, as the range over the
// shapes.
std::string beside_the_vendor(const std::vector<const fastest*>& shapes) {
  double least = 1e300, most = 0;
  std::string name;
  for (const auto* one : shapes) {
    // A barrier within a block or a cluster is not compared with one of the grid, even where the grid has one
    // block only.
    const auto* chosen = one->answer != nullptr ? one->answer : one->best;
    if (chosen->facts && chosen->facts->scope < fact::scope::grid) continue;
    const auto same = chosen->point.members == 1 ? fact::scope::grid : fact::scope::node;
    for (const auto* r : one->all) {
      if (!r->facts || r->facts->origin != fact::origin::vendor || r->facts->driver != fact::driver::device ||
          r->facts->scope != same)
        continue;
      const double ratio = latency_of(r) / latency_of(chosen);
      least = std::min(least, ratio);
      most = std::max(most, ratio);
      name = subject_of(r->point);
    }
  }
  if (!(most > 1)) return "";
  const auto times =
      most < 1.05 * least ? fmt::format("{:.2g}", most) : fmt::format("{:.2g} to {:.2g}", least, most);
  return fmt::format(" NVIDIA's own ({}) takes {} times as long.", name, times);
}

// Names barriers that a program can call instead of one that it cannot, where these were not measured.
std::string in_its_place(const fastest& cell, const result& of) {
  std::vector<std::string> names = facts_of(of.point).beside;
  std::erase_if(names, [&](const auto& name) {
    return std::ranges::any_of(cell.all, [&](const auto* r) { return subject_of(r->point) == name; });
  });
  if (names.empty() || (cell.answer != nullptr && cell.answer->point.subject == of.point.subject)) return "";
  return fmt::format("; {}, which it can call in its place, {} not measured", fmt::join(names, ", "),
                     names.size() == 1 ? "was" : "were");
}

// Tells how the barrier is called, and which faster one cannot be called.
std::string how_to_call(const fastest& one) {
  const auto facts = facts_of(one.answer->point);
  auto text = fmt::format(" To call it: {}{}.", facts.call,
                          facts.needs.empty() ? "" : fmt::format(" ({})", facts.needs));
  if (const auto* beyond = one.out_of_reach(); beyond != nullptr)
    text += fmt::format(
        " {} is faster there, {:.4g} us, and {}{}.", subject_of(beyond->point), latency_of(beyond),
        facts_of(beyond->point).known ? "nothing that a program can call"
                                      : "this build does not know whether a program can call it",
        in_its_place(one, *beyond));
  return text;
}

// Of the shapes of a group what a sentence tells of: which barrier is best at how many, and the first shape
// where it is; one that fills all SMs, if it is best at any.
struct told_shapes {
  bool callable = false;  // of what a program can call
  std::pair<std::string, int> most;
  const fastest* shown = nullptr;
  const result* chosen(const fastest& one) const { return callable ? one.answer : one.best; }
};
told_shapes told_of(const std::vector<const fastest*>& shapes) {
  told_shapes told;
  told.callable = std::ranges::any_of(shapes, [](const auto* one) { return one->answer != nullptr; });
  std::map<std::string, int> wins;
  for (const auto* one : shapes)
    if (told.chosen(*one) != nullptr) ++wins[subject_of(told.chosen(*one)->point)];
  told.most = *std::ranges::max_element(wins, {}, [](const auto& one) { return one.second; });
  for (const auto* one : shapes) {
    const auto* r = told.chosen(*one);
    if (r == nullptr || subject_of(r->point) != told.most.first) continue;
    if (told.shown == nullptr) told.shown = one;
    if (r->point.number(axes::blocks)) continue;
    told.shown = one;
    break;
  }
  return told;
}

// A sentence about the largest group of a device and circumstances: which barrier is best at how many of its
// shapes.
std::string best_sentence(const std::vector<const fastest*>& shapes, const told_shapes& told) {
  const auto [callable, most, shown] = told;
  const auto& r = *told.chosen(*shown);
  const auto& m = r.metrics.front();
  const auto under = circumstances_of(r.point), shape = format_shape(r.point);
  const auto ties = fastest::ties_of(r, callable ? shown->callable : shown->all);
  std::string text = fmt::format(
      "On {}{}, {}", members_of(r.point), under.empty() ? "" : " (" + under + ")",
      callable ? fmt::format("take {}, the fastest barrier that a program can call", most.first)
               : fmt::format("nothing that a program can call was measured; {} is the fastest barrier",
                             most.first));
  if (shapes.size() > 1) text += fmt::format(" at {} of {} shapes", most.second, shapes.size());
  text += fmt::format(": {:.4g} us{} (95 % interval {:.4g} - {:.4g})", m.median,
                      shapes.size() > 1 ? " at " + shape : "", m.ci95_low, m.ci95_high);
  if (!ties.empty()) text += fmt::format("; no difference was shown there to {}", fmt::join(ties, ", "));
  if (!r.doubts.empty()) text += fmt::format("; that means little: {}", words_of(r.doubts));
  return text + (callable ? "." + how_to_call(*shown) : in_its_place(*shown, r) + ".") +
         beside_the_vendor(shapes);
}

void add_verdict(std::span<const result> all, evaluation& e) {
  std::map<cell_key, fastest> cells;
  std::size_t violated = 0, waived = 0, measured = 0, unchecked = 0;
  for (const auto& r : all) {
    if (r.point.study != default_study) continue;
    violated += r.status == result_status::failed;
    waived += r.status == result_status::waived;
    if (!r.has_metrics()) continue;
    ++measured;
    unchecked += !r.verdict.passed && r.status == result_status::measured;
    if (!is_idle(r) || !r.verdict.passed || r.orders_less() || r.metrics.front().of_one_batch())
      continue;  // what orders less, and what has one batch only, is not compared
    auto& one = cells[{std::string(to_string(r.point.device)), circumstances_of(r.point), r.point.members,
                       place_of_shape(r.point)}];
    one.add(r);
  }
  if (measured == 0) return;
  std::map<std::pair<std::string, std::string>, std::vector<const fastest*>> largest;
  table t{
      {"fastest", "The fastest barrier of each group and shape",
       "Of those that passed their check, idle, in more than one batch. The last column: whose interval "
       "overlaps."},
      {"members", "shape", "barrier", {"latency", ".4g", "us"}, {"ci95", ".4g"}, "no difference shown to"}};
  for (const auto& [where, one] : cells) {
    const auto& [device, under, members, place] = where;
    auto& shapes = largest[{device, under}];
    if (!shapes.empty() && shapes.front()->best->point.members < members) shapes.clear();
    shapes.push_back(&one);
    const auto& p = one.best->point;
    t.add({members_of(p) + (under.empty() ? "" : ", " + under), format_shape(p), subject_of(p),
           latency_of(one.best), ci95_of(one.best->metrics.front()),
           fmt::format("{}", fmt::join(fastest::ties_of(*one.best, one.all), ", "))},
          short_key(p));
  }
  for (auto& [where, shapes] : largest) {
    const auto told = told_of(shapes);
    if (auto line = headline(told.shown->all); !line.empty()) e.sentences.push_back(std::move(line));
    e.sentences.push_back(best_sentence(shapes, told));
  }
  e.sentences.push_back(fmt::format(
      "{} points of barriers were measured; {} {} violated or stuck, {} could not run here{}.", measured,
      violated == 0 ? "none" : fmt::format("{}", violated), violated <= 1 ? "was" : "were", waived,
      unchecked == 0 ? "" : fmt::format(", {} are unchecked or no barriers", unchecked)));
  e.add(std::move(t));
}

}  // namespace

evaluation evaluate(std::span<const result> all) {
  evaluation e;
  add_verdict(all, e);
  add_ranked(all, e);
  add_ladder(all, e);
  add_curves(all, e);
  add_shapes(all, e);
  add_maps(all, e);
  add_loads(all, e);
  return e;
}

}  // namespace mgsync::barriers
