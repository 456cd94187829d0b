#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "src/base/errors.hpp"
#include "topology/cpu_list.hpp"
#include "topology/placement.hpp"

namespace mgsync::topology {
namespace {

constexpr std::string_view accepted = "accepted: near, far, spread, list:ID,ID,...";

// The ten criteria of near, 1 for the worse case; bandwidth counts negatively.
std::array<int, 10> near_questions(const connection& c) {
  const auto is = [&](reach r) { return c.reach == r ? 1 : 0; };
  return {c.access == false ? 1 : 0,
          c.by_nvlink() ? 0 : 1,
          is(reach::sys) + is(reach::unknown),
          is(reach::node),
          is(reach::phb),
          is(reach::pxb),
          is(reach::trunk),
          c.by_nvlink() ? -static_cast<int>(std::lround(std::min(c.gbps, 1e4) * 10)) - c.nvlinks : 0,
          c.same_package ? 0 : 1,
          c.path == pcie_path::unknown ? static_cast<int>(pcie_path::sys) : static_cast<int>(c.path)};
}

std::vector<int> listed_gpus(std::span<const int> candidates, int wanted, const placement& p) {
  if (static_cast<int>(p.list.size()) < wanted)
    throw usage_error(fmt::format("--placement list:{} names {} GPUs for {} members", write_cpu_list(p.list),
                                  p.list.size(), wanted));
  std::vector<int> chosen(p.list.begin(), p.list.begin() + wanted);
  for (const int id : chosen)
    if (std::find(candidates.begin(), candidates.end(), id) == candidates.end())
      throw usage_error(fmt::format("--placement list: GPU {} cannot be used here; accepted: {}", id,
                                    write_cpu_list(candidates)));
  return chosen;
}

}  // namespace

placement parse_placement(std::string_view text) {
  if (text == "near") return {placement_kind::near, {}};
  if (text == "far") return {placement_kind::far, {}};
  if (text == "spread") return {placement_kind::spread, {}};
  const auto fail = [&] {
    throw usage_error(fmt::format("--placement '{}'; {}", text.substr(0, 100), accepted));
  };
  constexpr std::string_view prefix = "list:";
  if (!text.starts_with(prefix)) fail();
  const auto list = parse_cpu_list(text.substr(prefix.size()));
  if (!list || list->empty()) fail();
  auto sorted = *list;
  std::sort(sorted.begin(), sorted.end());
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end())
    throw usage_error(
        fmt::format("--placement '{}' names a number twice; {}", text.substr(0, 100), accepted));
  return {placement_kind::list, *list};
}

pair_cost placement_cost(const connection& c, placement_kind kind) {
  const auto questions = near_questions(c);
  pair_cost cost;
  if (kind == placement_kind::spread) {
    cost.parts[0] = c.same_package ? 1 : 0;
    cost.parts[1] = c.same_numa ? 1 : 0;
  }
  for (std::size_t i = 0; i < questions.size(); ++i)
    cost.parts[i + 2] = kind == placement_kind::far ? -questions[i] : questions[i];
  return cost;
}

subset choose_gpus(const connection_table& connections, std::span<const int> candidates, int wanted,
                   const placement& p) {
  if (p.kind == placement_kind::list) return {listed_gpus(candidates, wanted, p), true};
  std::vector<int> ids(candidates.begin(), candidates.end());
  std::sort(ids.begin(), ids.end());
  const auto id = [&](int i) { return ids[static_cast<std::size_t>(i)]; };
  // The two directions of a pair may differ: the worse one counts.
  auto result = cheapest_subset(static_cast<int>(ids.size()), wanted, [&](int a, int b) {
    return std::max(placement_cost(connections(id(a), id(b)), p.kind),
                    placement_cost(connections(id(b), id(a)), p.kind));
  });
  for (int& i : result.chosen) i = id(i);
  return result;
}

}  // namespace mgsync::topology
