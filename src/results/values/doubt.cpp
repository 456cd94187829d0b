#include "src/results/values/doubt.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/base/units.hpp"
#include "src/results/values/result.hpp"
#include "src/results/values/statistics.hpp"

namespace mgsync {

void add_doubt(std::vector<doubt>& to, const doubt& one) {
  const auto known =
      std::find_if(to.begin(), to.end(), [&](const doubt& other) { return other.kind == one.kind; });
  if (known == to.end()) to.push_back(one);
  else if (one.amount > known->amount) *known = one;
}

void add_doubts(std::vector<doubt>& to, std::span<const doubt> more) {
  for (const doubt& one : more) add_doubt(to, one);
}

std::optional<double> two_regimes(std::span<const double> medians) {
  std::vector<double> logs;
  for (const double value : medians) {
    if (!(value > 0) || !std::isfinite(value)) return std::nullopt;
    logs.push_back(std::log(value));
  }
  std::sort(logs.begin(), logs.end());
  const std::size_t least =
      std::max<std::size_t>(2, (logs.size() + 4) / 5);  // the fewest batches on either side
  std::size_t at = 0;                                   // index of the first batch of the upper side
  double gap = std::log(regimes_apart);
  for (std::size_t i = least; i + least <= logs.size(); ++i)
    if (logs[i] - logs[i - 1] > gap) {
      gap = logs[i] - logs[i - 1];
      at = i;
    }
  if (at == 0) return std::nullopt;
  const auto all = std::span<const double>(logs);
  const auto lower = all.first(at), upper = all.subspan(at);
  if (gap <= 4 * std::max(spread(lower), spread(upper))) return std::nullopt;
  return std::exp(median(upper) - median(lower));
}

std::vector<doubt> doubts_of_samples(const std::vector<metric>& metrics, std::span<const sample> samples) {
  std::vector<doubt> found;
  if (metrics.empty()) return found;
  const metric& first = metrics.front();
  std::size_t known = 0, below = 0;
  for (const sample& one : samples) {
    const double value = one.at(first.name);
    known += !std::isnan(value);
    below += value < 0;
  }
  if (const auto share = static_cast<double>(below) / static_cast<double>(std::max<std::size_t>(known, 1));
      is_a_time(first) && first.better != better::neither && share > rare_share)
    found.push_back({std::string(doubt_kinds::negative), share,
                     fmt::format("{:.0f} % of the samples below zero", 100 * share)});
  if (const auto apart = two_regimes(first.raw))
    found.push_back(
        {std::string(doubt_kinds::regimes), *apart, fmt::format("two regimes {:.3g}x apart", *apart)});
  return found;
}

bool is_of_the_host(const doubt& one) {
  return one.kind == doubt_kinds::load || one.kind == doubt_kinds::steal || one.kind == doubt_kinds::switches;
}

bool may_be_too_long(std::span<const doubt> all) {
  return std::ranges::any_of(all, [](const doubt& one) {
    return one.kind != doubt_kinds::slowed && one.kind != doubt_kinds::clocks;
  });
}

std::string words_of(std::span<const doubt> all) {
  std::vector<std::string> words;
  for (const doubt& one : all) words.push_back(one.text);
  return fmt::format("{}", fmt::join(words, ", "));
}

std::string summary_of(std::span<const std::vector<doubt>> points) {
  std::vector<doubt> worst;
  std::size_t doubted = 0;
  for (const auto& one : points) {
    doubted += !one.empty();
    add_doubts(worst, one);
  }
  if (doubted == 0) return {};
  std::vector<std::string> words;
  for (const doubt& one : worst) {
    const auto count = std::count_if(points.begin(), points.end(), [&](const auto& all) {
      return std::any_of(all.begin(), all.end(), [&](const doubt& other) { return other.kind == one.kind; });
    });
    words.push_back(fmt::format("{} ({}{})", one.text, count == 1 ? "" : "the worst of ", count));
  }
  return fmt::format("{} of {} mean{} little: {}", doubted, counted(points.size(), "point"),
                     doubted == 1 ? "s" : "", fmt::join(words, ", "));
}

std::string summary_of(std::span<const result* const> results) {
  std::vector<std::vector<doubt>> points;
  for (const result* one : results)
    if (one->has_metrics()) points.push_back(one->doubts);
  return summary_of(points);
}

std::string summary_of(std::span<const result> results) {
  std::vector<const result*> all;
  for (const result& one : results) all.push_back(&one);
  return summary_of(all);
}

}  // namespace mgsync
