#include "src/harness/plan_text.hpp"

#include <algorithm>
#include <optional>
#include <set>

#include "src/base/units.hpp"
#include <fmt/format.h>

namespace mgsync {
namespace {

// The stopping rule of a point's method; nothing where the point is waived or its number of batches is fixed.
std::optional<stopping_rule> rule_of(const measurement& m) {
  return m.waived.empty() && m.method ? m.method()->stops() : std::nullopt;
}

// Roughly how long the point takes: its study's estimate, or less where its sampling is limited to less.
double seconds_of(const study& s, const measurement& m) {
  constexpr double beside_sampling = 0.2;
  const auto rule = rule_of(m);
  if (!rule) return s.seconds_per_point;
  return std::min(s.seconds_per_point,
                  beside_sampling + std::chrono::duration<double>(rule->max_time).count());
}

// The first points, which are described together: one point where the cell has no description.
std::span<const measurement> first_cell(std::span<const measurement> all) {
  std::size_t size = 1;
  while (all[0].describe_cell && size < all.size() && all[size].cell == all[0].cell) ++size;
  return all.first(size);
}

// A cell's lines: its members and its subjects; without a description each point by its full name.
std::string format_cell(std::span<const measurement> cell, detail wanted) {
  const auto& describe = cell.front().describe_cell;
  std::string text = describe ? describe(wanted) : "";
  for (const auto& m : cell) {
    if (!m.waived.empty() && wanted == detail::grouped) continue;
    const auto verdict = m.waived.empty() ? "measured" : "waived: " + m.waived;
    text += describe ? fmt::format("  {:<32} {}\n", subject_of(m.point), verdict)
                     : fmt::format("{}: {}\n", name_of(m.point), verdict);
  }
  return text;
}

// The points of a study that can run, and roughly how long they take.
struct part_of_plan {
  std::size_t points = 0;
  double seconds = 0;
};
part_of_plan part_of(const study& s, std::span<const measurement> all) {
  part_of_plan part;
  for (const auto& m : all)
    if (m.waived.empty() && m.point.study == s.name) {
      ++part.points;
      part.seconds += seconds_of(s, m);
    }
  return part;
}

}  // namespace

double estimated_seconds(std::span<const study* const> studies, std::span<const measurement> all) {
  double seconds = 0;
  for (const auto* s : studies) seconds += part_of(*s, all).seconds;
  return seconds;
}

std::string estimate(std::span<const study* const> studies, std::span<const measurement> all) {
  std::string text;
  part_of_plan whole;
  for (const auto* s : studies) {
    const auto [points, seconds] = part_of(*s, all);
    if (studies.size() > 1)
      text += fmt::format("  {:<12}{:>5} {}, about {:.0f} s\n", s->name, points,
                          points == 1 ? "point" : "points", seconds);
    whole.points += points;
    whole.seconds += seconds;
  }
  return fmt::format("{} of {} can run here, about {:.0f} s{}\n{}", whole.points,
                     counted(all.size(), "point"), whole.seconds, text.empty() ? "" : ":", text);
}

std::string format_plan(std::span<const measurement> all, detail wanted) {
  constexpr std::size_t most_lines = 200;
  std::string text;
  std::size_t lines = 0, left_out = 0;
  std::vector<not_measured> waived;
  for (auto rest = all; !rest.empty();) {
    const auto cell = first_cell(rest);
    rest = rest.subspan(cell.size());
    std::size_t run = 0;
    for (const auto& m : cell) {
      if (m.waived.empty()) ++run;
      else waived.push_back({&m.point, m.waived});
    }
    if (wanted == detail::grouped && run == 0) continue;
    const auto of_this = format_cell(cell, wanted);
    lines += static_cast<std::size_t>(std::ranges::count(of_this, '\n'));
    if (wanted == detail::every || text.empty() || lines <= most_lines) text += of_this;
    else left_out += run;
  }
  if (left_out != 0) text += fmt::format("and {} (--verbose lists each)\n", counted(left_out, "more point"));
  if (wanted == detail::grouped) text += by_reason("waived", waived, all.size());
  return text;
}

}  // namespace mgsync
