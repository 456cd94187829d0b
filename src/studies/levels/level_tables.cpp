#include "src/studies/levels/level_evaluation.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "src/results/frame/frame.hpp"
#include "src/studies/levels/level_points.hpp"

namespace mgsync::levels {

namespace {

constexpr std::array<std::string_view, 3> groups{"coalesced_sync", "syncwarp_mask", "coalesced_shuffle"};

std::optional<double> cycles_of(std::span<const level_value> all, std::string_view name, unsigned lanes,
                                const std::string& mask) {
  const auto* found = first(all, [&](const level_value& v) {
    return v.family == name && v.quantity == quantity::latency && v.lanes == lanes && v.mask == mask;
  });
  return found == nullptr ? std::nullopt : std::optional(found->value);
}

}  // namespace

bool is_part_of_warp(const level_value& v) {
  return v.quantity == quantity::latency && v.lanes < 32 &&
         std::ranges::find(groups, v.family) != groups.end();
}

table table_of_lanes(std::span<const level_value> all) {
  table t{{"lanes", "Groups of every size",
           "Cycles of a link, by the lanes that take part: the first so many, and as many drawn at random. A "
           "barrier of lanes that are "
           "together is no instruction; the shuffle of a coalesced group is library code, not code-checked."},
          {"lanes | >"}};
  for (const auto name : groups)
    t.columns.insert(t.columns.end(), {{std::string(name) + ", first", ".2f"}, "random | .2f"});
  if (std::ranges::none_of(all, is_part_of_warp)) return t;
  unsigned first = 1;  // the first of several equal rows
  for (unsigned lanes = 1; lanes <= 32; ++lanes) {
    const auto scattered = lanes == 32 ? std::string() : fmt::format("{:08x}", scattered_lanes(lanes));
    std::vector<table_entry> cells{lanes};
    for (const auto name : groups)
      for (const auto& mask : {std::string(), scattered}) cells.push_back(cycles_of(all, name, lanes, mask));
    t.add(cells);
    const auto is_alike = [](const auto& a, const auto& b) {
      return std::equal(a.begin() + 1, a.end(), b.begin() + 1);
    };
    if (lanes == 1 || !is_alike(t.rows.back(), t.rows[t.rows.size() - 2])) {
      first = lanes;
      continue;
    }
    t.rows.pop_back();
    t.rows.back().front() = fmt::format("{} to {}", first, lanes);
  }
  return t;
}

}  // namespace mgsync::levels
