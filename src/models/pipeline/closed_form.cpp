#include "src/models/pipeline/closed_form.hpp"

#include <algorithm>
#include <stdexcept>

namespace mgsync::pipeline {

namespace {

// An agent's own time from stage to stage, and the time from its start of a stage until the consumer can
// start that stage.
struct row {
  ticks step = 0;
  ticks arrives = 0;
};

struct rows {
  row a, b;        // equal where one producer loads both A and B
  ticks consumer;  // time of the consumer from stage to stage
};

rows rows_of(const stage_times& t, const arrangement& warps) {
  if (warps.producers == 2)
    return {{t.a.issue + t.query, t.a.latency}, {t.b.issue + t.query, t.b.latency}, t.math + t.query};
  const row both{t.a.issue + t.b.issue + t.query, std::max(t.a.latency, t.a.issue + t.b.latency)};
  return {both, both, t.math + t.query};
}

}  // namespace

ticks wave_time(const stage_times& t, int stages, const arrangement& warps) {
  const auto [a, b, consumer] = rows_of(t, warps);
  const ticks arrives = std::max(a.arrives, b.arrives);
  const ticks first = t.handover + t.math;
  const ticks loop = arrives + t.math + 2 * t.handover;
  ticks longest = 0;
  for (const ticks loops : {ticks{0}, ticks{(stages - 1) / warps.buffers}}) {
    const ticks steps = stages - 1 - loops * warps.buffers;
    longest =
        std::max({longest,
                  arrives + loops * loop + steps * consumer,  // the steps are the consumer's, or a producer's
                  a.arrives + loops * loop + steps * a.step, b.arrives + loops * loop + steps * b.step});
  }
  return first + longest;
}

double steady_period(const stage_times& t, const arrangement& warps) {
  const auto [a, b, consumer] = rows_of(t, warps);
  const ticks loop = std::max(a.arrives, b.arrives) + t.math + 2 * t.handover;
  return std::max(static_cast<double>(std::max({a.step, b.step, consumer})),
                  static_cast<double>(loop) / warps.buffers);
}

ticks waves_time(const sm_work& work, const arrangement& warps) {
  if (warps.persistent)
    throw std::invalid_argument("a persistent arrangement has no closed form; recurrences.hpp has its time");
  if (work.tiles < 1) throw std::invalid_argument("no output tile");
  if (work.first && warps.consumers != 1)
    throw std::invalid_argument("two consumers with another first output tile have no closed form");
  const ticks wave = wave_time(work.each, work.stages, warps),
              last = wave_time(work.last, work.stages, warps) + work.last.epilogue;
  const std::int64_t before = work.tiles - 1;
  if (warps.consumers == 1) {
    if (!work.first || before == 0) return before * (wave + work.each.epilogue) + last;
    return wave_time(*work.first, work.stages, warps) + work.first->epilogue +
           (before - 1) * (wave + work.each.epilogue) + last;
  }
  // Tile j begins when tile j - 1 is multiplied and the epilogue of tile j - 2 is done.
  const auto begin = [&](std::int64_t tile) {
    return tile / 2 * (wave + std::max(wave, work.each.epilogue)) + tile % 2 * wave;
  };
  return std::max(begin(before) + last, before > 0 ? begin(before - 1) + wave + work.each.epilogue : 0);
}

ticks waves_waiting(const sm_work& work, const arrangement& warps) {
  const auto waiting = [&](const stage_times& t) {
    return wave_time(t, work.stages, warps) - work.stages * t.math - (work.stages - 1) * t.query;
  };
  return (work.tiles - 1) * waiting(work.each) + waiting(work.last);
}

}  // namespace mgsync::pipeline
