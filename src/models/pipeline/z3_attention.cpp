// Attention as a problem of scheduling for Z3: any order on the tensor core and on the softmax units.
#include <z3++.h>

#include <array>
#include <exception>

#include <fmt/format.h>

#include "src/base/child_process.hpp"
#include "src/models/pipeline/attention.hpp"

namespace mgsync::pipeline {

namespace {

// The begins of all loads and operations, and what must hold of them.
class orders {
 public:
  orders(z3::context& context, const attention_times& t, int stages, int buffers, ticks end)
      : context_(context), t_(t), solver_(context, "QF_IDL"), end_(end) {
    for (int i = 0; i < 2 * stages; ++i) loads_.push_back(named());
    for (auto& all : does_)
      for (int i = 0; i < 3 * stages; ++i) all.push_back(named());
    for (int i = 0; i < 2 * stages; ++i) load(i, buffers);
    for (int c = 0; c < 2; ++c)
      for (int i = 0; i < 3 * stages; ++i) operation(c, i);
    for (int i = 0; i < 3 * stages; ++i)
      for (int k = 0; k < 3 * stages; ++k)
        if ((i % 3 == 1) == (k % 3 == 1)) one_at_a_time(i, k);
  }
  z3::check_result check() { return solver_.check(); }

 private:
  z3::expr named() { return context_.int_const(fmt::format("t{}", names_++).c_str()); }
  // `later` begins at least so long after `before` began.
  z3::expr apart(const z3::expr& later, const z3::expr& before, ticks by) {
    return later - before >= context_.int_val(static_cast<std::int64_t>(by));
  }
  ticks lasts(int c, int i) const {
    const ticks all = i % 3 == 0 ? t_.product_qk : i % 3 == 1 ? t_.softmax : t_.product_pv;
    return c == 0 ? all / 2 : all - all / 2;
  }
  static int use_of(int tile) { return 3 * (tile / 2) + (tile % 2 == 0 ? 0 : 2); }
  const z3::expr& begin(int c, int i) const {
    return does_[static_cast<std::size_t>(c)][static_cast<std::size_t>(i)];
  }

  void load(int i, int buffers) {
    const auto& me = loads_[static_cast<std::size_t>(i)];
    if (i == 0) solver_.add(apart(me, zero_, 0));
    else solver_.add(apart(me, loads_[static_cast<std::size_t>(i) - 1], t_.load.issue));
    if (const int before = i - 2 * buffers; before >= 0)
      for (int c = 0; c < 2; ++c)
        solver_.add(apart(me, begin(c, use_of(before)), lasts(c, use_of(before)) + t_.handover));
  }
  void operation(int c, int i) {
    solver_.add(apart(begin(c, i), i == 0 ? zero_ : begin(c, i - 1), i == 0 ? 0 : lasts(c, i - 1)));
    solver_.add(apart(zero_, begin(c, i), lasts(c, i) - end_));
    if (i % 3 == 1) return;
    const auto tile = static_cast<std::size_t>(2 * (i / 3) + (i % 3 == 2 ? 1 : 0));
    solver_.add(apart(begin(c, i), loads_[tile], t_.load.latency + t_.handover));
  }
  void one_at_a_time(int i, int k) {
    const ticks over = i % 3 == 1 ? 0 : t_.handover;
    solver_.add(apart(begin(1, k), begin(0, i), lasts(0, i) + over) ||
                apart(begin(0, i), begin(1, k), lasts(1, k) + over));
  }

  z3::context& context_;
  attention_times t_;
  z3::solver solver_;
  ticks end_;
  int names_ = 0;
  z3::expr zero_ = context_.int_const("zero");
  std::vector<z3::expr> loads_;
  std::array<std::vector<z3::expr>, 2> does_;
};

std::string compared(const attention_times& t, int stages, int buffers, ticks least) {
  try {
    for (const bool as_little : {true, false}) {
      z3::context context;
      const auto found = orders(context, t, stages, buffers, as_little ? least : least - 1).check();
      if (found == z3::unknown) return "does not know";
      if ((found == z3::sat) != as_little)
        return as_little ? "says that it takes more" : "says that it takes less";
    }
    return "agrees";
  } catch (const z3::exception& error) { return fmt::format("failed: {}", error.msg()); }
}

}  // namespace

std::string z3_on_orders(const attention_times& t, int stages, int buffers, ticks least,
                         std::chrono::milliseconds limit) {
  const auto child =
      run_child({.work = [&] { return compared(t, stages, buffers, least); }, .longest = limit});
  return child.death.empty() ? child.out : fmt::format("did not answer: {}", child.death);
}

}  // namespace mgsync::pipeline
