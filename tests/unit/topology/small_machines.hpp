// Machines for tests, made by code where a fixture file would hide the point.
#pragma once

#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "topology/grouping.hpp"

namespace mgsync::topology::test {

// `packages` packages of `cores` cores with two hardware threads each; CPU n and n + all cores are one core.
inline machine host_machine(int packages, int cores) {
  machine m;
  m.host = "box";
  for (int p = 0; p < packages; ++p) {
    m.packages.push_back({p, ""});
    m.numa_nodes.push_back({p, p});
    for (int c = p * cores; c < (p + 1) * cores; ++c)
      m.cores.push_back({c, p, p, p, {c, packages * cores + c}});
  }
  m.allowed_cpus.resize(static_cast<std::size_t>(2 * packages * cores));
  std::iota(m.allowed_cpus.begin(), m.allowed_cpus.end(), 0);
  return m;
}

// The links of a DGX-1 with V100s: a hybrid cube mesh.
inline const std::vector<std::pair<std::pair<int, int>, int>>& cube_mesh() {
  static const std::vector<std::pair<std::pair<int, int>, int>> links = {
      {{0, 1}, 1}, {{0, 2}, 1}, {{0, 3}, 2}, {{0, 4}, 2}, {{1, 2}, 2}, {{1, 3}, 1}, {{1, 5}, 2}, {{2, 3}, 2},
      {{2, 6}, 1}, {{3, 7}, 1}, {{4, 5}, 1}, {{4, 6}, 1}, {{4, 7}, 2}, {{5, 6}, 2}, {{5, 7}, 1}, {{6, 7}, 2}};
  return links;
}

inline machine cube_mesh_machine() {
  machine m = host_machine(2, 4);
  for (int i = 0; i < 8; ++i) {
    gpu g;
    g.id = i;
    g.cuda_ordinal = i;
    g.uuid = "GPU-" + std::to_string(i);
    g.numa = i / 4;
    for (int c = 0; c < 4; ++c) g.near_cpus.push_back(i / 4 * 4 + c);
    m.gpus.push_back(g);
  }
  for (const auto& [ends, width] : cube_mesh())
    m.links.push_back({{end_kind::gpu, ends.first}, {end_kind::gpu, ends.second}, width, 2, 25});
  for (int from = 0; from < 8; ++from)
    for (int to = 0; to < 8; ++to) {
      if (from == to) continue;
      peer p{from, to, false, false, {}, from / 4 == to / 4 ? pcie_path::node : pcie_path::sys};
      for (const auto& [ends, width] : cube_mesh())
        if (ends == std::pair(std::min(from, to), std::max(from, to))) p.access = p.atomics = true;
      m.peers.push_back(p);
    }
  return m;
}

// `count` ranks on one host that all see `m`.
inline std::vector<rank_view> ranks_of(const machine& m, int count) {
  std::vector<rank_view> views;
  for (int i = 0; i < count; ++i) views.push_back({i, i, m});
  return views;
}

}  // namespace mgsync::topology::test
