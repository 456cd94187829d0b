#include "src/results/comparison/acceptance_plan.hpp"

#include <algorithm>
#include <cmath>
#include <regex>
#include <set>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/base/comma_list.hpp"
#include "src/base/errors.hpp"
#include "src/base/units.hpp"

namespace mgsync {
namespace {

constexpr std::size_t points_of_a_gpu = 2, points_of_a_pair = 1, points_of_all = 6;

bool is_plain(const point& p) {
  return p.study == default_study && p.ranks == 1 &&
         std::ranges::all_of(p.axes, [](const axis& a) { return is_of_shape(a.name) || is_ordinary(a); });
}

// Candidates with this many members, the smallest limit first.
std::vector<const reference_point*> candidates(const reference_spread& known, const acceptance_request& asked,
                                               int members) {
  std::vector<std::pair<double, const reference_point*>> found;
  for (const auto& one : known.points()) {
    const bool fits = one.point.device == asked.device && one.point.members == members && is_plain(one.point);
    if (!fits || (one.facts && one.facts->orders_less())) continue;
    if (asked.can_run && !asked.can_run(one.point)) continue;
    found.emplace_back(limit_of(one, 1), &one);
  }
  std::ranges::stable_sort(found, {}, &std::pair<double, const reference_point*>::first);
  std::vector<const reference_point*> all;
  for (const auto& [limit, one] : found) all.push_back(one);
  return all;
}

// The first `most` candidates that are different in what `kind` gives.
template <class Kind>
std::vector<const reference_point*> different(std::span<const reference_point* const> from, std::size_t most,
                                              Kind kind) {
  std::vector<const reference_point*> chosen;
  std::set<std::string> taken;
  for (const auto* one : from)
    if (chosen.size() < most && taken.insert(kind(*one)).second) chosen.push_back(one);
  return chosen;
}

std::string subject_kind(const reference_point& one) { return subject_of(one.point); }
std::string shape_kind(const reference_point& one) { return format_shape(one.point); }
std::string driver_kind(const reference_point& one) {
  return one.facts ? std::string(to_string(static_cast<fact::driver>(one.facts->driver))) : "";
}

// What meets over a whole GPU inside a kernel says most of a GPU or of a link: what stays in a block sees one
// multiprocessor, and what ends kernels also the host.
std::vector<const reference_point*> inside_kernels(std::vector<const reference_point*> from) {
  std::erase_if(from, [](const auto* one) {
    return one->facts && (static_cast<fact::driver>(one->facts->driver) != fact::driver::device ||
                          !one->facts->joins_grids());
  });
  return from;
}

// Those of them that meet on the whole GPU: a fixed number of blocks does not reach all of it.
std::vector<const reference_point*> on_whole_gpus(std::vector<const reference_point*> from) {
  std::erase_if(from, [](const auto* one) { return !one->point.number(axes::blocks_per_sm); });
  return from;
}

std::vector<const reference_point*> for_all(const std::vector<const reference_point*>& from) {
  auto chosen = different(from, points_of_all, driver_kind);
  std::set<std::string> subjects;
  for (const auto* one : chosen) subjects.insert(subject_kind(*one));
  for (const auto* one : from)
    if (chosen.size() < points_of_all && subjects.insert(subject_kind(*one)).second) chosen.push_back(one);
  // A single GPU has no points of its own besides these: further shapes fill up what too few subjects leave.
  for (const auto* one : from)
    if (one->point.members == 1 && chosen.size() < points_of_all &&
        std::ranges::find(chosen, one) == chosen.end())
      chosen.push_back(one);
  return chosen;
}

bool fits(const threshold& line, const point& p) {
  const auto is = [](const std::string& word, const std::string& value) {
    return word == "*" || word == value;
  };
  return is(line.subject, subject_of(p)) && is(line.members, std::to_string(p.members)) &&
         is(line.shape, format_shape(p));
}

// "10%" or 0.1; without a unit 10 would be a thousand per cent.
std::optional<double> share_of(std::string_view text) {
  const auto value = in_unit(text, "%");
  if (!value || *value < 0 || (!text.ends_with('%') && *value > 1)) return std::nullopt;
  return text.ends_with('%') ? *value / 100 : *value;
}

bool is_members(std::string_view word) { return word == "*" || whole_in_unit(word, "").value_or(0) > 0; }

// "*", "4x256", "b1x32", and "2" of host members.
bool is_shape(std::string_view word) {
  static const std::regex shape("\\*|b?[0-9]+x[0-9]+|[0-9]+");
  return std::regex_match(word.begin(), word.end(), shape);
}

point placed(point p, const std::vector<int>& members) {
  p.group = members;
  p.node.clear();
  p.placement = members.empty() ? "near" : fmt::format("list:{}", fmt::join(members, ","));
  return p;
}

}  // namespace

std::vector<threshold> read_thresholds(std::string_view text, const std::string& name,
                                       const barrier_test& is_barrier) {
  constexpr std::string_view form = "subject,members,shape,limit, such as grid:auto,1,1x32,8% or *,2,*,10%";
  std::vector<threshold> all;
  std::size_t number = 0;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    auto line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    ++number;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty() || line.starts_with('#') || line == "subject,members,shape,limit") continue;
    const auto words = split_at_commas(line);
    const auto share =
        words.size() == 4 && is_members(words[1]) && is_shape(words[2]) ? share_of(words[3]) : std::nullopt;
    if (!share)
      throw usage_error(fmt::format("{}, line {}: '{}' is no threshold; accepted: {}, or 0.1 for 10%", name,
                                    number, line.substr(0, 80), form));
    if (words[0] != "*" && !is_barrier(words[0]))
      throw usage_error(fmt::format("{}, line {}: '{}' is no barrier; accepted: * for all, or one that "
                                    "mgsync list names, such as grid:auto",
                                    name, number, words[0]));
    all.push_back({std::string(words[0]), std::string(words[1]), std::string(words[2]), *share});
  }
  if (all.empty()) throw usage_error(fmt::format("{}: it has no line; accepted: lines of {}", name, form));
  return all;
}

std::vector<acceptance_point> plan_acceptance(const reference_spread& known,
                                              const acceptance_request& asked) {
  struct chosen {
    const reference_point* of;
    std::vector<int> members;
  };
  std::vector<chosen> plan;
  const bool gpus = asked.device == topology::device::gpu;
  if (gpus && asked.members > 1) {
    const auto inside = on_whole_gpus(inside_kernels(candidates(known, asked, 1)));
    for (const auto* one : different(inside, points_of_a_gpu, shape_kind))
      for (int g = 0; g < asked.members; ++g) plan.push_back({one, {g}});
  }
  if (gpus && asked.members > 2) {
    const auto inside = inside_kernels(candidates(known, asked, 2));
    for (const auto* one : different(inside, points_of_a_pair, subject_kind))
      for (const auto& pair : asked.pairs) plan.push_back({one, pair});
  }
  auto together = candidates(known, asked, asked.members);
  if (gpus && asked.members == 1) together = on_whole_gpus(inside_kernels(std::move(together)));
  for (const auto* one : for_all(together)) {
    std::vector<int> all;
    for (int g = 0; gpus && g < asked.members; ++g) all.push_back(g);
    plan.push_back({one, all});
  }
  std::vector<acceptance_point> points;
  for (const auto& one : plan) {
    const auto line =
        std::ranges::find_if(asked.thresholds, [&](const threshold& t) { return fits(t, one.of->point); });
    points.push_back({placed(one.of->point, one.members), one.of->centre,
                      line != asked.thresholds.end() ? 1 + line->limit : limit_of(*one.of, plan.size())});
  }
  return points;
}

acceptance_time time_of(std::size_t points, int members, std::optional<double> within) {
  constexpr double start = 3, start_of_a_gpu = 0.75, beside_sampling = 0.2, twice = 1.25;
  const double most = within.value_or(std::clamp(25 + (members - 2) * 35.0 / 6, 25.0, 60.0));
  const double fixed = start + start_of_a_gpu * members;
  const auto count = static_cast<double>(std::max<std::size_t>(points, 1));
  const double sampling =
      std::clamp((most * 0.9 - fixed) / count / twice - beside_sampling, 0.06, within ? 10.0 : 0.5);
  return {fixed + count * (beside_sampling + sampling) * twice, sampling};
}

}  // namespace mgsync
