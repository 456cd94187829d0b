#include "src/results/frame/figure.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include <fmt/format.h>

#include "src/results/values/result.hpp"

namespace mgsync {

const figure_heading& heading_of(const figure& any) {
  return std::visit([](const auto& one) -> const figure_heading& { return one.heading; }, any);
}

void heat_map::add(std::string row, const std::vector<const result*>& line) {
  rows.push_back(std::move(row));
  auto& found = values.emplace_back();
  auto& from = sources.emplace_back();
  for (const auto* r : line) {
    found.push_back(r == nullptr ? std::nullopt : std::optional(r->metrics.front().median));
    from.push_back(r == nullptr ? "" : short_key(r->point));
  }
}

std::string shown_beside(double limit, double value, int decimals) {
  constexpr int most = 12;
  const auto is_seen = [&] {
    const double ten = std::pow(10, decimals);
    return (std::round(value * ten) / ten > limit) == (value > limit);
  };
  while (decimals < most && !is_seen()) ++decimals;
  return fmt::format("{:.{}f}", value, decimals);
}

void expect(expectations& all, std::string text, std::string bound, const std::vector<input>& inputs,
            const std::function<judgement(std::span<const double>)>& judge) {
  std::vector<double> values;
  std::string missing;
  for (const auto& one : inputs)
    if (one.value) values.push_back(*one.value);
    else missing += (missing.empty() ? "" : "; ") + one.why_not;
  if (values.empty()) return;
  expectation made{std::move(text), std::move(bound), "-", std::nullopt, std::move(missing)};
  if (values.size() == inputs.size()) {
    auto found = judge(values);
    made.seen = std::move(found.seen), made.holds = found.holds;
  }
  all.push_back(std::move(made));
}

void evaluation::add(table one) {
  if (!one.rows.empty()) tables.push_back(std::move(one));
}

void evaluation::add(figure_heading heading, mgsync::expectations all) {
  table t{std::move(heading), {"what", "limit", "measured", ""}};
  for (const auto& one : all) t.add({one.text, one.bound, one.seen, one.outcome()});
  add(std::move(t));
  std::ranges::move(all, std::back_inserter(expectations));
}

}  // namespace mgsync
