#include "src/studies/reduction/gather_tree.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace mgsync::reduction {
namespace {

bool address_each_other(const topology::machine& machine, int a, int b) {
  return std::none_of(machine.peers.begin(), machine.peers.end(), [&](const topology::peer& p) {
    return ((p.from == a && p.to == b) || (p.from == b && p.to == a)) && !p.access.value_or(true);
  });
}

}  // namespace

std::vector<unsigned> gather_tree::children_of(unsigned member) const {
  std::vector<unsigned> all;
  for (unsigned i = 0; i < parents.size(); ++i)
    if (parents[i] == static_cast<int>(member)) all.push_back(i);
  return all;
}

gather_tree gather_tree_of(const topology::machine& machine, const std::vector<int>& gpus) {
  gather_tree tree;
  std::vector<std::vector<int>> sets;  // sets of indices of GPUs that can all address each other
  for (int i = 0; i < static_cast<int>(gpus.size()); ++i) {
    const auto reaches = [&](int other) {
      return address_each_other(machine, gpus[static_cast<std::size_t>(i)],
                                gpus[static_cast<std::size_t>(other)]);
    };
    const auto home = std::find_if(sets.begin(), sets.end(), [&](const auto& set) {
      return std::all_of(set.begin(), set.end(), reaches);
    });
    if (home != sets.end()) {
      tree.parents.push_back(home->front());
      home->push_back(i);
      continue;
    }
    int parent = -1;
    for (int before = 0; before < i && parent < 0; ++before)
      if (reaches(before)) parent = before;
    if (i > 0 && parent < 0 && tree.reason.empty())
      tree.reason =
          fmt::format("GPU {} can address none of the GPUs before it", gpus[static_cast<std::size_t>(i)]);
    tree.parents.push_back(parent);
    sets.push_back({i});
  }
  return tree;
}

std::string to_string(const gather_tree& tree) {
  std::string text;
  for (std::size_t i = 0; i < tree.parents.size(); ++i)
    if (tree.parents[i] >= 0) text += fmt::format("{}{}>{}", text.empty() ? "" : " ", i, tree.parents[i]);
  return text;
}

}  // namespace mgsync::reduction
