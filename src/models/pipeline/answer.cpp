#include "src/models/pipeline/answer.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>

#include "src/base/units.hpp"

#include "src/base/errors.hpp"
#include "src/models/pipeline/closed_form.hpp"
#include "src/models/pipeline/simulator.hpp"

namespace mgsync::pipeline {

namespace {

constexpr double per_us = 1000.0 * ticks_per_ns;
constexpr std::size_t tiles_drawn = 2;
constexpr int stages_drawn = 256;  // of one output tile

double us(ticks t) { return static_cast<double>(t) / per_us; }

std::string in_words(const configuration& c) {
  return fmt::format("tile {}, {}, {}, {}", text(c.tile), counted(c.warps.buffers, "buffer"),
                     counted(c.warps.producers, "producer"), counted(c.warps.consumers, "consumer"));
}

std::string duration(ticks t) {
  return us(t) < 1e6 ? fmt::format("{:.3f} us", us(t)) : fmt::format("{:.6f} s", us(t) * 1e-6);
}

std::string solver_line(const gemm_answer& a) {
  using outcome = search_answer::outcome;
  if (!a.solver)
    return has_z3() ? "  solver       the last wave is another than the others, which the paper's "
                      "recurrences do not describe; brute force answers"
                    : "  solver       no Z3 in this build; brute force answers";
  const search_answer& z = *a.solver;
  if (z.how == outcome::time_out || z.how == outcome::unknown)
    return fmt::format("  solver       {}: {} ({}); brute force answers", z.by,
                       z.how == outcome::time_out ? "time-out" : "unknown", z.reason);
  if (z.how == outcome::nothing_fits) return fmt::format("  solver       {}: nothing fits", z.by);
  return fmt::format("  solver       {}: {} with {}, {:.2f} s: {}", z.by, duration(z.time.total),
                     in_words(z.best), z.seconds,
                     a.agree ? "the same optimum" : "NOT the same optimum as brute force");
}

bool was_measured(const machine& m, const configuration& c) {
  return std::ranges::any_of(m.tiles, [&](const tile_profile& p) {
    return p.tile == c.tile && p.consumers == c.warps.consumers && p.producers == c.warps.producers;
  });
}

// Sets the period from stage to stage, and the times that bound it from below: loading, multiplying, and the
// loop through the buffers.
void add_stage(const stage_times& t, const arrangement& warps, gemm_answer& a) {
  const ticks load = warps.producers == 1 ? t.a.issue + t.b.issue : std::max(t.a.issue, t.b.issue);
  const ticks latency = warps.producers == 1 ? std::max(t.a.latency, t.a.issue + t.b.latency)
                                             : std::max(t.a.latency, t.b.latency);
  const auto ns = [](ticks x) { return static_cast<double>(x) / ticks_per_ns; };
  a.steady_ns = steady_period(t, warps) / ticks_per_ns;
  a.loading_ns = ns(load + t.query);
  a.multiplying_ns = ns(t.math + t.query);
  a.loop_ns = ns(latency + t.math + 2 * t.handover) / warps.buffers;
}

}  // namespace

extent read_extent(std::string_view words, std::string_view option, std::string_view accepted) {
  std::array<int, 3> values{};
  const char* at = words.data();
  const char* const end = at + words.size();
  for (std::size_t i = 0; i < 3; ++i) {
    const auto [stop, error] = std::from_chars(at, end, values[i]);
    const bool separated = i == 2 ? stop == end : stop != end && *stop == 'x';
    if (error != std::errc() || !separated || values[i] < 1 || values[i] > 1048576)
      throw usage_error(fmt::format("--{} is '{}'; accepted: {}", option, words, accepted));
    at = stop + 1;
  }
  return {values[0], values[1], values[2]};
}

timeline first_stages(const sm_work& work, const arrangement& warps) {
  std::vector<stage_times> tiles(static_cast<std::size_t>(std::min<std::int64_t>(
                                     work.tiles, work.stages > stages_drawn ? 1 : tiles_drawn)),
                                 work.each);
  if (static_cast<std::int64_t>(tiles.size()) == work.tiles) tiles.back() = work.last;
  auto all = simulate(tiles, std::min(work.stages, stages_drawn), warps).activities;
  if (work.stages > stages_drawn)
    std::erase_if(all, [](const activity& one) { return one.kind == activity_kind::epilogue; });
  return to_timeline(all, ticks_per_ns);
}

gemm_answer answer(const gemm_question& question) {
  const auto& [size, on, space, limit] = question;
  gemm_answer a;
  a.best = brute_force(on, size, space);
  a.impossible = impossible(on, space.tiles);
  if (limit) a.solver = solve_with_z3(on, size, space, *limit);
  if (a.best.how != search_answer::outcome::optimal) return a;
  if (a.solver && a.solver->how == search_answer::outcome::optimal) a.agree = a.solver->time == a.best.time;
  if (a.solver && a.solver->how == search_answer::outcome::nothing_fits) a.agree = false;
  const configuration& best = a.best.best;
  a.why = relaxations(on, size, space, a.best);
  if (!a.why.empty() && a.why.front().gain_percent > 0) a.binds = a.why.front().what;
  a.output_tiles = output_tiles(size, best.tile);
  a.waves = waves(size, best.tile, on.sms);
  a.stages = stages(size, best.tile);
  const auto work = work_on(on, size, best.tile);
  add_stage(work.each, best.warps, a);
  a.tflops = 2e-6 * size.m * size.n * size.k / us(a.best.time.total);
  a.warnings = beyond_peaks(on, size, a.best.time.total);
  a.schedule = first_stages(work, best.warps);
  return a;
}

std::string to_text(const gemm_question& question, const gemm_answer& a) {
  const machine& on = question.on;
  std::string out = fmt::format("C = A B, {} on {}, {} SMs\n", text(question.size),
                                on.name.empty() ? "a machine without a name" : on.name, on.sms);
  const auto line = [&](const std::string& words) { out += words + "\n"; };
  if (!on.from.empty()) line("  machine      " + on.from);
  if (!a.impossible.empty())
    line(
        fmt::format("  impossible   no such machine exists: {}; trust no time of this answer", a.impossible));
  if (a.best.how != search_answer::outcome::optimal) {
    line(fmt::format(
        "  no configuration fits {} bytes of shared memory{}", on.shared_bytes,
        on.accumulator_bytes > 0 ? fmt::format(" and {} bytes of accumulators", on.accumulator_bytes) : ""));
    return out;
  }
  const configuration& best = a.best.best;
  line(fmt::format("  best         {}", in_words(best)));
  line(std::string("  measured     ") + (was_measured(on, best) ? "this tile was, beside others"
                                         : on.tiles.empty()
                                             ? "no tile of this machine was: lines only"
                                             : "no: no kernel with this tile and these consumers "
                                               "was compiled or measured"));
  line(fmt::format("  time         {}, {:.3f}{} of it the launch: {:.2f} TFLOP/s",
                   duration(a.best.time.total), on.launch_ns / 1000, us(a.best.time.total) < 1e6 ? "" : " us",
                   a.tflops));
  for (const auto& words : a.warnings) line("  warning      " + words);
  if (on.peak_tflops <= 0)
    line("  peak         unknown of this machine: nothing holds the time against it (\"peak_tflops\" in a "
         "machine file)");
  const std::int64_t last = a.output_tiles - static_cast<std::int64_t>(a.waves - 1) * on.sms;
  line(fmt::format("  schedule     {} in {} ({} in the last), {} each",
                   counted(a.output_tiles, "output tile"), counted(a.waves, "wave"), counted(last, "SM"),
                   counted(a.stages, "stage")));
  line(fmt::format("  a stage      {:.1f} ns: loading {:.1f}, multiplying {:.1f}, the loop of {} {:.1f}",
                   a.steady_ns, a.loading_ns, a.multiplying_ns, counted(best.warps.buffers, "buffer"),
                   a.loop_ns));
  line(
      fmt::format("  waiting      {} of the consumers on the most loaded SM", duration(a.best.time.waiting)));
  const std::int64_t used = buffer_bytes(on, best);
  line(fmt::format("  memory       {} of {} bytes; one more buffer {}", used, on.shared_bytes,
                   used + used / best.warps.buffers <= on.shared_bytes ? "would fit" : "would not fit"));
  line(fmt::format("  binds        {}", a.binds.empty() ? "nothing alone: no single change helps" : a.binds));
  for (const relaxation& r : a.why)
    if (r.gain_percent >= 0.05)
      line(fmt::format("    {:<28} twice as good: {:4.1f} % less time, with tile {} and {}", r.what,
                       r.gain_percent, text(r.best.tile), counted(r.best.warps.buffers, "buffer")));
  for (std::size_t i = 1; i < a.best.ties.size() && i < 6; ++i)
    line(fmt::format("  as fast      {}", in_words(a.best.ties[i])));
  if (a.best.ties.size() > 6) line(fmt::format("  as fast      {} more", a.best.ties.size() - 6));
  line(fmt::format("  searched     {} configurations that fit, by brute force, {:.3f} s", a.best.tried,
                   a.best.seconds));
  if (question.solver_limit) line(solver_line(a));
  for (const std::string& words : on.assumptions) line("  assumed      " + words);
  return out;
}

}  // namespace mgsync::pipeline
