// Finds the subset of a given size with the least sum of costs over its pairs: the GPUs with the best links.
// Pure.
#pragma once

#include <array>
#include <functional>
#include <vector>

namespace mgsync::topology {

// The cost of a pair. Costs are added up over all pairs of a subset; sums are compared lexicographically.
struct pair_cost {
  std::array<int, 12> parts{};
  auto operator<=>(const pair_cost&) const = default;
  pair_cost& operator+=(const pair_cost& other) {
    for (std::size_t i = 0; i < parts.size(); ++i) parts[i] += other.parts[i];
    return *this;
  }
};

struct subset {
  std::vector<int> chosen;  // rising
  bool exact = true;        // false: too many things without any structure; then a local optimum
};

// The cheapest subset of `wanted` of the things 0..count-1 (0 <= wanted <= count); of equally cheap ones the
// one whose sorted numbers come first. `cost` is asked once per pair a < b. Method: things are split where
// all pairs between the parts cost the same (modular decomposition: a switch domain, a socket, a tray), each
// part is solved for every size, and parts are joined by dynamic programming. Only a part that does not split
// (a hybrid cube mesh) is searched subset by subset, which is exact up to 20 things.
subset cheapest_subset(int count, int wanted, const std::function<pair_cost(int, int)>& cost);

}  // namespace mgsync::topology
