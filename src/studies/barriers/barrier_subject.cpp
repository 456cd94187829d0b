#include "src/studies/barriers/barrier_subject.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "src/base/watchdog.hpp"
#include "src/studies/barriers/trial_exchange.hpp"
#include "src/studies/barriers/verdict.hpp"

namespace mgsync::barriers {
namespace {

using clock = awake_clock;
void add_load(const group_trial& all, seen& came) {
  came.void_because = all.misplaced_load;
  if (all.load_gbps.empty()) return;
  for (const auto& [member, gbps] : all.load_gbps) {
    came.values["load_members"].push_back(member);
    came.values["load_gbps"].push_back(gbps);
  }
  came.values[load_rate.name] = {std::ranges::min(came.values["load_gbps"])};
}

}  // namespace

barrier_subject::barrier_subject(communicator& job, const point& p, const cell& where,
                                 std::vector<unsigned> mine, std::unique_ptr<mgsync::barrier> made,
                                 std::uint64_t seed, std::chrono::nanoseconds timeout)
    : job_(&job),
      point_(p),
      where_(&where),
      mine_(std::move(mine)),
      barrier_(std::move(made)),
      seed_(seed),
      timeout_(timeout),
      work_units_(static_cast<std::uint32_t>(p.number(axes::work).value_or(0))) {}

seen barrier_subject::run(const run_order& asked) {
  run_request request;
  request.rounds = static_cast<std::uint32_t>(asked.count);
  request.seed = seed_;
  // The remaining time-out is for telling the other ranks, and writing down what happened.
  began_ = clock::now();
  request.deadline = began_ + timeout_ * 3 / 5;
  if (asked.what == run_order::purpose::check) {
    request.mode = run_mode::check;
    if (asked.fault == early_arrival) request.fault.what = fault::kind::arrive_early;
    request.fault.member = asked.faulty;
  } else {
    request.work_units = work_units_;
    request.late_units = where_->late_units;
  }
  // Thousands of rounds, each of which may need a time slice on a busy machine, get more time; still bounded,
  // for cores that are taken away.
  request.ends = began_ + timeout_ * 4 +
                 2 * asked.count * std::chrono::microseconds(request.work_units + request.late_units);
  last_ = barrier_ ? barrier_->run(request) : trial{};
  return {.done = asked};
}

seen barrier_subject::put_together(seen came) {
  if (last_.outcome == outcome::timed_out) job_->be_patient_for(timeout_ / 5);
  const auto all = exchange(*job_, last_, mine_, signal_received() != 0, came.stopped_s);
  job_->be_patient_for(timeout_);
  came.interrupted = all.interrupted;
  came.stopped_s = all.stopped_s;
  if (all.outcome == outcome::aborted) came.ended = ending::aborted;
  if (all.outcome == outcome::timed_out) {
    came.ended = ending::stuck;
    came.reason = timeout_sentence(point_, where_->group, all, clock::now() - began_);
  }
  if (all.outcome == outcome::overdue) {
    came.ended = ending::overdue;
    came.reason = fmt::format("given up: {} rounds of {} were not through after {:.3g} s, although every "
                              "wait ended: its workers have "
                              "too few cores, or others use them",
                              came.done.count, name_of(point_),
                              std::chrono::duration<double>(clock::now() - began_).count());
  }
  if (came.ended != ending::completed) return came;
  const auto rounds = static_cast<double>(came.done.count);
  if (came.done.what == run_order::purpose::check) {
    came.checked = check_counts{came.done.count, all.observations, all.violations};
    if (all.violations > 0)
      came.checked->example = violation_sentence(point_, where_->group, all, came.done.count);
    came.values["far_violations"] = {static_cast<double>(all.far_violations)};
    return came;
  }
  // The latency of the barrier is what it adds to the work.
  const double worked_us = rounds * (work_units_ + where_->late_units);
  came.values["duration_us"] = {all.longest_us - worked_us};
  if (worked_us > 0) came.values["worked_us"] = {worked_us};
  if (all.slowest) came.values["slowest"] = {static_cast<double>(*all.slowest)};
  if (all.taken && !where_->group.oversubscribed) came.values[std::string(taken_from_members)] = {*all.taken};
  add_load(all, came);
  for (const auto& [member, ran] : all.ran)
    for (const int cpu : ran.cpus) {
      came.values["ran_member"].push_back(member);
      came.values["ran_rank"].push_back(ran.rank);
      came.values["ran_cpu"].push_back(cpu);
    }
  return came;
}

}  // namespace mgsync::barriers
