// An expectation: a statement, from a paper or from mgsync, that results are compared with: what, its bound,
// what was measured, and whether it holds. A test changes every input by 10 % and requires that something in
// each expectation changes, since otherwise it could never fail.
//     list.push_back({"a full group's shuffle over a tile's", "1.5", fmt::format("{:.2f}", x), x <= 1.5});
#pragma once

#include <cmath>
#include <optional>
#include <string>
#include <vector>

namespace mgsync {

struct expectation {
  std::string text;
  std::string bound;
  std::string seen;
  std::optional<bool> holds;  // nothing: the results do not suffice to judge it
  std::string why_not{};      // why it cannot be judged

  std::string outcome() const {
    return !holds   ? "not judged" + (why_not.empty() ? "" : ": " + why_not)
           : *holds ? "holds"
                    : "DOES NOT HOLD";
  }
};
using expectations = std::vector<expectation>;

// Whether `value` differs from `of` by at most this share of `of`.
inline bool is_within(double value, double of, double share) { return std::abs(value / of - 1) <= share; }

}  // namespace mgsync
