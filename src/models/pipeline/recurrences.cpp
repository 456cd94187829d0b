#include "src/models/pipeline/recurrences.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <vector>

namespace mgsync::pipeline {

namespace {

constexpr ticks never = -1;  // no such event; real times are not negative

ticks after(ticks when, ticks lasts) { return when == never ? never : when + lasts; }

// The state between stages: the times when each buffer was multiplied, and four more times.
constexpr std::size_t most_buffers = 12;
using moments = std::array<ticks, most_buffers + 4>;

moments nothing() {
  moments all;
  all.fill(never);
  return all;
}

// A map of states that is linear in (max, +), stored by columns: the result for each state with a single
// event at time 0.
class linear_map {
 public:
  template <class Map>
  linear_map(std::size_t size, Map map) {
    for (std::size_t i = 0; i < size; ++i) {
      moments alone = nothing();
      alone[i] = 0;
      columns_.push_back(map(alone));
    }
  }

  moments operator()(const moments& from) const {
    moments to = nothing();
    for (std::size_t i = 0; i < columns_.size(); ++i)
      if (from[i] != never)
        for (std::size_t k = 0; k < columns_.size(); ++k)
          to[k] = std::max(to[k], after(columns_[i][k], from[i]));
    return to;
  }

  linear_map then(const linear_map& next) const {
    return linear_map(columns_.size(), [&](const moments& alone) { return next((*this)(alone)); });
  }

  // This map applied `times` times in a row, by squaring.
  linear_map repeated(std::int64_t times) const {
    linear_map all(columns_.size(), [](moments alone) { return alone; });
    for (linear_map power = *this; times > 0; times /= 2, power = times > 0 ? power.then(power) : power)
      if (times % 2 == 1) all = all.then(power);
    return all;
  }

 private:
  std::vector<moments> columns_;
};

// The producers and consumers of one SM. A state begins with the times when the stages in the buffers were
// multiplied, the latest first.
class block {
 public:
  explicit block(const arrangement& warps)
      : warps_(warps),
        buffers_(static_cast<std::size_t>(warps.buffers)),
        a_(buffers_),
        b_(buffers_ + 1),
        mine_(buffers_ + 2),
        others_(buffers_ + 3) {}

  // The state before the first stage: every buffer and every agent is free.
  moments start() const {
    moments all = nothing();
    for (const std::size_t free : {a_, b_, mine_, others_}) all[free] = 0;
    return all;
  }

  linear_map tile(const stage_times& t, int stages) const {
    const auto size = buffers_ + 4;
    const linear_map first(size, [&](moments now) {
      if (warps_.consumers == 2) std::swap(now[mine_], now[others_]);
      return stage(now, t, warps_.consumers == 2 ? t.handover : 0);
    });
    const linear_map next(size, [&](moments now) { return stage(now, t, 0); });
    const linear_map end(size, [&](moments now) {
      now[mine_] = after(now[mine_], t.epilogue);
      return now;
    });
    return first.then(next.repeated(stages - 1)).then(end);
  }

  // When the consumer of the last tile, and the other one, finished.
  ticks mine(const moments& now) const { return now[mine_]; }
  ticks others(const moments& now) const { return now[others_]; }

 private:
  moments stage(moments now, const stage_times& t, ticks turn) const {
    const ticks free = after(now[buffers_ - 1], t.handover);
    const ticks a = std::max(now[a_], free);
    const ticks b = warps_.producers == 1 ? after(a, t.a.issue) : std::max(now[b_], free);
    const ticks both = after(std::max(after(a, t.a.latency), after(b, t.b.latency)), t.handover);
    const ticks multiplied = after(std::max({both, now[mine_], after(now.front(), turn)}), t.math);
    std::copy_backward(now.begin(), now.begin() + static_cast<std::ptrdiff_t>(buffers_) - 1,
                       now.begin() + static_cast<std::ptrdiff_t>(buffers_));
    now.front() = multiplied;
    now[a_] = warps_.producers == 1 ? after(b, t.b.issue + t.query) : after(a, t.a.issue + t.query);
    now[b_] = after(b, t.b.issue + t.query);
    now[mine_] = after(multiplied, t.query);
    return now;
  }

  arrangement warps_;
  std::size_t buffers_, a_, b_, mine_, others_;
};

}  // namespace

time_of_tiles persistent_time(const sm_work& work, const arrangement& warps) {
  if (work.tiles < 1 || work.stages < 1 || warps.buffers < 1 ||
      warps.buffers > static_cast<int>(most_buffers))
    throw std::invalid_argument(
        "at least one tile, one stage and one buffer are needed, and at most 12 buffers");
  const block sm(warps);
  moments now = sm.start();
  const bool begins = work.first && work.tiles > 1;
  const std::int64_t alike = work.tiles - 1 - (begins ? 1 : 0);
  if (begins) now = sm.tile(*work.first, work.stages)(now);
  if (alike > 0) now = sm.tile(work.each, work.stages).repeated(alike)(now);
  now = sm.tile(work.last, work.stages)(now);
  const ticks query = work.last.query;
  time_of_tiles found{std::max(sm.mine(now), sm.others(now)) - query, 0};
  // A consumer counts as waiting whenever it does nothing else, up to the end of its last output tile.
  const auto busy = [&](const stage_times& t) { return work.stages * (t.math + query) + t.epilogue; };
  found.waiting = sm.mine(now) + sm.others(now) - (begins ? busy(*work.first) : 0) - alike * busy(work.each) -
                  busy(work.last);
  return found;
}

}  // namespace mgsync::pipeline
