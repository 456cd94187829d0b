#include "src/harness/runner.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "src/base/json_fields.hpp"

namespace mgsync {
namespace {

using clock = awake_clock;

// Adds the time from its construction to its destruction to `total`.
class stopwatch {
 public:
  explicit stopwatch(std::chrono::nanoseconds& total) : total_(&total) {}
  ~stopwatch() { *total_ += clock::now() - begin_; }
  stopwatch(const stopwatch&) = delete;
  stopwatch& operator=(const stopwatch&) = delete;

 private:
  std::chrono::nanoseconds* total_;
  clock::time_point begin_ = clock::now();
};

}  // namespace

std::string to_string(const time_spent& all) {
  const auto s = [](std::chrono::nanoseconds time) { return std::chrono::duration<double>(time).count(); };
  return fmt::format("creating {:.1f} s, checking {:.1f} s, trying run lengths {:.1f} s, sampling {:.1f} s",
                     s(all.creating), s(all.checking), s(all.preparing), s(all.sampling));
}

// One point while its cell is being measured. Only rank 0 has its method and its checker, and decides its
// status.
struct runner::candidate {
  candidate() = default;
  candidate(const candidate&) = delete;
  candidate& operator=(const candidate&) = delete;
  ~candidate() { destroy(); }

  // Destroying a subject may be collective or wait for a device, so it is under the watchdog, also while an
  // exception unwinds.
  void destroy() {
    if (!subject) return;
    const watchdog::guard watched(*dog, "destroying " + name_of(planned->point), patience);
    subject.reset();
  }

  const measurement* planned = nullptr;
  mgsync::result* result = nullptr;
  watchdog* dog = nullptr;
  std::chrono::nanoseconds patience{};
  std::unique_ptr<mgsync::subject> subject;
  std::unique_ptr<mgsync::method> method;
  std::unique_ptr<mgsync::checker> checker;
  std::optional<step> next;
  std::chrono::nanoseconds
      spent{};           // in sampling and in creating subjects for it; checks and the pilot do not count
  seen_beside beside{};  // what was seen beside its timed runs, on this rank's host
  std::optional<cpu_time> before{};        // when sampling began
  std::size_t saved = 0;                   // samples that are in the store
  bool active = true;                      // it is not done yet
  bool made = false;                       // a subject was created
  bool sampled = false;                    // sampling began
  bool from_store = false;                 // finished by an earlier command
  unsigned stops = 0;                      // times that a process of the job was stopped in one of its runs
  double stopped_s = 0;                    // seconds of all these stops together
  awake_clock::duration stopped_before{};  // how long this process had been stopped before its cell began
};

runner::runner(communicator& job, watchdog& dog, const runner_settings& settings, store* saved,
               runner_events events)
    : job_(&job),
      watchdog_(&dog),
      settings_(settings),
      saved_(saved),
      events_(std::move(events)),
      random_(settings.seed) {}

std::vector<result> runner::run(std::span<const measurement> all) {
  std::vector<result> results(all.size());
  beside_.emplace(*job_, settings_.gpus);
  for (std::size_t from = 0; from < all.size();) {
    std::size_t to = from + 1;
    while (to < all.size() && !all[from].cell.empty() && all[to].cell == all[from].cell) ++to;
    run_cell(all.subspan(from, to - from), std::span(results).subspan(from, to - from));
    from = to;
  }
  return job_->rank() == 0 ? results : std::vector<result>{};
}

void runner::run_cell(std::span<const measurement> points, std::span<result> results) {
  std::vector<candidate> candidates(points.size());
  std::vector<candidate*> active;
  if (points.front().enter_cell && !interrupted_) points.front().enter_cell();
  for (std::size_t i = 0; i < points.size(); ++i) {
    candidate& c = candidates[i];
    c.planned = &points[i];
    c.result = &results[i];
    c.stopped_before = awake_clock::stopped();
    c.dog = watchdog_;
    c.patience = settings_.timeout;
    c.result->point = points[i].point;
    c.result->notes = points[i].notes;
    c.result->facts = points[i].facts;
    c.result->reason = points[i].waived;
    c.active = points[i].waived.empty();
    if (job_->rank() == 0 && c.active) resume(c);
    if (c.active && interrupted_) interrupt(c);
    agree(c, std::nullopt);
    if (c.active) prepare(c);
    c.destroy();
    c.spent = {};
    if (c.active) active.push_back(&c);
    else end(c);
  }
  std::map<std::string, gpu_beside> gpus;
  while (!active.empty()) {
    measure_batch(active);
    beside_->look_at_gpus(gpus, points.front().point);
    std::erase_if(active, [&](candidate* c) {
      if (c->active) return false;
      c->beside.gpus = gpus;
      c->beside.tool = beside_->tool_at(c->planned->point);
      end(*c);
      return true;
    });
  }
}

// Takes over what the store holds of a point: its result, or samples to go on from.
void runner::resume(candidate& c) {
  c.method = c.planned->method();
  if (c.planned->checker) c.checker = c.planned->checker();
  c.result->method = c.method->description();
  if (saved_ == nullptr) return;
  for (const auto& r : saved_->before().finished) {
    if (r.status != result_status::measured || !(r.point == c.planned->point)) continue;
    *c.result = r;
    c.from_store = true;
    c.active = false;
    return;
  }
  for (const auto& u : saved_->before().unfinished) {
    if (!(u.point == c.planned->point)) continue;
    c.method->resume(u.samples, u.next_batch);
    c.saved = c.method->samples().size();
    c.result->attempt = u.attempt;
    if (!u.before.empty()) c.result->notes.push_back(u.before);
  }
}

// What rank 0 knows, on every rank: whether the point goes on, and the next step, if there is one.
std::optional<step> runner::agree(candidate& c, std::optional<step> next) const {
  if (job_->size() > 1) {
    told_by known{[&](auto& way) {
      way.needs("active", c.active);
      way.needs("next", next);
    }};
    from_wire(job_->broadcast(on_wire(known), 0, "agreeing on what to do next"), known);
  }
  return c.active ? next : std::nullopt;
}

void runner::announce(const candidate& c, std::string_view what) const {
  if (events_.running && job_->rank() == 0) events_.running(c.planned->point, what);
}

// Announced too: what fails or hangs in creation is blamed on this point, not on the one before.
bool runner::create(candidate& c) {
  const stopwatch timed(spent_.creating);
  announce(c, "creating");
  subject_creation made;
  {
    const watchdog::guard watched(*watchdog_, "creating " + name_of(c.planned->point), settings_.timeout);
    made = c.planned->create();
    c.subject = std::move(made.subject);
  }
  if (!c.subject && job_->size() == 1 && signal_received() != 0) {  // and not because it cannot be made
    interrupted_ = true;
    interrupt(c);
    return false;
  }
  if (job_->size() > 1) {
    told_by known{[&](auto& way) {
      way.needs("reason", made.reason);
      way.needs("found", made.found);
      way.needs("quantities", made.quantities);
    }};
    from_wire(job_->broadcast(on_wire(known), c.planned->speaker, "agreeing on a new subject"), known);
  }
  for (const auto& [key, value] : made.found) c.result->environment[key] = value;
  for (const auto& [name, each] : made.quantities) c.result->quantities[name] = each;
  if (events_.idle && job_->rank() == 0) events_.idle();
  c.active = c.active && made.reason.empty();
  c.made = c.made || c.active;
  if (c.active) return true;
  c.result->reason = made.reason;
  c.destroy();
  return false;
}

// Creates a subject only for the checker's runs and the method's pilot.
void runner::prepare(candidate& c) {
  if (!create(c)) return;
  check(c);
  const stopwatch timed(spent_.preparing);
  while (c.active) {
    c.next = agree(c, c.method && c.active ? c.method->next({}) : std::nullopt);
    if (!c.next || !c.next->preparing) return;
    const auto came = perform(c, *c.next, "trying run lengths");
    if (came && c.method) c.method->take(*c.next, *came);
  }
}

void runner::check(candidate& c) {
  const stopwatch timed(spent_.checking);
  while (const auto asked = agree(c, c.checker && c.active ? c.checker->next() : std::nullopt)) {
    const auto came = perform(c, *asked, "checking");
    if (!came) break;
    if (!c.checker) continue;
    c.checker->take(*asked, *came);
    judge(c);
  }
  if (c.active) judge(c);
  agree(c, std::nullopt);
}

// Asks the checker for its verdict. False: it found the subject wrong or its values void, and the point is
// over.
bool runner::judge(candidate& c) {
  if (!c.checker) return true;
  c.result->verdict = c.checker->judge();
  const auto refuted = c.checker->refuted(), void_because = c.checker->void_because();
  if (refuted.empty() && void_because.empty()) return true;
  c.result->status = refuted.empty() ? result_status::error : result_status::failed;
  c.result->reason = refuted.empty() ? "void: " + void_because : refuted;
  c.active = false;
  return false;
}

// Whether a process of the job was stopped during this run, so that it must be repeated, on a new subject
// where it did not complete. The same on all ranks. False after 20 repetitions of a point, so that this ends.
bool runner::was_stopped_in(candidate& c, const seen& last) {
  constexpr unsigned often = 20;
  const bool may_be_its_doing =
      last.ended == ending::completed || last.ended == ending::stuck || last.ended == ending::overdue;
  if (last.stopped_s == 0 || !may_be_its_doing || interrupted_ || c.stops == often) return false;
  ++c.stops;
  c.stopped_s += last.stopped_s;
  return true;
}

// Carries out the runs of one step and returns what all ranks saw of them. Nothing when the point is over,
// because it was interrupted, stuck or wrong.
std::optional<std::vector<seen>> runner::perform(candidate& c, const step& asked, std::string_view what) {
  std::vector<seen> came;
  while (came.size() < asked.orders.size()) {
    const auto& order = asked.orders[came.size()];
    if (job_->size() == 1 && signal_received() != 0) interrupted_ = true;
    if (interrupted_) {
      interrupt(c);
      return std::nullopt;
    }
    if (c.sampled && order.what == run_order::purpose::time)
      beside_->look(c.beside, beside_->threads_here(c.planned->point));
    announce(c, what);
    seen mine;
    {
      // Adds the point's name to the watchdog's report. The guard of the run inside it has the shorter
      // time-out.
      const watchdog::guard watched(*watchdog_, name_of(c.planned->point), settings_.timeout * 2);
      const auto before = awake_clock::stopped();
      mine = c.subject->run(order);
      mine.stopped_s = std::chrono::duration<double>(awake_clock::stopped() - before).count();
    }
    came.push_back(c.subject->put_together(std::move(mine)));
    if (events_.idle && job_->rank() == 0) events_.idle();
    const auto& last = came.back();
    interrupted_ = interrupted_ || last.interrupted || last.ended == ending::aborted;
    if (was_stopped_in(c, last)) {
      const bool stuck = last.ended != ending::completed;
      came.clear();
      if (stuck) c.destroy();
      if (!stuck || create(c)) continue;
      return std::nullopt;
    }
    if (last.ended == ending::completed) continue;
    if (last.ended == ending::aborted) {
      interrupt(c);
    } else {
      const bool its_doing =
          last.ended == ending::wrong || (last.ended == ending::stuck && last.stopped_s == 0);
      c.result->status = its_doing ? result_status::failed : result_status::error;
      c.result->reason = last.reason;
      c.active = false;
    }
    return std::nullopt;
  }
  return came;
}

// Collects the doubts of all ranks in rank 0's result. Collective over the job.
void runner::gather_doubts(candidate& c) const {
  if (const auto now = beside_->cpu_time_now(); now && c.before)
    c.beside.spent = {now->used - c.before->used, now->stolen - c.before->stolen};
  auto mine = doubts_of(c.beside);
  if (job_->size() > 1)
    for (const auto& told : job_->all_gather(on_wire(mine), "gathering what spoke against a figure"))
      add_doubts(mine, from_wire<std::vector<doubt>>(told));
  add_doubts(c.result->doubts, mine);
}

void runner::interrupt(candidate& c) {
  c.active = false;
  c.result->status = result_status::interrupted;
  c.result->reason = c.method && !c.method->samples().empty() ? "interrupted while it was measured"
                                                              : "interrupted before it was measured";
}

// Judges the runs of a sampling step and stores their samples, on rank 0.
void runner::take(candidate& c, std::span<const seen> came) {
  for (const seen& run : came)
    if (const auto taken = run.values.find(std::string(taken_from_members)); taken != run.values.end()) {
      ++c.beside.timed;
      c.beside.switched += taken->second.front() > much_taken;
    }
  if (c.checker) {
    c.checker->take(*c.next, came);
    if (!judge(c)) return;
  }
  c.method->take(*c.next, came);
  for (; saved_ != nullptr && c.saved < c.method->samples().size(); ++c.saved)
    saved_->add(c.planned->point, c.method->columns(), c.method->description(), c.method->samples()[c.saved]);
}

// Measures one batch of every point of the cell, each on a new subject, their steps interleaved in random
// order.
void runner::measure_batch(std::vector<candidate*>& active) {
  std::vector<candidate*> going;
  for (candidate* c : active) {
    const stopwatch timed(c->spent);
    if (!c->sampled) c->before = beside_->cpu_time_now();
    c->sampled = true;
    if (!c->next) c->active = false;
    else if (interrupted_) interrupt(*c);
    else if (create(*c)) going.push_back(c);
  }
  const stopwatch timed(spent_.sampling);
  while (!going.empty()) {
    std::shuffle(going.begin(), going.end(), random_);
    std::erase_if(going, [&](candidate* c) {
      const auto batch = c->next->batch;
      {
        const stopwatch lasting(c->spent);
        const auto came = perform(*c, *c->next, fmt::format("batch {}", batch + 1));
        if (!came) return true;
        if (c->method) take(*c, *came);
      }
      c->next = agree(*c, c->method && c->active ? c->method->next(c->spent) : std::nullopt);
      return !c->next || c->next->batch != batch;
    });
  }
  for (candidate* c : active) {
    c->destroy();
    if (!c->next) c->active = false;
  }
}

void runner::end(candidate& c) {
  if (c.sampled) gather_doubts(c);
  if (job_->rank() != 0) return;
  auto& r = *c.result;
  if (c.method && !c.from_store) {
    r.samples = c.method->samples();
    const bool done = r.status == result_status::waived &&
                      r.reason.empty();  // still the initial state: neither failed nor interrupted
    if (c.sampled && (done || r.status == result_status::interrupted)) {
      r.metrics = c.method->values();
      r.stopped = done ? c.method->stopped() : stop_reason::interrupted;
    }
    if (done && c.method->void_because().empty()) {
      r.status = result_status::measured;
    } else if (done) {
      r.reason = "void: " + c.method->void_because();  // the status stays `waived`: there is no value
      r.metrics.clear();
    }
    if (c.checker && c.made) c.checker->add_to(r);
    if (c.sampled) add_doubts(r.doubts, doubts_of_samples(r.metrics, r.samples));
    if (!r.has_metrics()) r.doubts.clear();
    if (const auto stopped = awake_clock::stopped() - c.stopped_before; c.stops == 0 && stopped.count() > 0)
      r.notes.push_back(fmt::format(
          "a process was stopped, or got no CPU, for {:.3g} s, and none of its runs was under way",
          std::chrono::duration<double>(stopped).count()));
    if (c.stops > 0)
      r.notes.push_back(fmt::format(
          "measured again what a process that was stopped, {:.3g} s in all, or its machine, had held up",
          c.stopped_s));
  }
  const bool ended = r.status != result_status::waived && r.status != result_status::interrupted;
  if (saved_ != nullptr && ended && !c.from_store) saved_->finish(r);
  if (events_.finished) events_.finished(r);
}

}  // namespace mgsync
