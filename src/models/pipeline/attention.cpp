#include "src/models/pipeline/attention.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <queue>
#include <stdexcept>
#include <tuple>

#include <fmt/format.h>

namespace mgsync::pipeline {

namespace {

using kind = attention_activity::kind;

constexpr int longest = 1 << 20;

int consumers_of(attention_schedule how) { return how == attention_schedule::ping_pong ? 2 : 1; }

// What consumer c of `consumers` does of a stage.
struct share {
  ticks product_qk, softmax, product_pv;
};
share share_of(const attention_times& t, int consumers, int c) {
  const auto part = [&](ticks all) { return consumers == 1 ? all : c == 0 ? all / 2 : all - all / 2; };
  return {part(t.product_qk), part(t.softmax), part(t.product_pv)};
}

void check_arguments(const attention_times& t, int stages, int buffers) {
  if (stages < 1 || stages > longest || buffers < 1)
    throw std::invalid_argument("attention has 1 to 1048576 stages, and at least one buffer");
  if (std::min({t.load.issue, t.product_qk, t.softmax, t.product_pv, t.handover}) < 0 ||
      t.load.latency < t.load.issue)
    throw std::invalid_argument("times are not negative, and no load is complete before its engine is free");
}

// The events of one block. A consumer's program is, stage by stage, QK, softmax, PV; its turns on the tensor
// core are QK of the first stage, PV with the next QK, and the last PV.
class attention_loop {
 public:
  attention_loop(const attention_times& t, int stages, const attention_setting& how)
      : t_(t),
        stages_(stages),
        buffers_(how.buffers),
        consumers_(static_cast<std::size_t>(consumers_of(how.how))),
        seen_(2 * static_cast<std::size_t>(stages), false),
        uses_(2 * static_cast<std::size_t>(stages), 0) {}

  std::vector<attention_activity> run() {
    at(0, [this] { load(); });
    for (int c = 0; c < count(); ++c) at(0, [this, c] { go_on(c); });
    while (!events_.empty()) {
      const event next = events_.top();
      events_.pop();
      now_ = next.when;
      next.what();
    }
    std::ranges::stable_sort(done_, {}, &attention_activity::begin);
    return std::move(done_);
  }

 private:
  struct event {
    ticks when;
    int order;
    std::function<void()> what;
    bool operator<(const event& other) const {
      return std::tie(when, order) > std::tie(other.when, other.order);
    }
  };
  struct consumer {
    int step = 0;  // of 3 to a stage
    bool busy = false;
    int turn = 0;  // turns had
  };

  int count() const { return static_cast<int>(consumers_.size()); }
  void at(ticks when, std::function<void()> what) { events_.push({when, order_++, std::move(what)}); }
  void wake() {
    for (int c = 0; c < count(); ++c) go_on(c);
  }

  // Loads K and V of one stage after the other, each into its buffer once all have used what is there.
  void load() {
    const int i = loaded_;
    if (loading_ || i == 2 * stages_) return;
    if (const int before = i - 2 * buffers_; before >= 0 && uses_[before] < count()) return;
    loading_ = true;
    done_.push_back({i % 2 == 0 ? kind::load_k : kind::load_v, 0, i / 2, now_, now_ + t_.load.latency});
    at(now_ + t_.load.latency + t_.handover, [this, i] {
      seen_[i] = true;
      wake();
    });
    at(now_ + t_.load.issue, [this] {
      loading_ = false;
      ++loaded_;
      load();
    });
  }

  void go_on(int c) {
    consumer& me = consumers_[c];
    if (me.busy || me.step == 3 * stages_) return;
    const int stage = me.step / 3, what = me.step % 3;
    if (what == 1) {
      soften(c);
      return;
    }
    const int tile = 2 * stage + (what == 2 ? 1 : 0);
    if (turn_ != me.turn * count() + c || !seen_[tile]) return;
    const share mine = share_of(t_, count(), c);
    const bool gives_turn = what == 0 || stage + 1 == stages_;
    do_it(c, what == 0 ? kind::product_qk : kind::product_pv, what == 0 ? mine.product_qk : mine.product_pv,
          [this, tile, gives_turn, c] {
            at(now_ + t_.handover, [this, tile] {
              ++uses_[tile];
              load();
            });
            if (!gives_turn) return;
            ++consumers_[c].turn;
            at(now_ + (count() == 2 ? t_.handover : 0), [this] {
              ++turn_;
              wake();
            });
          });
  }

  // First come, first served.
  void soften(int c) {
    if (!units_busy_ && (waiting_.empty() || waiting_.front() == c)) {
      if (!waiting_.empty()) waiting_.pop();
      units_busy_ = true;
      do_it(c, kind::softmax, share_of(t_, count(), c).softmax, [this] {
        units_busy_ = false;
        if (!waiting_.empty()) go_on(waiting_.front());
      });
    } else if (waiting_.empty() || waiting_.back() != c) {
      waiting_.push(c);
    }
  }

  void do_it(int c, kind what, ticks lasts, std::function<void()> then) {
    consumers_[c].busy = true;
    done_.push_back({what, c, consumers_[c].step / 3, now_, now_ + lasts});
    at(now_ + lasts, [this, c, then = std::move(then)] {
      consumers_[c].busy = false;
      ++consumers_[c].step;
      then();
      go_on(c);
    });
  }

  attention_times t_;
  int stages_, buffers_;
  std::vector<consumer> consumers_;
  std::vector<char> seen_;  // by tile: K and V of each stage in turn
  std::vector<int> uses_;
  int loaded_ = 0, turn_ = 0, order_ = 0;
  bool loading_ = false, units_busy_ = false;
  std::queue<int> waiting_;
  ticks now_ = 0;
  std::priority_queue<event> events_;
  std::vector<attention_activity> done_;
};

// When the loads begin, as far as the uses that they wait for are known; for schedules that are built one
// operation at a time.
class load_times {
 public:
  load_times(const attention_times& t, int stages, int buffers, int consumers)
      : t_(t),
        buffers_(buffers),
        used_(2 * static_cast<std::size_t>(stages)),
        missing_(used_.size(), consumers) {}

  // When tile i (2 j: K of stage j, 2 j + 1: its V) can be used; nothing while a use before it is not known.
  std::optional<ticks> seen(int i) const {
    ticks free = 0;
    for (int k = 0; k <= i; ++k) {
      ticks begin = free;
      if (const int before = k - 2 * buffers_; before >= 0) {
        if (missing_[before] > 0) return std::nullopt;
        begin = std::max(begin, used_[before] + t_.handover);
      }
      if (k == i) return begin + t_.load.latency + t_.handover;
      free = begin + t_.load.issue;
    }
    return std::nullopt;
  }
  // A consumer is done with tile i; returns what was known before, for forget().
  ticks use(int i, ticks end) {
    const ticks before = used_[i];
    used_[i] = std::max(before, end);
    --missing_[i];
    return before;
  }
  void forget(int i, ticks before) {
    used_[i] = before;
    ++missing_[i];
  }

 private:
  const attention_times& t_;
  int buffers_;
  std::vector<ticks> used_;
  std::vector<int> missing_;
};

// All orders in which two consumers can have the tensor core and the softmax units, one operation at a time.
class all_orders {
 public:
  all_orders(const attention_times& t, int stages, int buffers)
      : t_(t), stages_(stages), loads_(t, stages, buffers, 2) {}

  ticks least() {
    extend(0);
    return least_;
  }

 private:
  struct resource {
    ticks free = 0;
    int last = -1;  // who had it
  };

  void extend(ticks so_far) {
    if (so_far >= least_) return;
    if (step_[0] == 3 * stages_ && step_[1] == 3 * stages_) {
      least_ = so_far;
      return;
    }
    for (int c = 0; c < 2; ++c)
      if (step_[c] < 3 * stages_) next(c, so_far);
  }

  // Does the next operation of consumer c, all that may follow, and takes it back.
  void next(int c, ticks so_far) {
    const int what = step_[c] % 3, tile = 2 * (step_[c] / 3) + (what == 2 ? 1 : 0);
    resource& on = what == 1 ? units_ : core_;
    ticks begin = std::max(ready_[c], on.free + (what != 1 && on.last == 1 - c ? t_.handover : 0));
    if (what != 1) {
      const auto seen = loads_.seen(tile);
      if (!seen) return;  // the other consumer first
      begin = std::max(begin, *seen);
    }
    const share mine = share_of(t_, 2, c);
    const ticks end = begin + (what == 0 ? mine.product_qk : what == 1 ? mine.softmax : mine.product_pv);
    const resource on_before = on;
    const ticks ready_before = ready_[c];
    const ticks used_before = what != 1 ? loads_.use(tile, end) : 0;
    on = {end, c};
    ready_[c] = end;
    ++step_[c];
    extend(std::max(so_far, end));
    --step_[c];
    ready_[c] = ready_before;
    on = on_before;
    if (what != 1) loads_.forget(tile, used_before);
  }

  attention_times t_;
  int stages_;
  load_times loads_;
  resource core_, units_;
  std::array<ticks, 2> ready_{};
  std::array<int, 2> step_{};
  ticks least_ = std::numeric_limits<ticks>::max();
};

}  // namespace

std::string_view word_of(attention_schedule how) {
  return how == attention_schedule::cooperative ? "cooperative" : "ping-pong";
}

std::vector<attention_activity> simulate(const attention_times& t, int stages, const attention_setting& how) {
  check_arguments(t, stages, how.buffers);
  return attention_loop(t, stages, how).run();
}

ticks total_of(const std::vector<attention_activity>& all) {
  ticks end = 0;
  for (const auto& a : all) end = std::max(end, a.end);
  return end;
}

ticks attention_time(const attention_times& t, int stages, const attention_setting& how) {
  check_arguments(t, stages, how.buffers);
  const int consumers = consumers_of(how.how);
  const auto turn = consumers == 2 ? t.handover : 0;
  const auto kept = static_cast<std::size_t>(how.buffers);
  // When all had used K and V of the last stages, and when the softmax of each consumer ended.
  std::vector<ticks> used_k(kept, 0), used_v(kept, 0);
  std::array<ticks, 2> softened{};
  ticks loader = 0, core = 0, units = 0;
  const auto loaded = [&](ticks free) {
    const ticks begin = std::max(loader, free);
    loader = begin + t.load.issue;
    return begin + t.load.latency + t.handover;
  };
  const auto freed = [&](const std::vector<ticks>& used, int stage) {
    return stage < how.buffers ? 0 : used[static_cast<std::size_t>(stage) % kept] + t.handover;
  };
  ticks v = 0;
  for (int stage = 0; stage <= stages; ++stage) {  // each consumer's turn with PV of the stage before, and QK
    const ticks k = stage < stages ? loaded(freed(used_k, stage)) : 0;
    for (int c = 0; c < consumers; ++c) {
      const share mine = share_of(t, consumers, c);
      if (stage > 0) {
        core = std::max({core, softened[c], v}) + mine.product_pv;
        used_v[static_cast<std::size_t>(stage - 1) % kept] = core;
      }
      if (stage < stages) {
        core = std::max(core, k) + mine.product_qk;
        used_k[static_cast<std::size_t>(stage) % kept] = core;
        units = softened[c] = std::max(units, core) + mine.softmax;
      }
      if (c + 1 < consumers || stage < stages) core += turn;
    }
    if (stage < stages) v = loaded(freed(used_v, stage));
  }
  return core;
}

ticks least_time_of_orders(const attention_times& t, int stages, int buffers) {
  check_arguments(t, stages, buffers);
  if (stages > most_ordered_stages) throw std::invalid_argument("all orders are tried of at most 4 stages");
  return all_orders(t, stages, buffers).least();
}

}  // namespace mgsync::pipeline
