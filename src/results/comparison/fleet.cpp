#include "src/results/comparison/fleet.hpp"

#include <algorithm>
#include <cmath>

namespace mgsync {

void fleet::add(const acceptance& a) {
  fleet_run run{a.node,    a.started, a.verdict == node_verdict_kind::normal ? "" : a.sentence,
                a.against, a.gpus,    a.verdict,
                {}};
  for (const auto& p : a.points) {
    if (!(p.us > 0)) continue;
    kind of{a.kind, p.subject, p.shape, p.together};
    const auto [at, fresh] = places_.try_emplace(of, static_cast<std::uint32_t>(kinds_.size()));
    if (fresh) kinds_.push_back(std::move(of)), references_.emplace_back();
    auto& held = references_[at->second];
    if (p.base_us > 0) held.reference_us = p.base_us;
    held.most_times = std::max(held.most_times, p.times);
    if (p.limit > 0) held.least_limit = held.least_limit > 0 ? std::min(held.least_limit, p.limit) : p.limit;
    fleet_value v{at->second, -1, -1, static_cast<float>(std::log(p.us))};
    if (p.members.size() > 2) v.first = fleet_value::all_gpus;
    else if (!p.members.empty()) {
      v.first = static_cast<std::int16_t>(p.members[0]);
      if (p.members.size() == 2) v.second = static_cast<std::int16_t>(p.members[1]);
    }
    run.values.push_back(v);
  }
  runs_.push_back(std::move(run));
}

}  // namespace mgsync
