#include "src/studies/pipeline/answer.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>

#include "src/base/errors.hpp"
#include "src/studies/pipeline/closed_form.hpp"
#include "src/studies/pipeline/simulator.hpp"

namespace mgsync::pipeline {

namespace {

constexpr double per_us = 1000.0 * ticks_per_ns;
constexpr std::size_t tiles_drawn = 2;

double us(ticks t) { return static_cast<double>(t) / per_us; }

std::string in_words(const configuration& c) {
  return fmt::format("tile {}, {} buffer{}, {} producer{}, {} consumer{}", text(c.tile), c.warps.buffers,
                     c.warps.buffers == 1 ? "" : "s", c.warps.producers, c.warps.producers == 1 ? "" : "s",
                     c.warps.consumers, c.warps.consumers == 1 ? "" : "s");
}

std::string solver_line(const gemm_answer& a) {
  using outcome = search_answer::outcome;
  if (!a.solver)
    return has_z3() ? "  solver       the last wave is another than the others, which the paper's recurrences do not describe; brute force answers"
                    : "  solver       no Z3 in this build; brute force answers";
  const search_answer& z = *a.solver;
  if (z.how == outcome::time_out || z.how == outcome::unknown)
    return fmt::format("  solver       {}: {} ({}); brute force answers", z.by,
                       z.how == outcome::time_out ? "time-out" : "unknown", z.reason);
  if (z.how == outcome::nothing_fits) return fmt::format("  solver       {}: nothing fits", z.by);
  return fmt::format("  solver       {}: {:.3f} us with {}, {:.2f} s: {}", z.by, us(z.time.total), in_words(z.best),
                     z.seconds, a.agree ? "the same optimum" : "NOT the same optimum as brute force");
}

// What keeps the pipeline from going faster from stage to stage.
std::string stage_line(const stage_times& t, const arrangement& warps) {
  const ticks load = warps.producers == 1 ? t.a.issue + t.b.issue : std::max(t.a.issue, t.b.issue);
  const ticks latency = warps.producers == 1 ? std::max(t.a.latency, t.a.issue + t.b.latency) : std::max(t.a.latency, t.b.latency);
  const auto ns = [](double x) { return x / ticks_per_ns; };
  return fmt::format("  a stage      {:.1f} ns: loading {:.1f}, multiplying {:.1f}, the loop of {} buffer{} {:.1f}",
                     ns(steady_period(t, warps)), ns(static_cast<double>(load + t.query)),
                     ns(static_cast<double>(t.math + t.query)), warps.buffers, warps.buffers == 1 ? "" : "s",
                     ns(static_cast<double>(latency + t.math + 2 * t.handover) / warps.buffers));
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

gemm_answer answer(const gemm_question& question) {
  const auto& [size, on, space, limit] = question;
  gemm_answer a;
  a.best = brute_force(on, size, space);
  a.solver = solve_with_z3(on, size, space, limit);
  if (a.best.how != search_answer::outcome::optimal) return a;
  if (a.solver && a.solver->how == search_answer::outcome::optimal) a.agree = a.solver->time == a.best.time;
  if (a.solver && a.solver->how == search_answer::outcome::nothing_fits) a.agree = false;
  const configuration& best = a.best.best;
  a.why = relaxations(on, size, space, a.best);
  if (!a.why.empty() && a.why.front().gain_percent > 0) a.binds = a.why.front().what;
  a.output_tiles = output_tiles(size, best.tile);
  a.waves = waves(size, best.tile, on.sms);
  a.stages = stages(size, best.tile);
  auto tiles = waves_on(on, size, best.tile);
  a.steady_ns = steady_period(tiles.front(), best.warps) / ticks_per_ns;
  if (tiles.size() > tiles_drawn) tiles.resize(tiles_drawn);
  a.schedule = to_timeline(simulate(tiles, a.stages, best.warps).activities, ticks_per_ns);
  return a;
}

std::string to_text(const gemm_question& question, const gemm_answer& a) {
  const machine& on = question.on;
  std::string out = fmt::format("C = A B, {} on {}, {} SMs\n", text(question.size), on.name.empty() ? "a machine without a name" : on.name, on.sms);
  const auto line = [&](const std::string& words) { out += words + "\n"; };
  if (a.best.how != search_answer::outcome::optimal) {
    line(fmt::format("  no configuration fits {} bytes of shared memory{}", on.shared_bytes,
                     on.accumulator_bytes > 0 ? fmt::format(" and {} bytes of accumulators", on.accumulator_bytes) : ""));
    return out;
  }
  const configuration& best = a.best.best;
  const double flops = 2.0 * question.size.m * question.size.n * question.size.k;
  line(fmt::format("  best         {}", in_words(best)));
  line(fmt::format("  time         {:.3f} us, {:.3f} of it the launch: {:.2f} TFLOP/s", us(a.best.time.total),
                   on.launch_ns / 1000, flops / us(a.best.time.total) * 1e-6));
  const std::int64_t last = a.output_tiles - static_cast<std::int64_t>(a.waves - 1) * on.sms;
  line(fmt::format("  schedule     {} output tiles in {} wave{} ({} SMs in the last), {} stages each", a.output_tiles,
                   a.waves, a.waves == 1 ? "" : "s", last, a.stages));
  line(stage_line(times_on(on, best.tile, static_cast<int>(std::min<std::int64_t>(a.output_tiles, on.sms))), best.warps));
  line(fmt::format("  waiting      {:.3f} us of the consumers on the most loaded SM", us(a.best.time.waiting)));
  const std::int64_t used = buffer_bytes(on, best);
  line(fmt::format("  memory       {} of {} bytes; one more buffer {}", used, on.shared_bytes,
                   used + used / best.warps.buffers <= on.shared_bytes ? "would fit" : "would not fit"));
  line(fmt::format("  binds        {}", a.binds.empty() ? "nothing alone: no single change helps" : a.binds));
  for (const relaxation& r : a.why)
    if (r.gain_percent >= 0.05)
      line(fmt::format("    {:<28} twice as good: {:4.1f} % less time, with tile {} and {} buffer{}", r.what, r.gain_percent,
                       text(r.best.tile), r.best.warps.buffers, r.best.warps.buffers == 1 ? "" : "s"));
  for (std::size_t i = 1; i < a.best.ties.size() && i < 6; ++i) line(fmt::format("  as fast      {}", in_words(a.best.ties[i])));
  if (a.best.ties.size() > 6) line(fmt::format("  as fast      {} more", a.best.ties.size() - 6));
  line(fmt::format("  searched     {} configurations that fit, by brute force, {:.3f} s", a.best.tried, a.best.seconds));
  line(solver_line(a));
  for (const std::string& words : on.assumptions) line("  assumed      " + words);
  return out;
}

}  // namespace mgsync::pipeline
