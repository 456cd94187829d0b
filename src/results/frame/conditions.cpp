#include "src/results/frame/conditions.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace mgsync {
namespace {

constexpr const char* placement = "placement";

bool all_alike(const std::vector<const point*>& points, const std::string& name) {
  return std::all_of(points.begin(), points.end(), [&](const point* one) {
    return value_of(*one, name) == value_of(*points.front(), name);
  });
}

}  // namespace

std::string value_of(const point& one, const std::string& name) {
  if (name == placement) return one.placement;
  const axis* found = one.find(name);
  return found == nullptr ? "-" : text_of(*found);
}

conditions conditions_of(const std::vector<const point*>& points) {
  conditions out;
  if (points.empty()) return out;
  std::vector<std::string> names{placement};
  for (const point* one : points)
    for (const axis& each : one->axes)
      if (!is_of_shape(each.name) && std::find(names.begin(), names.end(), each.name) == names.end())
        names.push_back(each.name);
  for (const std::string& name : names) {
    if (!all_alike(points, name)) {
      out.varying.push_back(name);
    } else if (name == placement) {
      if (points.front()->placement != point{}.placement)
        out.common.push_back("placement " + points.front()->placement);
    } else if (const axis& one = *points.front()->find(name); !is_ordinary(one)) {
      out.common.push_back(describe(one));
    }
  }
  return out;
}

std::string shape_in_words(const point& p) {
  const auto shape = format_shape(p);
  return shape.empty() || (p.device == topology::device::host && shape == "1") ? "" : "shape " + shape;
}

std::string_view read_in_words(std::string_view memory) {
  return memory == "cold" ? "read from memory" : "read from a cache";
}

std::string circumstances_of(const point& p) {
  std::vector<std::string> words;
  if (!p.node.empty()) words.push_back("on " + p.node);
  if (p.ranks > 1)
    words.push_back(p.ranks == p.members ? "one rank per member" : fmt::format("{} ranks", p.ranks));
  if (p.placement != point{}.placement) words.push_back("placement " + p.placement);
  for (const axis& one : p.axes)
    if (!is_of_shape(one.name) && !is_ordinary(one)) words.push_back(describe(one));
  return fmt::format("{}", fmt::join(words, ", "));
}

}  // namespace mgsync
