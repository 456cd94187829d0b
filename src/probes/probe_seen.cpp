#include "src/probes/probe_seen.hpp"

#include <algorithm>
#include <limits>
#include <map>

namespace mgsync::probes {

namespace {

struct edges {
  std::uint64_t first_begin = std::numeric_limits<std::uint64_t>::max(), last_begin = 0;
  std::uint64_t first_end = std::numeric_limits<std::uint64_t>::max(), last_end = 0;
  std::uint32_t warps = 0;

  void add(const stamp& s) {
    first_begin = std::min(first_begin, s.begin);
    last_begin = std::max(last_begin, s.begin);
    first_end = std::min(first_end, s.end);
    last_end = std::max(last_end, s.end);
    ++warps;
  }
  pass_of_sm as_pass(std::uint32_t pass, std::uint32_t sm) const {
    return {pass, sm, warps, static_cast<std::int64_t>(first_end) - static_cast<std::int64_t>(last_begin),
            last_end - first_begin};
  }
};

}  // namespace

std::vector<pass_of_sm> probe_seen::passes() const {
  return asked.window_log2_ns == 0 ? passes_by_number() : passes_by_window();
}

std::vector<pass_of_sm> probe_seen::passes_by_number() const {
  std::vector<pass_of_sm> result;
  for (std::uint32_t pass = 1; pass < asked.passes; ++pass) {
    std::map<std::uint32_t, edges> by_sm;
    for (std::uint32_t warp = 0; warp < warps; ++warp) {
      const auto& s = stamps[static_cast<std::size_t>(pass) * warps + warp];
      if (s.end != 0 && sm_at_start[warp] == sm_at_end[warp]) by_sm[sm_at_start[warp]].add(s);
    }
    for (const auto& [sm, e] : by_sm) result.push_back(e.as_pass(pass, sm));
  }
  return result;
}

std::vector<pass_of_sm> probe_seen::passes_by_window() const {
  // Half a window at 1 GHz: far more than the timer's step, and far less than the distance of two starts.
  const std::uint64_t gap_cycles = std::uint64_t{1} << (asked.window_log2_ns - 1);
  std::map<std::uint32_t, std::vector<stamp>> by_sm;
  std::map<std::uint32_t, std::uint32_t> warps_of_sm;
  for (std::uint32_t warp = 0; warp < warps; ++warp) {
    if (sm_at_start[warp] != sm_at_end[warp]) continue;
    ++warps_of_sm[sm_at_start[warp]];
    for (std::uint32_t pass = 1; pass < asked.passes; ++pass)
      if (const auto& s = stamps[static_cast<std::size_t>(pass) * warps + warp]; s.end != 0)
        by_sm[sm_at_start[warp]].push_back(s);
  }
  std::vector<pass_of_sm> result;
  for (auto& [sm, all] : by_sm) {
    std::ranges::sort(all, {}, &stamp::begin);
    std::uint32_t number = 1;
    for (std::size_t k = 0; k < all.size();) {
      edges e;
      do e.add(all[k++]);
      while (k < all.size() && all[k].begin - all[k - 1].begin < gap_cycles);
      if (e.warps == warps_of_sm[sm]) result.push_back(e.as_pass(number++, sm));
    }
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
