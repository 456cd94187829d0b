#include "src/results/comparison/shift_interval.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <vector>

#include <boost/math/distributions/normal.hpp>

namespace mgsync {
namespace {

constexpr std::size_t most_exact_pairs = 4000;

// P(U = 0), P(U = 1), ... of the rank-sum statistic for series of m and n values without a shift, by
// recursion: without the largest value the series are one value shorter.
std::vector<double> null_distribution(std::size_t m, std::size_t n) {
  std::vector<std::vector<double>> row(n + 1, {1.0});  // of no values on one side: U is 0
  for (std::size_t i = 1; i <= m; ++i) {
    std::vector<std::vector<double>> next(n + 1);
    next[0] = {1.0};
    for (std::size_t j = 1; j <= n; ++j) {
      const double of_first = static_cast<double>(i) / static_cast<double>(i + j);
      next[j].assign(i * j + 1, 0.0);
      for (std::size_t u = 0; u < row[j].size(); ++u) next[j][u + j] += of_first * row[j][u];
      for (std::size_t u = 0; u < next[j - 1].size(); ++u) next[j][u] += (1 - of_first) * next[j - 1][u];
    }
    row = std::move(next);
  }
  return row[n];
}

struct dropped_pairs {
  std::size_t count = 0;  // differences left out at either end
  double confidence = 0;
};

dropped_pairs exactly_dropped(std::size_t m, std::size_t n, double wanted) {
  const std::vector<double> chance = null_distribution(m, n);
  dropped_pairs dropped{0, 1 - 2 * chance[0]};
  double confidence = dropped.confidence;
  while (2 * (dropped.count + 1) + 1 < chance.size()) {
    confidence -= 2 * chance[dropped.count + 1];
    if (confidence < wanted) break;
    dropped = {dropped.count + 1, confidence};
  }
  return dropped;
}

dropped_pairs nearly_dropped(std::size_t m, std::size_t n, double wanted) {
  const auto a = static_cast<double>(m), b = static_cast<double>(n);
  const double sigma = std::sqrt(a * b * (a + b + 1) / 12);
  const double count = a * b / 2 - quantile(boost::math::normal(), (1 + wanted) / 2) * sigma - 1;
  return {count > 0 ? static_cast<std::size_t>(count) : 0, wanted};
}

// All differences of two sorted series, in order, without listing them: there may be many millions.
class sorted_differences {
 public:
  sorted_differences(std::vector<double> base, std::vector<double> now)
      : base_(std::move(base)), now_(std::move(now)) {
    std::sort(base_.begin(), base_.end());
    std::sort(now_.begin(), now_.end());
  }

  std::size_t size() const { return base_.size() * now_.size(); }

  // The k-th smallest, from 0: the smallest value that more than k differences do not exceed.
  double at(std::size_t k) const {
    double low = now_.front() - base_.back();
    double high = now_.back() - base_.front();
    if (up_to(low) > k) return low;
    for (;;) {
      const double middle = low + (high - low) / 2;
      if (middle <= low || middle >= high) return high;
      (up_to(middle) > k ? high : low) = middle;
    }
  }

 private:
  std::size_t up_to(double value) const {
    std::size_t count = 0;
    std::size_t place =
        0;  // number of values of now_ whose difference from this value of base_ does not exceed the bound
    for (const double one : base_) {
      while (place < now_.size() && now_[place] - one <= value) ++place;
      count += place;
    }
    return count;
  }

  std::vector<double> base_, now_;
};

}  // namespace

double chance_above(std::span<const double> base, std::span<const double> now) {
  std::size_t above = 0;  // pairs in which `now` is larger: the statistic U
  for (const double a : base)
    above += static_cast<std::size_t>(std::ranges::count_if(now, [a](double b) { return b > a; }));
  if (base.size() * now.size() > most_exact_pairs) {
    const auto m = static_cast<double>(base.size()), n = static_cast<double>(now.size());
    const boost::math::normal usual(m * n / 2, std::sqrt(m * n * (m + n + 1) / 12));
    return cdf(complement(usual, static_cast<double>(above) - 0.5));
  }
  const auto chance = null_distribution(base.size(), now.size());
  return std::accumulate(chance.begin() + static_cast<std::ptrdiff_t>(above), chance.end(), 0.0);
}

double best_confidence(std::size_t base_count, std::size_t now_count) {
  const auto m = static_cast<double>(base_count), n = static_cast<double>(now_count);
  return 1 - 2 * std::exp(std::lgamma(m + 1) + std::lgamma(n + 1) - std::lgamma(m + n + 1));
}

shift_interval shift_between(std::span<const double> base, std::span<const double> now, double wanted) {
  if (base.empty() || now.empty()) throw std::invalid_argument("shift between series of which one is empty");
  const sorted_differences all({base.begin(), base.end()}, {now.begin(), now.end()});
  const auto dropped = all.size() <= most_exact_pairs ? exactly_dropped(base.size(), now.size(), wanted)
                                                      : nearly_dropped(base.size(), now.size(), wanted);
  const std::size_t last = all.size() - 1;
  return {(all.at(last / 2) + all.at(last - last / 2)) / 2, all.at(dropped.count),
          all.at(last - dropped.count), std::max(0.0, dropped.confidence)};
}

}  // namespace mgsync
