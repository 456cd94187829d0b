#include "src/studies/levels/level_tables.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "src/studies/levels/level_points.hpp"

namespace mgsync::levels {

namespace {

constexpr std::array<std::string_view, 3> groups{"coalesced_sync", "syncwarp_mask", "coalesced_shuffle"};

std::string cycles_of(std::span<const level_value> all, std::string_view name, unsigned lanes,
                      const std::string& mask) {
  for (const auto& v : all)
    if (v.family == name && v.quantity == quantity::latency && v.lanes == lanes && v.mask == mask)
      return fmt::format("{:.2f}", v.value);
  return "-";
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
          {"lanes", "coalesced_sync, first", "random", "syncwarp_mask, first", "random",
           "coalesced_shuffle, first", "random"},
          {},
          std::vector<bool>(7, true)};
  if (std::ranges::none_of(all, is_part_of_warp)) return t;
  std::vector<std::string> before;
  unsigned first = 1;
  for (unsigned lanes = 1; lanes <= 32; ++lanes) {
    const auto scattered = lanes == 32 ? std::string() : fmt::format("{:08x}", scattered_lanes(lanes));
    std::vector<std::string> cells;
    for (const auto name : groups)
      for (const auto& mask : {std::string(), scattered}) cells.push_back(cycles_of(all, name, lanes, mask));
    if (cells == before) {
      t.rows.back().front() = fmt::format("{} to {}", first, lanes);
      continue;
    }
    before = cells;
    first = lanes;
    cells.insert(cells.begin(), std::to_string(lanes));
    t.rows.push_back(std::move(cells));
  }
  return t;
}

}  // namespace mgsync::levels
