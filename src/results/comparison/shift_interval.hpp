// How far one series lies above another, without assumptions on their distribution but that it is the same in
// both up to a shift: the estimator of Hodges and Lehmann (Annals of Mathematical Statistics 34, 1963) with
// the interval that inverts the rank-sum test of Mann and Whitney (Hollander and Wolfe, Nonparametric
// Statistical Methods, section 4.3).
#pragma once

#include <cstddef>
#include <span>

namespace mgsync {

struct shift_interval {
  double estimate = 0;  // the median of all differences of a value of `now` and one of `base`
  double low = 0;       // order statistics of these differences
  double high = 0;
  double confidence = 0;  // the interval's confidence; below the wanted one, the interval is the whole range
};

// The shift from `base` to `now`, in the values' unit. Values must be independent, in any order. Throws
// std::invalid_argument for an empty series. Uses the exact distribution for up to 4000 differences, its
// Gaussian approximation above.
shift_interval shift_between(std::span<const double> base, std::span<const double> now, double wanted = 0.95);

// How likely the values of `now` rank as far above those of `base` as they do, or further, where both are
// drawn from one distribution: one-sided, exact or approximate as above.
double chance_above(std::span<const double> base, std::span<const double> now);

// The confidence of the widest interval, the range of all differences: 1 - 2 / binomial(m + n, m).
double best_confidence(std::size_t base_count, std::size_t now_count);

}  // namespace mgsync
