#include "topology/reports/survey.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "src/base/errors.hpp"

namespace mgsync::topology {
namespace {

std::vector<int> ids_of(const grouping& g) {
  std::vector<int> ids;
  for (const auto& m : g.chosen.members) {
    if (g.chosen.device == device::gpu) {
      ids.push_back(m.id);
    } else {
      ids.insert(ids.end(), m.cpus.begin(), m.cpus.end());
    }
  }
  return ids;
}

// All sizes of GPU groups up to 16; then, and for host groups (there may be hundreds of cores), sizes double.
std::vector<int> sizes(device kind, int largest) {
  constexpr int most_in_steps_of_one = 16;
  std::vector<int> result;
  for (int n = 1; n <= largest; n = kind == device::gpu && n < most_in_steps_of_one ? n + 1 : 2 * n)
    result.push_back(n);
  if (largest > 0 && result.back() != largest) result.push_back(largest);
  return result;
}

const core* core_of(const machine& m, int cpu) {
  for (const auto& c : m.cores)
    if (std::find(c.cpus.begin(), c.cpus.end(), cpu) != c.cpus.end()) return &c;
  return nullptr;
}

std::string why(const machine& m, const member& placed, device kind) {
  if (placed.cpus.empty()) return "not pinned";
  const auto* c = core_of(m, placed.cpus.front());
  const auto place =
      c == nullptr ? std::string("unknown core") : fmt::format("core {}, NUMA node {}", c->id, c->numa);
  if (kind == device::host) return place;
  // Descriptions may lack UUIDs.
  const auto g = std::find_if(m.gpus.begin(), m.gpus.end(), [&](auto& candidate) {
    return placed.uuid.empty() ? candidate.id == placed.id : candidate.uuid == placed.uuid;
  });
  if (g == m.gpus.end() || g->near_cpus.empty()) return place + "; the GPU's place is unknown";
  const bool near =
      std::find(g->near_cpus.begin(), g->near_cpus.end(), placed.cpus.front()) != g->near_cpus.end();
  return place + (near ? ", near the GPU" : ", far from the GPU: no core near it is left in the mask");
}

}  // namespace

survey survey_of(std::span<const rank_view> views, const report_request& request) {
  survey result;
  if (views.empty()) return result;
  const int gpus = largest_group(views, device::gpu, request.members_per_rank);
  result.kind = gpus > 0 ? device::gpu : device::host;
  const int largest = gpus > 0 ? gpus : largest_group(views, device::host, request.members_per_rank);
  const auto form = [&](int members, const char* placement) {
    return make_group(views, {result.kind, members, request.members_per_rank, 1, placement, request.pin});
  };
  for (const int n : sizes(result.kind, largest))
    result.groups.push_back({n, ids_of(form(n, "near")), ids_of(form(n, "far")), ids_of(form(n, "spread"))});
  if (largest > 0) {
    const auto all = form(largest, "near");
    result.notes = all.notes;
    for (const auto& m : all.chosen.members) {
      const auto view = std::find_if(views.begin(), views.end(), [&](auto& v) { return v.rank == m.rank; });
      result.pins.push_back({m.rank, m.host, m.id,
                             m.cpus.empty() ? std::nullopt : std::optional(m.cpus.front()),
                             why(view->seen, m, result.kind)});
    }
  }
  result.findings = find_problems(views, request.members_per_rank);
  result.differences = differences(views);
  return result;
}

}  // namespace mgsync::topology
