#include "src/models/pipeline/search.hpp"

#include <algorithm>
#include <functional>
#include <tuple>

#include "src/models/pipeline/closed_form.hpp"
#include "src/models/pipeline/recurrences.hpp"

namespace mgsync::pipeline {

namespace {

ticks launch_of(const machine& m) {
  return static_cast<ticks>(m.launch_ns * static_cast<double>(ticks_per_ns) + 0.5);
}

}  // namespace

#ifndef MGSYNC_WITH_Z3
bool has_z3() { return false; }
std::optional<search_answer> solve_with_z3(const machine&, extent, const search_space&,
                                           std::chrono::milliseconds) {
  return std::nullopt;
}
#endif

ticks lower_bound(const machine& m, extent size, const configuration& c) {
  const auto work = work_on(m, size, c.tile);
  const auto sum = [&](auto of_tile) { return (work.tiles - 1) * of_tile(work.each) + of_tile(work.last); };
  const ticks a = sum([&](const stage_times&t) { return work.stages * t.a.issue; }),
              b = sum([&](const stage_times&t) { return work.stages * t.b.issue; });
  const ticks math = sum(
      [&](const stage_times& t) { return work.stages * t.math + (c.warps.consumers == 1 ? t.epilogue : 0); });
  return launch_of(m) + std::max(math, c.warps.producers == 1 ? a + b : std::max(a, b));
}

search_space paper_space() {
  search_space space{{}, {1, 2, 3, 4}, {1}};
  for (const int tm : {128, 64})
    for (const int tn : {128, 64})
      for (const int tk : {128, 64}) space.tiles.push_back({tm, tn, tk});
  return space;
}

search_space wide_space() {
  search_space space{{}, {1, 2, 3, 4, 5, 6, 7, 8}, {1, 2}};
  for (int tm = 256; tm >= 64; tm -= 64)
    for (int tn = 256; tn >= 64; tn -= 64)
      for (int tk = 128; tk >= 16; tk -= 16) space.tiles.push_back({tm, tn, tk});
  return space;
}

prediction predict(const machine& m, extent size, const configuration& c) {
  const auto work = work_on(m, size, c.tile);
  if (!c.warps.persistent) return {launch_of(m) + waves_time(work, c.warps), waves_waiting(work, c.warps)};
  const auto [total, waiting] = persistent_time(work, c.warps);
  return {launch_of(m) + total, waiting};
}

std::vector<configuration> candidates(const machine& m, const search_space& space) {
  std::vector<configuration> all;
  for (const extent& tile : space.tiles)
    for (const int consumers : space.consumers)
      for (const int buffers : space.buffers)
        if (const configuration c{tile, {m.producers, consumers, buffers, m.persistent}}; fits(m, c))
          all.push_back(c);
  return all;
}

search_answer brute_force(const machine& m, extent size, const search_space& space) {
  const auto begin = std::chrono::steady_clock::now();
  search_answer answer;
  answer.by = "brute force";
  auto all = candidates(m, space);
  answer.tried = all.size();
  std::vector<std::pair<ticks, configuration>> by_bound;
  for (const configuration& c : all) by_bound.emplace_back(lower_bound(m, size, c), c);
  std::stable_sort(by_bound.begin(), by_bound.end(),
                   [](const auto& x, const auto& y) { return x.first < y.first; });
  std::vector<std::pair<prediction, configuration>> seen;
  ticks least = 0;
  for (const auto& [bound, c] : by_bound) {
    if (!seen.empty() && bound > least) break;
    const prediction time = predict(m, size, c);
    least = seen.empty() ? time.total : std::min(least, time.total);
    seen.emplace_back(time, c);
  }
  std::erase_if(seen, [&](const auto& one) { return one.first.total != least; });
  const auto place = [&](const configuration& c) {
    return std::find(all.begin(), all.end(), c) - all.begin();
  };
  std::sort(seen.begin(), seen.end(), [&](const auto& x, const auto& y) {
    return std::make_tuple(x.first.waiting, buffer_bytes(m, x.second), place(x.second)) <
           std::make_tuple(y.first.waiting, buffer_bytes(m, y.second), place(y.second));
  });
  if (!seen.empty()) {
    answer.how = search_answer::outcome::optimal;
    answer.time = seen.front().first;
    answer.best = seen.front().second;
    for (const auto& [_, c] : seen) answer.ties.push_back(c);
  }
  answer.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return answer;
}

std::vector<relaxation> relaxations(const machine& m, extent size, const search_space& space,
                                    const search_answer& now) {
  struct change {
    const char* what;
    std::function<void(machine&)> apply;
  };
  const std::vector<change> changes = {
      {"DMA throughput",
       [](machine& x) {
         x.dma.per_ns *= 2;
         x.chip_bytes_per_ns *= 2;
       }},
      {"DMA startup and latency",
       [](machine& x) {
         x.dma.startup_ns /= 2;
         x.dma_latency_ns /= 2;
       }},
      {"MATH throughput",
       [](machine& x) {
         x.math.per_ns *= 2;
         x.math_peak_per_ns *= 2;
       }},
      {"MATH startup", [](machine& x) { x.math.startup_ns /= 2; }},
      {"shared memory", [](machine& x) { x.shared_bytes *= 2; }},
      {"registers of the accumulators", [](machine& x) { x.accumulator_bytes *= 2; }},
      {"number of SMs",
       [](machine& x) {
         x.sms *= 2;
         x.chip_bytes_per_ns *= 2;
       }},
      {"launch", [](machine& x) { x.launch_ns /= 2; }},
      {"epilogue",
       [](machine& x) {
         x.epilogue.startup_ns /= 2;
         x.epilogue.per_ns *= 2;
       }},
      {"semaphores",
       [](machine& x) {
         x.query_ns /= 2;
         x.handover_ns /= 2;
       }},
  };
  std::vector<relaxation> found;
  for (const change& one : changes) {
    machine better = m;
    one.apply(better);
    if (better == m) continue;
    const search_answer then = brute_force(better, size, space);
    if (then.how != search_answer::outcome::optimal) continue;
    const double gain =
        100.0 * (1 - static_cast<double>(then.time.total) / static_cast<double>(now.time.total));
    found.push_back({one.what, gain, then.best});
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& x, const auto& y) { return x.gain_percent > y.gain_percent; });
  return found;
}

}  // namespace mgsync::pipeline
