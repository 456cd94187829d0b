#include <algorithm>
#include <cmath>
#include <string_view>

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

namespace {

struct recorded_part {
  std::string what;  // "load", "multiply", "store"
  int stage = 0;     // of all of the block
  double begin = 0, end = 0;
};

std::vector<recorded_part> measured_parts(std::span<const recorded_row> rows, double ns_per_cycle) {
  std::vector<recorded_part> all;
  for (const recorded_row& r : rows)
    all.push_back({r.what, r.stage, r.begin * ns_per_cycle, r.end * ns_per_cycle});
  return all;
}

// The same of the simulator, from the first load on.
std::vector<recorded_part> simulated_parts(const recorded_row& like, const tile_profile& p, int tiles,
                                           int sms) {
  const sm_work work = work_with(p, like.size, {like.buffers, like.blocks}, sms);
  std::vector<stage_times> each(static_cast<std::size_t>(tiles), work.each);
  if (work.first) each.front() = *work.first;
  each.back() = work.last;
  std::vector<recorded_part> all;
  for (const activity& a : simulate(each, work.stages, {1, 1, like.buffers, true}).activities) {
    const char* what = a.kind == activity_kind::load_a     ? "load"
                       : a.kind == activity_kind::math     ? "multiply"
                       : a.kind == activity_kind::epilogue ? "store"
                                                           : nullptr;  // B is loaded with A
    const bool stores = a.kind == activity_kind::epilogue;
    if (what != nullptr)
      all.push_back({what, a.tile * work.stages + (stores ? work.stages - 1 : a.stage),
                     static_cast<double>(a.begin) / ticks_per_ns, static_cast<double>(a.end) / ticks_per_ns});
  }
  return all;
}

double end_of(std::span<const recorded_part> all, std::string_view what) {
  double end = 0;
  for (const auto& part : all)
    if (part.what == what) end = std::max(end, part.end);
  return end;
}

}  // namespace

mgsync::timeline recorded_over_simulated(std::span<const recorded_row> rows, const tile_profile& p,
                                         const machine_facts& facts) {
  const recorded_row& any = rows.front();
  int tiles = 1;
  for (const recorded_row& r : rows) tiles = std::max(tiles, r.output_tile + 1);
  const auto clock = facts.others.find("highest_clock_mhz");
  const double mhz = clock == facts.others.end() ? 1000 : in_unit(clock->second, "MHz").value_or(1000);
  const auto measured = measured_parts(rows, 1000 / mhz),
             simulated = simulated_parts(any, p, tiles, facts.sms);
  mgsync::timeline picture{{"pipeline-recorded", "", ""}, "ns", {}, 0};
  const auto add = [&](const std::vector<recorded_part>& all, int buffer, const char* how) {
    const bool stores = buffer == any.buffers;
    track one{stores ? fmt::format("C, {}", how) : fmt::format("buffer {}, {}", buffer, how), {}};
    for (const auto& part : all)
      if (stores ? part.what == "store" : part.what != "store" && part.stage % any.buffers == buffer)
        one.events.push_back({part.what, part.begin, part.end, fmt::format("stage {}", part.stage)});
    std::ranges::stable_sort(one.events, {}, &event::begin);
    picture.tracks.push_back(std::move(one));
  };
  for (int buffer = 0; buffer <= any.buffers; ++buffer) {
    add(measured, buffer, "recorded");
    add(simulated, buffer, "simulated");
  }
  picture.heading.title = fmt::format("Recorded over simulated: {}, {}, {}, {}", any.family, text(any.tile),
                                      text(any.size), counted(any.buffers, "buffer"));
  picture.heading.caption = fmt::format(
      "{} of one block, by its SM's cycle counter at {:.0f} MHz, and as simulated from what calibration "
      "measured of this tile. load: until both copies have arrived. The last multiplication ends {:+.1f} % "
      "off, the last store {:+.1f} %.",
      counted(tiles, "output tile"), mhz,
      100 * (end_of(simulated, "multiply") / end_of(measured, "multiply") - 1),
      100 * (end_of(simulated, "store") / end_of(measured, "store") - 1));
  return picture;
}

}  // namespace mgsync::pipeline
