#include <z3++.h>

#include <algorithm>

#include "src/models/pipeline/z3_solvers.hpp"

namespace mgsync::pipeline {

namespace {

// The constants of one tile in the encoding; tiles with equal times, stages and waves are one choice for the
// solver.
struct tile_choice {
  extent tile;
  stage_times times;
  int depth;
  std::int64_t waves;
  std::int64_t stage_bytes;
  std::int64_t accumulators;
};

class encoding {
 public:
  encoding(const machine& m, extent size, const search_space& space) : machine_(m), space_(space) {
    for (const extent& tile : space.tiles) {
      const configuration smallest{tile, {m.producers, 1, 1, false}};
      if (!fits(m, smallest)) continue;
      const auto work = work_on(m, size, tile);
      uneven_ = uneven_ || work.each != work.last;
      choices_.push_back(
          {tile, work.each, work.stages, work.tiles, buffer_bytes(m, smallest), accumulator_bytes(smallest)});
      deepest_ = std::max(deepest_, choices_.back().depth);
    }
  }

  bool empty() const { return choices_.empty(); }
  bool describes_machine() const { return !uneven_; }

  search_answer solve() {
    assert_choice();
    assert_recurrences();
    assert_goals();
    z3::params settings(context_);
    settings.set("priority", context_.str_symbol("lex"));
    solver_.set(settings);
    solver_.minimize(total_);
    solver_.minimize(waiting_);
    return read(solver_.check());
  }

 private:
  z3::expr number(std::int64_t value) { return context_.int_val(value); }
  static z3::expr later(const z3::expr& x, const z3::expr& y) { return z3::ite(x >= y, x, y); }

  // A constant of the chosen tile, defined by an implication for each tile.
  template <class Value>
  z3::expr table(const char* name, Value value) {
    z3::expr x = context_.int_const(name);
    for (std::size_t j = 0; j < choices_.size(); ++j)
      solver_.add(z3::implies(is_tile(j), x == number(value(choices_[j]))));
    return x;
  }
  z3::expr is_tile(std::size_t j) { return tile_ == number(static_cast<std::int64_t>(j)); }

  static z3::expr one_of(z3::context& context, const z3::expr& x, const std::vector<int>& values) {
    z3::expr any = context.bool_val(false);
    for (const int v : values) any = any || x == v;
    return any;
  }

  void assert_choice() {
    solver_.add(tile_ >= 0 && tile_ < number(static_cast<std::int64_t>(choices_.size())));
    solver_.add(one_of(context_, buffers_, space_.buffers));
    solver_.add(one_of(context_, consumers_, space_.consumers));
    for (std::size_t j = 0; j < choices_.size(); ++j) {
      solver_.add(z3::implies(is_tile(j),
                              buffers_ * number(choices_[j].stage_bytes) <= number(machine_.shared_bytes)));
      if (machine_.accumulator_bytes > 0)
        solver_.add(z3::implies(is_tile(j), consumers_ * number(choices_[j].accumulators) <=
                                                number(machine_.accumulator_bytes)));
    }
  }

  // Asserts equations (1) to (3), with the semaphores' costs. Stages beyond those of the chosen tile are
  // computed, but not used.
  void assert_recurrences() {
    const z3::expr a_issue = table("a_issue", [](const tile_choice& c) { return c.times.a.issue; });
    const z3::expr a_latency = table("a_latency", [](const tile_choice& c) { return c.times.a.latency; });
    const z3::expr b_issue = table("b_issue", [](const tile_choice& c) { return c.times.b.issue; });
    const z3::expr b_latency = table("b_latency", [](const tile_choice& c) { return c.times.b.latency; });
    const z3::expr math = table("math", [](const tile_choice& c) { return c.times.math; });
    const z3::expr query = number(choices_.front().times.query);
    const z3::expr handover = number(choices_.front().times.handover);
    const bool serial = machine_.producers == 1;
    for (int i = 1; i <= deepest_; ++i) {
      const z3::expr a = z3::select(a_, i), b = z3::select(b_, i), c = z3::select(c_, i);
      const z3::expr freed = z3::select(c_, number(i) - buffers_) + math + handover;
      const auto start = [&](const z3::expr& free_again) {
        return z3::ite(number(i) <= buffers_, free_again, later(free_again, freed));
      };
      const z3::expr zero = number(0);
      solver_.add(a == start(i == 1   ? zero
                             : serial ? z3::select(b_, i - 1) + b_issue + query
                                      : z3::select(a_, i - 1) + a_issue + query));
      solver_.add(b ==
                  (serial ? a + a_issue : start(i == 1 ? zero : z3::select(b_, i - 1) + b_issue + query)));
      const z3::expr data = later(a + a_latency, b + b_latency) + handover;
      solver_.add(c == (i == 1 ? data : later(z3::select(c_, i - 1) + math + query, data)));
    }
  }

  void assert_goals() {
    for (std::size_t j = 0; j < choices_.size(); ++j) {
      const tile_choice& choice = choices_[j];
      const z3::expr wave = z3::select(c_, choice.depth) + number(choice.times.math);
      const z3::expr epilogue = number(choice.times.epilogue);
      const z3::expr one = number(choice.waves) * (wave + epilogue);
      const std::int64_t last = choice.waves - 1;
      const z3::expr two =
          number(last / 2) * (wave + later(wave, epilogue)) + number(last % 2 + 1) * wave + epilogue;
      const ticks launch = static_cast<ticks>(machine_.launch_ns * static_cast<double>(ticks_per_ns) + 0.5);
      solver_.add(z3::implies(is_tile(j), total_ == number(launch) + z3::ite(consumers_ == 1, one, two)));
      const ticks busy = choice.depth * choice.times.math + (choice.depth - 1) * choice.times.query;
      solver_.add(z3::implies(is_tile(j), waiting_ == number(choice.waves) * (wave - number(busy))));
    }
  }

  search_answer read(z3::check_result found) {
    search_answer answer;
    if (found == z3::unsat) return answer;
    if (found == z3::unknown) {
      answer.how = search_answer::outcome::unknown;
      answer.reason = Z3_optimize_get_reason_unknown(context_, solver_);
      return answer;
    }
    const z3::model model = solver_.get_model();
    const auto value = [&](const z3::expr& x) { return model.eval(x, true).get_numeral_int64(); };
    answer.how = search_answer::outcome::optimal;
    answer.best = {
        choices_[static_cast<std::size_t>(value(tile_))].tile,
        {machine_.producers, static_cast<int>(value(consumers_)), static_cast<int>(value(buffers_)), false}};
    answer.time = {value(total_), value(waiting_)};
    answer.ties = {answer.best};
    return answer;
  }

  machine machine_;
  search_space space_;
  std::vector<tile_choice> choices_;
  int deepest_ = 0;
  bool uneven_ = false;
  z3::context context_;
  z3::optimize solver_{context_};
  z3::sort integers_ = context_.int_sort();
  z3::expr tile_ = context_.int_const("tile");
  z3::expr buffers_ = context_.int_const("buffers");
  z3::expr consumers_ = context_.int_const("consumers");
  z3::expr total_ = context_.int_const("total");
  z3::expr waiting_ = context_.int_const("waiting");
  z3::expr a_ = context_.constant("a", context_.array_sort(integers_, integers_));
  z3::expr b_ = context_.constant("b", context_.array_sort(integers_, integers_));
  z3::expr c_ = context_.constant("c", context_.array_sort(integers_, integers_));
};

}  // namespace

std::optional<search_answer> solve_waves(const machine& m, extent size, const search_space& space) {
  encoding problem(m, size, space);
  if (!problem.describes_machine()) return std::nullopt;
  return problem.empty() ? search_answer{} : problem.solve();
}

}  // namespace mgsync::pipeline
