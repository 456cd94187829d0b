#include "src/harness/study_runner.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace mgsync {

using clock = std::chrono::steady_clock;

constexpr const char* interrupted_before = "interrupted before it was measured";

struct study_runner::candidate {
  const measurement* planned = nullptr;
  mgsync::result* result = nullptr;
  std::unique_ptr<mgsync::subject> subject;
  std::unique_ptr<mgsync::method> method;
  std::unique_ptr<mgsync::prover> prover;
  std::optional<step> next;
  std::chrono::nanoseconds spent{};  // in sampling: what came before it is not counted
  std::size_t saved = 0;             // samples that are in the store
  bool active = true;
  bool from_store = false;
};

study_runner::study_runner(watchdog& dog, const study_settings& settings, store* saved, study_events events)
    : watchdog_(&dog), settings_(settings), saved_(saved), events_(std::move(events)), random_(settings.seed) {}

std::vector<result> study_runner::run(std::span<const measurement> all) {
  std::vector<result> results(all.size());
  for (std::size_t from = 0; from < all.size();) {
    std::size_t to = from + 1;
    while (to < all.size() && !all[from].cell.empty() && all[to].cell == all[from].cell) ++to;
    run_cell(all.subspan(from, to - from), std::span(results).subspan(from, to - from));
    from = to;
  }
  return results;
}

void study_runner::run_cell(std::span<const measurement> points, std::span<result> results) {
  std::vector<candidate> candidates(points.size());
  std::vector<candidate*> active;
  for (std::size_t i = 0; i < points.size(); ++i) {
    candidate& c = candidates[i];
    c.planned = &points[i];
    c.result = &results[i];
    c.result->point = points[i].point;
    c.result->reason = points[i].waived;
    c.active = points[i].waived.empty();
    if (c.active && interrupted_) {
      c.active = false;
      c.result->status = result_status::interrupted;
      c.result->reason = interrupted_before;
    }
    if (c.active) prepare(c);
    if (c.active) active.push_back(&c);
    else end(c);
  }
  while (!active.empty()) {
    measure_batch(active);
    std::erase_if(active, [&](candidate* c) {
      if (!c->active) end(*c);
      return !c->active;
    });
  }
}

// Takes over what the store holds of a point, then proves the subject and makes the method's pilot, on a life of its own.
void study_runner::prepare(candidate& c) {
  if (saved_ != nullptr) {
    for (const auto& r : saved_->before().finished)
      if (r.point == c.planned->point && r.status == result_status::measured) {
        *c.result = r;
        c.from_store = true;
        c.active = false;
        return;
      }
  }
  c.method = c.planned->method();
  if (c.planned->prover) c.prover = c.planned->prover();
  c.result->method = c.method->description();
  if (saved_ != nullptr)
    for (const auto& u : saved_->before().unfinished)
      if (u.point == c.planned->point) {
        c.method->resume(u.samples, u.next_batch);
        c.saved = c.method->samples().size();
        c.result->attempt = u.attempt;
      }
  if (!create(c)) return;
  prove(c);
  if (c.active) c.next = c.method->next(c.spent);
  while (c.active && c.next && c.next->preparing) {
    const auto came = perform(c, *c.next, "trying run lengths");
    if (!came) break;
    c.method->take(*c.next, *came);
    c.next = c.method->next(c.spent);
  }
  c.subject.reset();
}

bool study_runner::create(candidate& c) {
  if (events_.running) events_.running(c.planned->point, "creating");
  const watchdog::guard watched(*watchdog_, "creating " + name_of(c.planned->point), settings_.timeout);
  auto made = c.planned->create();
  c.subject = std::move(made.subject);
  for (auto& [key, value] : made.found) c.result->environment[key] = value;
  if (c.subject) return true;
  c.result->reason = made.reason;
  c.active = false;
  return false;
}

void study_runner::prove(candidate& c) {
  if (!c.prover) return;
  while (const auto asked = c.prover->next()) {
    const auto came = perform(c, *asked, "proving");
    if (!came) return;
    c.prover->take(*asked, *came);
    if (!judge(c)) return;
  }
  judge(c);
}

// What the prover says by now. False: it found the subject wrong, which has no figure then.
bool study_runner::judge(candidate& c) {
  c.result->verdict = c.prover->judge();
  if (c.result->verdict.violations == 0) return true;
  c.result->status = result_status::failed;
  const auto why = c.result->verdict.details.find("reason");
  c.result->reason = why != c.result->verdict.details.end() ? why->second : name_of(c.planned->point) + " is not what it says";
  c.active = false;
  return false;
}

// The runs of one step. Nothing when the point is over: interrupted, stuck, wrong.
std::optional<std::vector<seen>> study_runner::perform(candidate& c, const step& asked, std::string_view what) {
  std::vector<seen> came;
  for (const auto& order : asked.orders) {
    if (signal_received() != 0) interrupted_ = true;
    if (interrupted_) {
      c.active = false;
      c.result->status = result_status::interrupted;
      c.result->reason = interrupted_before;
      return std::nullopt;
    }
    if (events_.running) events_.running(c.planned->point, what);
    const watchdog::guard watched(*watchdog_, name_of(c.planned->point), settings_.timeout * 2);
    came.push_back(c.subject->run(order));
    const auto& last = came.back();
    if (last.ended == ending::completed) continue;
    if (last.ended == ending::aborted) {
      interrupted_ = true;
      c.result->status = result_status::interrupted;
      c.result->reason = interrupted_before;
    } else {
      c.result->status = last.ended == ending::died ? result_status::error : result_status::failed;
      c.result->reason = last.reason;
    }
    c.active = false;
    return std::nullopt;
  }
  return came;
}

// One batch of every point of the cell, on new lives, their steps interleaved in random order.
void study_runner::measure_batch(std::vector<candidate*>& active) {
  std::vector<candidate*> going;
  for (candidate* c : active) {
    if (!c->next) c->active = false;
    else if (create(*c)) going.push_back(c);
  }
  while (!going.empty()) {
    std::shuffle(going.begin(), going.end(), random_);
    std::erase_if(going, [&](candidate* c) {
      const auto batch = c->next->batch;
      const auto begin = clock::now();
      const auto came = perform(*c, *c->next, fmt::format("batch {}", batch + 1));
      if (!came) return true;
      c->spent += clock::now() - begin;
      c->method->take(*c->next, *came);
      for (; saved_ != nullptr && c->saved < c->method->samples().size(); ++c->saved)
        saved_->add(c->planned->point, c->method->columns(), c->method->description(), c->method->samples()[c->saved]);
      if (c->prover) {
        c->prover->take(*c->next, *came);
        if (!judge(*c)) return true;
      }
      c->next = c->method->next(c->spent);
      return !c->next || c->next->batch != batch;
    });
  }
  for (candidate* c : active) {
    c->subject.reset();
    if (!c->next) c->active = false;
  }
}

void study_runner::end(candidate& c) {
  auto& r = *c.result;
  if (c.method && !c.from_store && r.status != result_status::failed && r.status != result_status::error) {
    r.samples = c.method->samples();
    r.metrics = c.method->values();
    r.stopped = interrupted_ ? stop_reason::interrupted : c.method->stopped();
    const bool done = c.method->stopped() != stop_reason::none;
    if (done && c.method->void_because().empty()) {
      r.status = result_status::measured;
      r.reason.clear();
    } else if (done) {
      r.reason = "void: " + c.method->void_because();  // waived: there is no figure here
      r.metrics.clear();
    }
  }
  if (saved_ != nullptr && !c.from_store && r.status != result_status::waived && r.status != result_status::interrupted)
    saved_->finish(r);
  if (events_.finished) events_.finished(r);
}

}  // namespace mgsync
