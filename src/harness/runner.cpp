#include "src/harness/runner.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include <fmt/format.h>

#include "src/results/statistics.hpp"
#include "src/harness/verdict.hpp"

namespace mgsync {

using clock = std::chrono::steady_clock;

constexpr const char* interrupted_before = "interrupted before it was measured";
constexpr const char* method_name = "host clock, difference of two runs";

// What is measured of a barrier, and beside it: the GB/s of the load on the member that had least.
const metric_name latency{"latency", "us"};
const metric_name load_rate{"load", "GB/s", better::more};

// One point while its cell is being measured. `barrier` is empty between batches and on ranks without members.
struct runner::candidate {
  candidate() = default;
  candidate(const candidate&) = delete;
  candidate& operator=(const candidate&) = delete;
  ~candidate() { destroy(); }

  // Under the watchdog, also while an exception unwinds: it may be collective, and wait for a device.
  void destroy() {
    if (!barrier) return;
    const watchdog::guard watched(place->watchdog(), "destroying " + name_of(result.point), place->timeout());
    barrier.reset();
  }

  const planned_point* planned = nullptr;
  const topology::group* group = nullptr;
  std::size_t index = 0;  // in the results
  mgsync::result result;
  const session* place = nullptr;  // where the barrier was created
  std::unique_ptr<mgsync::barrier> barrier;
  std::optional<mgsync::stopping> stopping;
  rounds_choice rounds;
  std::uint32_t batch = 0;
  std::chrono::nanoseconds spent{};
  std::chrono::nanoseconds batch_began{};  // what had been spent before this batch
  std::string algorithm, peer_memory;  // of the barrier made last, where this rank has members
  std::vector<unsigned> times_slowest;
  std::map<unsigned, std::vector<double>> load_gbps;  // by member, of the longer runs
  std::vector<unsigned> mine;  // indices of this rank's members
  std::uint32_t late_units = 0;
  bool active = true;
  double worked_us() const { return result.point.number(axes::work).value_or(0) + late_units; }  // in a round
  bool from_store = false;  // finished by an earlier command
};

runner::runner(communicator& job, watchdog& dog, const runner_settings& settings, store* saved, runner_events events)
    : job_(&job), watchdog_(&dog), settings_(settings), saved_(saved), events_(std::move(events)),
      random_(settings.seed) {}

runner::~runner() = default;

std::vector<result> runner::run(const plan& planned) {
  std::vector<result> results;
  for (const auto& c : planned.cells) {
    if (!interrupted_) {
      run_cell(c, results);
      continue;
    }
    for (const auto& p : c.points) {
      result unmeasured;
      unmeasured.point = p.point;
      unmeasured.status = p.waived.empty() ? result_status::interrupted : result_status::waived;
      unmeasured.reason = p.waived.empty() ? interrupted_before : p.waived;
      results.push_back(std::move(unmeasured));
    }
  }
  return job_->rank() == 0 ? results : std::vector<result>{};
}

std::uint64_t runner::agreed(std::uint64_t value) const {
  return std::stoull(job_->broadcast(std::to_string(value), 0, "agreeing on what to do next"));
}

run_request runner::request_of(std::uint32_t rounds, run_mode mode) const {
  run_request request;
  request.rounds = rounds;
  request.mode = mode;
  request.seed = settings_.seed;
  // The rest of the patience is for telling the others and writing down what happened.
  request.deadline = clock::now() + settings_.timeout * 3 / 5;
  return request;
}

void runner::run_cell(const cell& where, std::vector<result>& results) {
  std::vector<unsigned> mine;
  for (unsigned m = 0; m < where.group.members.size(); ++m)
    if (where.group.members[m].rank == job_->rank()) mine.push_back(m);
  auto part = job_->split(mine.empty() ? -1 : 0);
  session place(*job_, part ? *part : *job_, *watchdog_, settings_.timeout);
  std::vector<candidate> candidates(where.points.size());
  std::vector<candidate*> active;
  const std::size_t first = results.size();
  results.resize(first + where.points.size());
  for (std::size_t i = 0; i < where.points.size(); ++i) {
    candidate& c = candidates[i];
    c.planned = &where.points[i];
    c.group = &where.group;
    c.index = first + i;
    c.mine = mine;
    c.result.point = c.planned->point;
    c.result.notes = where.notes;
    c.late_units = where.late_units;
    c.times_slowest.resize(where.group.members.size());
    c.result.method = method_name;
    c.result.reason = job_->broadcast(c.planned->waived, 0, "agreeing on what is waived");
    c.active = c.result.reason.empty() && !interrupted_;
    if (c.active) resume(c);
    if (c.active) create(c, place);
    if (c.active) verify(c);
    if (c.active) choose_run_lengths(c);
    c.destroy();
    c.spent = {};  // what came before sampling (loading a library, the check) is not its time
    if (c.active && !interrupted_) active.push_back(&c);
    else finish(c, results);
  }
  while (!active.empty()) {
    measure_batch(active, part ? &place : nullptr);
    std::erase_if(active, [&](candidate* c) {
      if (!c->active) finish(*c, results);
      return !c->active;
    });
  }
}

// Takes over what the store holds of this point: its result, or samples to go on from.
void runner::resume(candidate& c) {
  c.stopping.emplace(settings_.stopping);
  std::uint64_t done = 0;
  std::uint64_t next_batch = 0;
  if (saved_ != nullptr) {
    for (const auto& r : saved_->before().finished) {
      if (r.status != result_status::measured || !(r.point == c.result.point)) continue;
      c.result = r;
      c.from_store = true;
      done = 1;
    }
    for (const auto& u : saved_->before().unfinished) {
      if (done != 0 || !(u.point == c.result.point)) continue;
      c.result.samples = u.samples;
      c.result.attempt = u.attempt;
      if (!u.before.empty()) c.result.notes.push_back(u.before);
      for (const auto& s : u.samples) c.stopping->add_value(s.batch, s.at(latency.name));
      next_batch = u.next_batch;
    }
  }
  if (agreed(done) != 0) c.active = false;
  c.batch = static_cast<std::uint32_t>(agreed(next_batch));
}

void runner::create(candidate& c, session& place) {
  const auto begin = clock::now();
  std::string reason;
  // Announced here too: what fails or hangs in creation is blamed on this point, not on the one before.
  if (events_.running && job_->rank() == 0) events_.running(c.result.point, c.batch);
  if (!c.mine.empty()) {
    const watchdog::guard watched(*watchdog_, "creating " + name_of(c.result.point), settings_.timeout);
    auto made = c.planned->choice.backend->create(*c.group, c.planned->configuration, place);
    c.barrier = std::move(made.barrier);
    c.place = &place;
    reason = made.reason;
    c.algorithm = made.algorithm;
    c.peer_memory = made.peer_memory;
  }
  // The first member's rank speaks for all: the reason is the same on every rank that has members.
  const int speaker = c.group->members.front().rank;
  reason = job_->broadcast(reason, speaker, "agreeing on a new barrier");
  for (const auto& [key, found] : {std::pair{"algorithm", &c.algorithm}, std::pair{"peer_memory", &c.peer_memory}}) {
    const auto told = job_->broadcast(*found, speaker, "agreeing on a new barrier");
    if (!told.empty()) c.result.environment[key] = told;
  }
  if (events_.idle && job_->rank() == 0) events_.idle();
  if (!reason.empty()) {
    c.result.reason = reason;
    c.active = false;
    c.destroy();
  }
  c.spent += clock::now() - begin;
}

// One run on every member, and what all of them saw. Nothing when the point is over: stuck, or interrupted.
std::optional<group_trial> runner::perform(candidate& c, const run_request& request) {
  trial mine;
  if (events_.running && job_->rank() == 0)
    events_.running(c.result.point, request.mode == run_mode::check ? 0 : c.batch + 1);
  const auto begin = clock::now();
  {
    // Names the point; the run inside it has the shorter patience.
    const watchdog::guard watched(*watchdog_, name_of(c.result.point), settings_.timeout * 2);
    if (c.barrier) mine = c.barrier->run(request);
  }
  if (mine.outcome == outcome::timed_out) job_->be_patient_for(settings_.timeout / 5);
  const auto all = exchange(*job_, mine, c.mine, signal_received() != 0);
  job_->be_patient_for(settings_.timeout);
  if (events_.idle && job_->rank() == 0) events_.idle();
  interrupted_ = interrupted_ || all.interrupted || all.outcome == outcome::aborted;
  if (all.outcome == outcome::completed) return all;
  if (all.outcome == outcome::timed_out)
    fail(c, timeout_sentence(c.result.point, *c.group, all, clock::now() - begin));
  return std::nullopt;
}

// A timed run, less the work in it: what the barrier adds to the work is its latency.
std::optional<group_trial> runner::perform_timed(candidate& c, std::uint32_t rounds) {
  auto request = request_of(rounds, run_mode::time);
  request.work_units = static_cast<std::uint32_t>(c.result.point.number(axes::work).value_or(0));
  request.late_units = c.late_units;
  auto seen = perform(c, request);
  if (seen) seen->longest_us -= rounds * c.worked_us();
  return seen;
}

void runner::fail(candidate& c, std::string reason) {
  c.result.status = result_status::failed;
  c.result.reason = std::move(reason);
  c.active = false;
}

void runner::verify(candidate& c) {
  auto& check = c.result.verdict;
  check = {};
  if (c.planned->choice.backend->piece) c.result.notes.push_back("a piece of a barrier: nothing to check");
  if (!settings_.check || c.planned->choice.backend->piece) return;
  const bool trivial = is_trivial(c.result.point);
  const auto reach = reach_of_check(c.result.point, *c.group);
  if (!reach.note.empty()) c.result.notes.push_back(reach.note);
  if (!trivial && !reach.within_hosts && !reach.across_hosts) return;
  check.scope = reach.scope;
  for (std::uint32_t rounds = 256; rounds <= 4096 && !check.control_flagged && !trivial; rounds *= 4) {
    auto request = request_of(rounds, run_mode::check);
    request.fault.what = fault::kind::arrive_early;
    request.fault.member = control_member(c.result.point, *c.group, settings_.seed);
    const auto seen = perform(c, request);
    if (!seen) return;
    check.control_flagged = (!reach.within_hosts || seen->violations > seen->far_violations) &&
                            (!reach.across_hosts || seen->far_violations > 0);
  }
  if (!check.control_flagged && !trivial)
    return fail(c, fmt::format("unproven: the check did not notice a member of {} that arrives before its time, so its "
                               "verdict is void", name_of(c.result.point)));
  check.kind = trivial ? verdict_kind::trivial : verdict_kind::rounds;
  // Several runs of the same object: what one leaves behind, the next finds. A signal is followed between two of them.
  constexpr std::uint64_t fewest_launches = 4, most_rounds = 16384;
  const std::uint64_t launches = std::max(fewest_launches, (settings_.check_rounds + most_rounds - 1) / most_rounds);
  const std::uint64_t per_launch = (settings_.check_rounds + launches - 1) / launches;
  for (std::uint64_t i = 0; i < launches; ++i) {
    const auto seen = perform(c, request_of(static_cast<std::uint32_t>(per_launch), run_mode::check));
    if (!seen) return;
    check.rounds += per_launch;
    check.observations += seen->observations;
    check.violations += seen->violations;
    check.bound = upper_bound(check.rounds);
    if (seen->violations > 0) return fail(c, violation_sentence(c.result.point, *c.group, *seen, per_launch));
    if (interrupted_) return;
  }
  check.passed = true;
}

// The pilot (docs/method.md, "Barrier latency"): longer and longer runs, then the lengths that the precision asks for.
void runner::choose_run_lengths(candidate& c) {
  constexpr double long_enough_us = 1000, most_work = 100;  // a run may hold this many times as much work
  constexpr std::uint32_t most_rounds = 1u << 20;
  std::vector<pilot_run> pilot;
  for (std::uint32_t rounds = 8; rounds <= most_rounds; rounds *= 4) {
    double longest = 0;
    for (int repeat = 0; repeat < 3; ++repeat) {
      const auto seen = perform_timed(c, rounds);
      if (!seen || interrupted_) return;
      pilot.push_back({rounds, std::max(seen->longest_us, 1e-3)});
      longest = std::max({longest, seen->longest_us, (seen->longest_us + rounds * c.worked_us()) / most_work});
    }
    if (agreed(longest > long_enough_us ? 1 : 0) != 0) break;
  }
  rounds_request wanted;
  wanted.precision = settings_.stopping.precision;
  wanted.least_difference_us = 500;  // now and then a launch takes 100 us longer
  const auto chosen = choose_rounds(pilot, wanted);
  c.rounds.rounds_short = static_cast<std::uint32_t>(agreed(chosen.rounds_short));
  c.rounds.rounds_long = static_cast<std::uint32_t>(agreed(chosen.rounds_long));
}

// A batch: new barrier objects for all points of the cell, their samples interleaved in random order.
void runner::measure_batch(std::vector<candidate*>& active, session* place) {
  session nowhere(*job_, *job_, *watchdog_, settings_.timeout);
  for (candidate* c : active) {
    c->batch_began = c->spent;
    create(*c, place != nullptr ? *place : nowhere);
    const auto begin = clock::now();
    if (c->active) perform_timed(*c, c->rounds.rounds_short);  // warms it up
    c->spent += clock::now() - begin;
  }
  for (std::uint32_t s = 0; s < settings_.samples_per_batch && !interrupted_; ++s) {
    std::vector<candidate*> order(active);
    std::shuffle(order.begin(), order.end(), random_);
    for (candidate* c : order)
      if (c->active && !interrupted_ && agreed(s == 0 || !used_up_its_batch(*c) ? 1 : 0) != 0) take_sample(*c);
  }
  for (candidate* c : active) {
    c->destroy();
    if (!c->active) continue;
    c->stopping->close_batch();
    ++c->batch;
    // Too few batches are no interval: a slow point gets up to twice the time for them.
    const auto counted = c->stopping->batches() < settings_.stopping.min_batches ? c->spent / 2 : c->spent;
    settle(*c, static_cast<stop_reason>(agreed(static_cast<std::uint64_t>(c->stopping->decide(counted, interrupted_)))));
  }
}

bool runner::used_up_its_batch(const candidate& c) const {
  return c.spent - c.batch_began > settings_.stopping.max_time / settings_.batches_in_max_time;
}

bool runner::take_sample(candidate& c) {
  const auto begin = clock::now();
  const auto shorter = perform_timed(c, c.rounds.rounds_short);
  if (!shorter || interrupted_) return false;
  const auto longer = perform_timed(c, c.rounds.rounds_long);
  if (!longer) return false;
  c.spent += clock::now() - begin;
  if (!note_load(c, *longer)) return false;
  sample s = difference_sample(c.batch, shorter->longest_us, longer->longest_us, c.rounds.rounds_short,
                                     c.rounds.rounds_long);
  if (!longer->load_gbps.empty())
    s.values.push_back({load_rate.name, std::min_element(longer->load_gbps.begin(), longer->load_gbps.end(),
                                                         [](const auto& a, const auto& b) { return a.second < b.second; })->second});
  c.result.samples.push_back(s);
  if (longer->slowest) ++c.times_slowest[*longer->slowest];
  c.stopping->add_value(s.batch, s.at(latency.name));
  if (saved_ != nullptr) saved_->add(c.result.point, {latency, load_rate}, c.result.method, s);
  return true;
}

// A row beside a load that was none, or ran elsewhere, is void.
bool runner::note_load(candidate& c, const group_trial& longer) {
  std::string wrong = longer.misplaced_load;
  for (const auto& [member, gbps] : longer.load_gbps) {
    c.load_gbps[member].push_back(gbps);
    if (gbps == 0 && wrong.empty())
      wrong = fmt::format("member {} made no traffic while the barrier ran", c.group->members[member].id);
  }
  if (wrong.empty()) return true;
  fail(c, "void: " + wrong);
  c.result.status = result_status::error;  // the barrier did nothing wrong
  return false;
}

void runner::settle(candidate& c, stop_reason why) {
  if (why == stop_reason::none) return;
  c.active = false;
  c.result.stopped = why;
  c.result.status = why == stop_reason::interrupted ? result_status::interrupted : result_status::measured;
  if (why == stop_reason::interrupted)
    c.result.reason = c.result.samples.empty() ? interrupted_before : "interrupted while it was measured";
  if (c.result.samples.empty()) return;
  c.result.metrics = summarize_all({latency, load_rate}, c.result.samples);
  const auto most = std::max_element(c.times_slowest.begin(), c.times_slowest.end());
  const auto runs = std::accumulate(c.times_slowest.begin(), c.times_slowest.end(), 0u);
  if (runs == 0) return;
  const int slowest = c.group->members[static_cast<std::size_t>(most - c.times_slowest.begin())].id;
  c.result.environment["slowest_member"] = fmt::format("{}", slowest);
  if (is_systematic(*most, runs, c.times_slowest.size()))
    c.result.notes.push_back(fmt::format("member {} last in {:.0f} % of the runs", slowest, 100.0 * *most / runs));
  for (auto& [member, gbps] : c.load_gbps)
    c.result.notes.push_back(fmt::format("{:.3g} GB/s of load on {}", median(gbps), c.group->members[member].id));
}

void runner::finish(candidate& c, std::vector<result>& results) {
  if (c.result.status == result_status::waived && c.result.reason.empty()) {
    c.result.status = result_status::interrupted;
    c.result.reason = interrupted_before;
  }
  const bool ended = c.result.status == result_status::measured || c.result.status == result_status::failed;
  if (saved_ != nullptr && ended && !c.from_store) saved_->finish(c.result);
  results[c.index] = c.result;
  if (events_.finished && job_->rank() == 0) events_.finished(c.result);
}

}  // namespace mgsync
