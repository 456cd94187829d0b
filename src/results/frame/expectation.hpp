// An expectation: a statement, from a paper or from mgsync, that results are compared with: what, its bound,
// what was measured, and whether it holds. A test changes every input by 10 % and requires that something in
// each expectation changes, since otherwise it could never fail.
//     list.push_back({"a full group's shuffle over a tile's", "1.5", fmt::format("{:.2f}", x), x <= 1.5});
//     expect(list, "a call beside a store", "2", {input_of(call, "the call"), input_of(store, "the store")},
//            [](auto v) { return judgement{fmt::format("{:.2f}", v[0] / v[1]), v[0] <= 2 * v[1]}; });
#pragma once

#include <cmath>
#include <functional>
#include <optional>
#include <span>
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

// A number that an expectation is judged by, or why there is none (input_of() in frame.hpp says it).
struct input {
  std::optional<double> value;
  std::string why_not{};
};
struct judgement {
  std::string seen;
  bool holds;
};
// Adds what `judge` makes of the inputs' numbers, in their order. Where some are missing, it cannot be judged
// here, and says why; where all are, nothing of it was measured, and it is left out.
void expect(expectations&, std::string text, std::string bound, const std::vector<input>&,
            const std::function<judgement(std::span<const double>)>& judge);

// With so many decimals, or as many more as show on which side of `limit` it lies: "0.1003" beside 0.1.
std::string shown_beside(double limit, double value, int decimals);

// Whether `value` differs from `of` by at most this share of `of`.
inline bool is_within(double value, double of, double share) { return std::abs(value / of - 1) <= share; }

}  // namespace mgsync
