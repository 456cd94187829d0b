#include "src/models/pipeline/simulator.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <queue>
#include <stdexcept>
#include <tuple>

#include <fmt/format.h>

namespace mgsync::pipeline {

namespace {

// The event loop of the simulation. Stages are counted over all output tiles of the part that is simulated; a
// stage uses slot = stage modulo buffers.
class event_loop {
 public:
  event_loop(std::span<const stage_times> tiles, int first_tile, int stages, const arrangement& warps,
             fault broken)
      : tiles_(tiles),
        first_tile_(first_tile),
        stages_(stages),
        warps_(warps),
        broken_(broken),
        all_(static_cast<int>(tiles.size()) * stages),
        loads_seen_(all_, 0),
        released_(all_, false),
        producers_(warps.producers),
        consumers_(warps.consumers) {
    for (int c = 0; c < warps.consumers; ++c) consumers_[c].stage = c * stages;
  }

  // Handles events until there are none left.
  void run(ticks begin) {
    for (int p = 0; p < warps_.producers; ++p) wake(begin, kind::producer, p);
    for (int c = 0; c < warps_.consumers; ++c) wake(begin, kind::consumer, c);
    while (!events_.empty()) {
      const event next = events_.top();
      events_.pop();
      now_ = next.at;
      handle(next);
    }
  }

  std::vector<activity> activities;
  ticks math_end = 0;
  ticks waiting = 0;
  ticks epilogue_end = 0;

 private:
  enum class kind { load_seen, buffer_free, turn, producer, consumer };
  struct event {
    ticks at;
    int order;
    kind what;
    int which;
    bool operator<(const event& other) const { return std::tie(at, order) > std::tie(other.at, other.order); }
  };
  struct producer_state {
    int stage = 0;
    bool b_next = false;  // one producer: the load of A is under way, and B follows
    bool idle = false;    // is waiting for a buffer
    ticks busy_until = 0;
  };
  struct consumer_state {
    int stage = 0;
    bool idle = false;
    ticks idle_since = 0;
    ticks busy_until = 0;
  };

  const stage_times& times(int stage) const { return tiles_[static_cast<std::size_t>(stage / stages_)]; }
  void wake(ticks at, kind what, int which) { events_.push({at, order_++, what, which}); }

  void handle(const event& e) {
    switch (e.what) {
    case kind::load_seen:
      ++loads_seen_[e.which];
      wake_idle(consumers_, kind::consumer);
      break;
    case kind::buffer_free:
      released_[e.which] = true;
      wake_idle(producers_, kind::producer);
      break;
    case kind::turn:
      turn_ = e.which;
      wake_idle(consumers_, kind::consumer);
      break;
    case kind::producer: produce(e.which); break;
    case kind::consumer: consume(e.which); break;
    }
  }

  template <class States>
  void wake_idle(States& states, kind what) {
    for (int i = 0; i < static_cast<int>(states.size()); ++i)
      if (states[i].idle) wake(now_, what, i);
  }

  void produce(int p) {
    producer_state& me = producers_[p];
    if (me.stage >= all_ || now_ < me.busy_until)
      return;  // several events at the same time may wake an agent twice
    const int before = me.stage - warps_.buffers;
    if (!me.b_next && before >= 0 && !released_[before] && broken_ != fault::producer_never_waits) {
      me.idle = true;
      return;
    }
    me.idle = false;
    const stage_times& t = times(me.stage);
    const bool loads_b = me.b_next || (warps_.producers == 2 && p == 1);
    const load_time load = loads_b ? t.b : t.a;
    add(loads_b ? activity_kind::load_b : activity_kind::load_a, p, me.stage, load.latency, load.issue);
    wake(now_ + load.latency + t.handover, kind::load_seen, me.stage);
    const bool stage_done = warps_.producers == 2 || loads_b;
    me.b_next = !stage_done;
    if (stage_done) ++me.stage;
    me.busy_until = now_ + load.issue + (stage_done ? t.query : 0);
    wake(me.busy_until, kind::producer, p);
  }

  void consume(int c) {
    consumer_state& me = consumers_[c];
    if (me.stage >= all_ || now_ < me.busy_until) return;
    const bool ready = loads_seen_[me.stage] == 2 || broken_ == fault::consumer_never_waits;
    if (!ready || turn_ != me.stage) {
      if (!me.idle) me.idle_since = now_;
      me.idle = true;
      return;
    }
    if (me.idle) waiting += now_ - me.idle_since;
    me.idle = false;
    const stage_times& t = times(me.stage);
    add(activity_kind::math, c, me.stage, t.math, t.math);
    const ticks end = now_ + t.math;
    math_end = std::max(math_end, end);
    wake(end + t.handover, kind::buffer_free, me.stage);
    const bool last = (me.stage + 1) % stages_ == 0;
    // Wakes whoever multiplies the next stage: this consumer, or the other one, which may be waiting for its
    // turn with the next tile.
    wake(end + (last && warps_.consumers == 2 ? t.handover : 0), kind::turn, me.stage + 1);
    const ticks free = end + (last ? t.epilogue : 0);
    if (last) epilogue_end = free;
    if (last && t.epilogue > 0)
      activities.push_back(made(activity_kind::epilogue, c, me.stage, end, free, free));
    me.stage += 1 + (last ? (warps_.consumers - 1) * stages_ : 0);
    me.busy_until = free + t.query;
    wake(me.busy_until, kind::consumer, c);
  }

  activity made(activity_kind what, int agent, int stage, ticks begin, ticks end, ticks released) const {
    return {what, agent, first_tile_ + stage / stages_, stage % stages_, begin, end, released};
  }
  void add(activity_kind what, int agent, int stage, ticks lasts, ticks engine) {
    activities.push_back(made(what, agent, stage, now_, now_ + lasts, now_ + engine));
  }

  std::span<const stage_times> tiles_;
  int first_tile_;
  int stages_;
  arrangement warps_;
  fault broken_;
  int all_;
  std::vector<int> loads_seen_;
  std::vector<bool> released_;
  std::vector<producer_state> producers_;
  std::vector<consumer_state> consumers_;
  std::priority_queue<event> events_;
  int order_ = 0;
  ticks now_ = 0;
  int turn_ = 0;
};

constexpr std::int64_t most_stages = 1 << 24;  // of all output tiles; each takes some 200 bytes

int most_in_flight(std::span<const activity> all) {
  std::map<std::pair<int, int>, std::pair<ticks, ticks>>
      lives;  // when a stage's buffer is in use: from its first load to the end of multiplying
  for (const activity& a : all) {
    if (a.kind == activity_kind::epilogue) continue;
    auto [at, is_new] = lives.try_emplace({a.tile, a.stage}, a.begin, a.end);
    at->second.first = std::min(at->second.first, a.begin);
    at->second.second = std::max(at->second.second, a.end);
  }
  std::vector<std::pair<ticks, int>> changes;
  for (const auto& [_, life] : lives) {
    changes.emplace_back(life.first, +1);
    changes.emplace_back(life.second, -1);
  }
  std::sort(changes.begin(), changes.end());  // at equal times a release comes before the next use
  int now = 0, most = 0;
  for (const auto& [_, change] : changes) most = std::max(most, now += change);
  return most;
}

void check_arguments(std::span<const stage_times> tiles, int stages, const arrangement& warps) {
  if (tiles.empty() || stages < 1 || warps.buffers < 1)
    throw std::invalid_argument("a simulation needs at least one tile, one stage and one buffer");
  if (static_cast<std::int64_t>(tiles.size()) * stages > most_stages)
    throw std::invalid_argument("a simulation has at most 16777216 stages; the time of more is in "
                                "closed_form.hpp and recurrences.hpp");
  if (warps.producers < 1 || warps.producers > 2 || warps.consumers < 1 || warps.consumers > 2)
    throw std::invalid_argument("a simulation has one or two producers, and one or two consumers");
  for (const stage_times& t : tiles)
    if (t.a.latency < t.a.issue || t.b.latency < t.b.issue || t.a.issue < 0 || t.b.issue < 0 || t.math < 0 ||
        t.epilogue < 0 || t.query < 0 || t.handover < 0)
      throw std::invalid_argument(
          "times are not negative, and no load is complete before its engine is free");
}

}  // namespace

simulation simulate(std::span<const stage_times> tiles, int stages, const arrangement& warps, fault broken) {
  check_arguments(tiles, stages, warps);
  simulation out;
  const auto take = [&](const event_loop& loop) {
    out.activities.insert(out.activities.end(), loop.activities.begin(), loop.activities.end());
    out.waiting += loop.waiting;
  };
  if (warps.persistent) {
    event_loop loop(tiles, 0, stages, warps, broken);
    loop.run(0);
    take(loop);
  } else {
    // Without persistent blocks each output tile begins with empty buffers, after the tile before was
    // multiplied, and after its consumer has finished its previous epilogue.
    ticks math_end = 0;
    std::vector<ticks> free_again(2, 0);
    for (std::size_t tile = 0; tile < tiles.size(); ++tile) {
      const std::size_t who = tile % static_cast<std::size_t>(warps.consumers);
      arrangement alone = warps;
      alone.consumers = 1;
      event_loop loop(tiles.subspan(tile, 1), static_cast<int>(tile), stages, alone, broken);
      loop.run(std::max(math_end, free_again[who]));
      for (activity& a : loop.activities)
        if (a.kind == activity_kind::math || a.kind == activity_kind::epilogue)
          a.agent = static_cast<int>(who);
      math_end = loop.math_end;
      free_again[who] = loop.epilogue_end;
      take(loop);
    }
  }
  std::stable_sort(out.activities.begin(), out.activities.end(),
                   [](const activity& x, const activity& y) { return x.begin < y.begin; });
  for (const activity& a : out.activities) out.total = std::max(out.total, a.end);
  out.most_in_flight = most_in_flight(out.activities);
  out.violations = violations(out.activities, static_cast<int>(tiles.size()), stages, warps);
  return out;
}

std::vector<std::string> violations(std::span<const activity> all, int tiles, int stages,
                                    const arrangement& warps) {
  std::vector<std::string> found;
  const int count = tiles * stages;
  std::vector<std::array<const activity*, 3>> of_stage(count, {nullptr, nullptr, nullptr});
  std::map<std::pair<int, int>, ticks> engine_free;  // by producer, and the multiplying engine as one
  for (const activity& a : all) {
    if (a.kind == activity_kind::epilogue) continue;
    const int which = a.kind == activity_kind::load_a ? 0 : a.kind == activity_kind::load_b ? 1 : 2;
    const int stage = a.tile * stages + a.stage;
    if (stage < 0 || stage >= count || of_stage[stage][which] != nullptr) {
      found.push_back(fmt::format("stage {} of tile {}: done twice, or not asked for", a.stage, a.tile));
      continue;
    }
    of_stage[stage][which] = &a;
    ticks& free = engine_free[{which == 2 ? 2 : a.agent, 0}];
    if (a.begin < free)
      found.push_back(fmt::format("stage {} of tile {}: two at a time on one engine", a.stage, a.tile));
    free = std::max(free, a.released);
  }
  for (int i = 0; i < count; ++i) {
    const auto [load_a, load_b, math] = of_stage[i];
    if (load_a == nullptr || load_b == nullptr || math == nullptr) {
      found.push_back(
          fmt::format("stage {} of tile {}: never loaded or never multiplied", i % stages, i / stages));
      continue;
    }
    if (math->begin < std::max(load_a->end, load_b->end))
      found.push_back(
          fmt::format("stage {} of tile {}: multiplied before its data was there", i % stages, i / stages));
    if (i < warps.buffers || of_stage[i - warps.buffers][2] == nullptr) continue;
    if (std::min(load_a->begin, load_b->begin) < of_stage[i - warps.buffers][2]->end)
      found.push_back(
          fmt::format("stage {} of tile {}: loaded over data that was still in use", i % stages, i / stages));
  }
  if (const int most = most_in_flight(all); most > warps.buffers)
    found.push_back(fmt::format("{} tiles in flight with {} buffers", most, warps.buffers));
  return found;
}

timeline to_timeline(std::span<const activity> all, double ticks_per_unit) {
  timeline bars;
  for (const activity& a : all) {
    const bool loads = a.kind == activity_kind::load_a || a.kind == activity_kind::load_b;
    const char* what = a.kind == activity_kind::load_a   ? "load A"
                       : a.kind == activity_kind::load_b ? "load B"
                       : a.kind == activity_kind::math   ? "multiply"
                                                         : "epilogue";
    bars.push_back({fmt::format("{} {}", loads ? "producer" : "consumer", a.agent),
                    a.kind == activity_kind::epilogue ? fmt::format("{} of tile {}", what, a.tile)
                                                      : fmt::format("{} {}.{}", what, a.tile, a.stage),
                    static_cast<double>(a.begin) / ticks_per_unit,
                    static_cast<double>(a.end) / ticks_per_unit});
  }
  return bars;
}

}  // namespace mgsync::pipeline
