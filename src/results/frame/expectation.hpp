// A sentence of a paper or of ours that results can be held against: what, within which bound, what was seen,
// and whether that holds. Each follows from what was measured: a test changes every input by 10 %, and one of
// which then nothing changes could only have held.
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
  std::optional<bool> holds;  // nothing: it cannot be judged here
  std::string why_not{};      // then: why

  std::string outcome() const {
    return !holds   ? "not judged" + (why_not.empty() ? "" : ": " + why_not)
           : *holds ? "holds"
                    : "DOES NOT HOLD";
  }
};
using expectations = std::vector<expectation>;

// Whether a value is that one to within this share of it.
inline bool is_within(double value, double of, double share) { return std::abs(value / of - 1) <= share; }

}  // namespace mgsync
