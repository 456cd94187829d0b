#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "src/base/units.hpp"
#include "src/studies/pipeline/shown_study.hpp"

namespace mgsync::pipeline {

mgsync::timeline simulated_over_measured(std::span<const stamp_row> rows, const semaphore_costs& costs) {
  const stamp_row& any = rows.front();
  const int buffers = any.semaphore == "block-barrier" ? 1 : any.buffers;
  const auto length = [&](double cycles) { return static_cast<ticks>(std::llround(cycles + costs.item)); };
  stage_times t;
  t.a.issue = t.a.latency = length(any.load_a_cycles);
  t.b.issue = t.b.latency = length(any.load_b_cycles);
  t.math = length(any.math_cycles);
  t.query = std::llround(costs.query);
  t.handover = std::llround(costs.handover);
  const auto measured = activities_of(rows);
  const auto simulated =
      simulate(std::span(&t, 1), any.stages, {any.producers, 1, buffers, false}).activities;
  mgsync::timeline picture{
      {fmt::format("pipeline-timeline-{}-{}", any.semaphore, any.timeline), "", ""}, "cycles", {}, 0};
  const ticks shift =
      measured.front().begin - simulated.front().begin;  // aligns the starts of the first loads
  const auto add = [&](const std::vector<activity>& all, bool consumer, int agent, const char* how,
                       ticks by) {
    track one{fmt::format("{}, {}",
                          consumer             ? "consumer"
                          : any.producers == 1 ? "producer"
                          : agent == 0         ? "producer A"
                                               : "producer B",
                          how),
              {}};
    for (const activity& a : all) {
      if ((a.kind == activity_kind::math) != consumer || (!consumer && a.agent != agent) ||
          a.kind == activity_kind::epilogue)
        continue;
      const char* what = a.kind == activity_kind::math     ? "multiply"
                         : a.kind == activity_kind::load_a ? "load A"
                                                           : "load B";
      one.events.push_back({what, static_cast<double>(a.begin + by), static_cast<double>(a.end + by),
                            fmt::format("stage {}", a.stage)});
    }
    picture.tracks.push_back(std::move(one));
  };
  for (int agent = 0; agent <= any.producers; ++agent) {
    add(measured, agent == any.producers, agent, "measured", 0);
    add(simulated, agent == any.producers, agent, "simulated", shift);
  }
  double measured_end = 0, simulated_end = 0;
  for (const activity& a : measured) measured_end = std::max(measured_end, static_cast<double>(a.end));
  for (const activity& a : simulated)
    simulated_end = std::max(simulated_end, static_cast<double>(a.end + shift));
  picture.heading.title = fmt::format("Simulated over measured: {}, {}, {}", any.semaphore,
                                      counted(any.producers, "producer"), counted(buffers, "buffer"));
  picture.heading.caption =
      fmt::format("{} stages of the synthetic kernel on one SM, by its cycle counter, and as simulated; "
                  "asked for were {:.0f}, {:.0f} and {:.0f} cycles of "
                  "loading A, loading B and multiplying. The last multiplication ends {:+.1f} % off.",
                  any.stages, any.load_a_cycles, any.load_b_cycles, any.math_cycles,
                  100 * (simulated_end / measured_end - 1));
  return picture;
}

}  // namespace mgsync::pipeline
