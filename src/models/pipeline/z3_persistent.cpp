#include "src/models/pipeline/z3_solvers.hpp"

#include <z3++.h>

#include <algorithm>

#include <fmt/format.h>

namespace mgsync::pipeline {

namespace {

// The problem of one tile: the event times of every stage of every output tile of the most loaded SM, as
// expressions of the number of buffers and consumers.
class persistent_tile {
 public:
  persistent_tile(z3::context& context, const machine& m, extent size, extent tile, const search_space& space)
      : context_(context),
        solver_(context, "QF_LIA"),
        machine_(m),
        tile_(tile),
        work_(work_on(m, size, tile)) {
    assert_choice(space);
    assert_recurrences();
  }

  // Improves `best` until this tile has nothing better. Returns why the solver could not tell, or nothing.
  std::string improve(search_answer& best) {
    while (true) {
      if (best.how == search_answer::outcome::optimal) {
        const z3::expr total = number(best.time.total), waiting = number(best.time.waiting);
        solver_.add(total_ < total || (total_ == total && waiting_ < waiting));
      }
      const z3::check_result found = solver_.check();
      if (found == z3::unsat) return "";
      if (found == z3::unknown) return solver_.reason_unknown();
      const z3::model model = solver_.get_model();
      const auto value = [&](const z3::expr& x) { return model.eval(x, true).get_numeral_int64(); };
      best.how = search_answer::outcome::optimal;
      best.best = {
          tile_,
          {machine_.producers, static_cast<int>(value(consumers_)), static_cast<int>(value(buffers_)), true}};
      best.time = {value(total_), value(waiting_)};
    }
  }

 private:
  z3::expr number(std::int64_t value) { return context_.int_val(value); }
  // A named variable for the later of two times: without names the expressions would grow with every stage.
  z3::expr later(const z3::expr& x, const z3::expr& y) {
    const z3::expr named = context_.int_const(fmt::format("t{}", names_++).c_str());
    solver_.add(named == z3::ite(x >= y, x, y));
    return named;
  }

  void assert_choice(const search_space& space) {
    z3::expr any_buffers = context_.bool_val(false), any_consumers = context_.bool_val(false);
    const configuration one{tile_, {machine_.producers, 1, 1, true}};
    for (const int buffers : space.buffers) any_buffers = any_buffers || buffers_ == buffers;
    for (const int consumers : space.consumers) any_consumers = any_consumers || consumers_ == consumers;
    solver_.add(any_buffers && any_consumers);
    solver_.add(buffers_ * number(buffer_bytes(machine_, one)) <= number(machine_.shared_bytes));
    if (machine_.accumulator_bytes > 0)
      solver_.add(consumers_ * number(accumulator_bytes(one)) <= number(machine_.accumulator_bytes));
    most_buffers_ = *std::max_element(space.buffers.begin(), space.buffers.end());
  }

  // When the buffer of stage i is free: with Q buffers, once stage i - Q has been multiplied; 0 for the first
  // Q stages.
  z3::expr freed(std::int64_t i) {
    z3::expr when = number(0);
    for (std::int64_t q = std::min<std::int64_t>(most_buffers_, i); q >= 1; --q) {
      const stage_times& t = times_of(i - q);
      when = z3::ite(buffers_ == number(q), c_[static_cast<std::size_t>(i - q)] + number(t.math + t.handover),
                     when);
    }
    return when;
  }
  const stage_times& times_of(std::int64_t i) const { return of_tile(i / work_.stages); }
  const stage_times& of_tile(std::int64_t tile) const {
    return tile + 1 < work_.tiles ? work_.each : work_.last;
  }

  void assert_recurrences() {
    const std::int64_t depth = work_.stages, all = work_.tiles * depth;
    const bool serial = machine_.producers == 1;
    z3::expr a_next = number(0), b_next = number(0), waiting = number(0), end = number(0);
    for (std::int64_t i = 0; i < all; ++i) {
      const stage_times& t = times_of(i);
      const z3::expr free_again = freed(i);
      const z3::expr a = later(a_next, free_again);
      const z3::expr b = serial ? a + number(t.a.issue) : later(b_next, free_again);
      a_next = serial ? b + number(t.b.issue + t.query) : a + number(t.a.issue + t.query);
      b_next = b + number(t.b.issue + t.query);
      const z3::expr data = later(a + number(t.a.latency), b + number(t.b.latency)) + number(t.handover);
      // A consumer is ready once it has finished its previous tile, epilogue included.
      const std::int64_t tile = i / depth;
      z3::expr ready = number(0), turn = number(0);
      if (i % depth != 0) {
        turn = c_.back() + number(t.math);
        ready = turn + number(t.query);
      } else if (tile > 0) {
        const auto free_after = [&](std::int64_t of) {
          const stage_times& before = of_tile(of);
          return c_[static_cast<std::size_t>((of + 1) * depth - 1)] +
                 number(before.math + before.epilogue + before.query);
        };
        const stage_times& before = of_tile(tile - 1);
        turn =
            c_.back() + z3::ite(consumers_ == 2, number(before.math + before.handover), number(before.math));
        ready = z3::ite(consumers_ == 2, tile > 1 ? free_after(tile - 2) : number(0), free_after(tile - 1));
      }
      const z3::expr c = later(later(turn, ready), data);
      waiting = waiting + c - ready;
      c_.push_back(c);
      if (i % depth == depth - 1) end = later(end, c + number(t.math + t.epilogue));
    }
    const ticks launch = static_cast<ticks>(machine_.launch_ns * static_cast<double>(ticks_per_ns) + 0.5);
    solver_.add(total_ == end + number(launch) && waiting_ == waiting);
  }

  z3::context& context_;
  z3::solver solver_;
  machine machine_;
  extent tile_;
  sm_work work_;
  int most_buffers_ = 1;
  int names_ = 0;
  std::vector<z3::expr> c_;
  z3::expr buffers_ = context_.int_const("buffers");
  z3::expr consumers_ = context_.int_const("consumers");
  z3::expr total_ = context_.int_const("total");
  z3::expr waiting_ = context_.int_const("waiting");
};

}  // namespace

search_answer solve_persistent(const machine& m, extent size, const search_space& space) {
  std::vector<std::pair<ticks, extent>> by_bound;
  for (const extent& tile : space.tiles) {
    ticks bound = 0;
    bool any = false;
    for (const int consumers : space.consumers) {
      const configuration c{tile, {m.producers, consumers, 1, true}};
      if (!fits(m, c)) continue;
      const ticks one = lower_bound(m, size, c);
      bound = any ? std::min(bound, one) : one;
      any = true;
    }
    if (any) by_bound.emplace_back(bound, tile);
  }
  std::stable_sort(by_bound.begin(), by_bound.end(),
                   [](const auto& x, const auto& y) { return x.first < y.first; });
  search_answer answer;
  for (const auto& [bound, tile] : by_bound) {
    if (answer.how == search_answer::outcome::optimal && bound > answer.time.total) break;
    z3::context context;
    if (const auto why = persistent_tile(context, m, size, tile, space).improve(answer); !why.empty()) {
      answer = {};
      answer.how = search_answer::outcome::unknown;
      answer.reason = why;
      return answer;
    }
  }
  answer.ties = {answer.best};
  return answer;
}

}  // namespace mgsync::pipeline
