#include "src/studies/probes/probe_seen.hpp"

#include <algorithm>
#include <limits>
#include <map>

namespace mgsync::probes {

std::vector<pass_of_sm> probe_seen::passes() const {
  struct edges {
    std::uint64_t first_begin = std::numeric_limits<std::uint64_t>::max(), last_begin = 0;
    std::uint64_t first_end = std::numeric_limits<std::uint64_t>::max(), last_end = 0;
    std::uint32_t warps = 0;
  };
  std::vector<pass_of_sm> result;
  for (std::uint32_t pass = 1; pass < asked.passes; ++pass) {
    std::map<std::uint32_t, edges> by_sm;
    for (std::uint32_t warp = 0; warp < warps; ++warp) {
      const auto& s = stamps[static_cast<std::size_t>(pass) * warps + warp];
      if (s.end == 0 || sm_at_start[warp] != sm_at_end[warp]) continue;
      auto& e = by_sm[sm_at_start[warp]];
      e.first_begin = std::min(e.first_begin, s.begin);
      e.last_begin = std::max(e.last_begin, s.begin);
      e.first_end = std::min(e.first_end, s.end);
      e.last_end = std::max(e.last_end, s.end);
      ++e.warps;
    }
    for (const auto& [sm, e] : by_sm)
      result.push_back({pass, sm, e.warps, static_cast<std::int64_t>(e.first_end) - static_cast<std::int64_t>(e.last_begin),
                        e.last_end - e.first_begin});
  }
  return result;
}

std::vector<std::int64_t> probe_seen::latency_cycles() const {
  std::vector<std::int64_t> cycles;
  const auto all = passes();
  for (const auto& p : all)
    if (p.sm == all.front().sm) cycles.push_back(p.latency_cycles);
  return cycles;
}

}  // namespace mgsync::probes
