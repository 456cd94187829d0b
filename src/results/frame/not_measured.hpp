// Lists, for people, the points that were not measured and why: a paragraph for each reason, or a line for
// each subject.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "src/results/values/point.hpp"

namespace mgsync {

enum class detail { grouped, every };

struct not_measured {
  const mgsync::point* of = nullptr;
  std::string_view why;
};

// One line for each subject, variant and reason, with the member counts it is true for: "waived  mpi:default
// why (members 2,4)".
std::string each_of(std::string_view word, std::span<const not_measured>);

// "waived: 30 of 38 points, by reason (--verbose lists each)", and below it how many points each reason is
// true for, the reason, and whose points they are; at most 100 columns and, whatever the sweep, a page. What
// fits one line of each_of() is that line.
std::string by_reason(std::string_view word, std::span<const not_measured>, std::size_t of_all);

}  // namespace mgsync
