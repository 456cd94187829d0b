// The loops of host_crew: timed, recorded and checked rounds.
#pragma once

#include <sched.h>

#include <algorithm>

#include "barriers/parts/round_loop/host_crew.hpp"
#include "src/base/pinning.hpp"

namespace mgsync::round_loop {

template <class Pass>
trial host_crew::run(const run_request& request, std::vector<Pass>& passes, const executor& execute) {
  const wait_limits bounds = limits(request);
  std::vector<findings> found(workers_.size());
  {
    // Bounded waits end by themselves; of several ranks the first speaks, and the launcher ends the others.
    const auto grace = std::chrono::milliseconds((bounded_ ? 2000 : 0) + (session_->rank() == 0 ? 0 : 300));
    const auto patience = bounds.patience + grace;
    const auto longest = request.ends == awake_clock::time_point::max()
                             ? grace * 0
                             : request.ends - awake_clock::now() + grace;
    const watchdog::guard watched(
        session_->watchdog(), what_, patience, [this] { return progress_now(); }, {}, longest);
    execute([&](unsigned local) {
      passes[local].begin(bounds);
      if (request.mode == run_mode::time) time(request, bounds, local, passes[local], found[local]);
      else if (request.mode == run_mode::record) record(request, bounds, local, passes[local], found[local]);
      else check(request, bounds, local, passes[local], found[local]);
    });
  }
  rounds_done_ += total_rounds(request);
  return collect(found);
}

// The rounds before the timed ones. False: given up.
template <class Pass>
bool host_crew::start(const run_request& request, const wait_limits& bounds, unsigned local, Pass& pass,
                      findings& found) const {
  const local_worker& me = workers_[local];
  worker_page& mine = *page(me.member * blocks_ + me.block);
  for (std::uint64_t i = 0; i < start_rounds; ++i) {
    if (missed(request, bounds, me, i, pass, found)) return false;
    arrive(mine, rounds_done_ + i + 1);
    if (!pass()) {
      found.outcome = why_given_up(bounds);
      return false;
    }
  }
  return true;
}

template <class Pass>
void host_crew::time(const run_request& request, const wait_limits& bounds, unsigned local, Pass& pass,
                     findings& found) const {
  if (!start(request, bounds, local, pass, found)) return;
  const local_worker& me = workers_[local];
  worker_page& mine = *page(me.member * blocks_ + me.block);
  std::uint64_t round = rounds_done_ + start_rounds;
  const auto work = std::chrono::microseconds(work_of(request, me.member, group_.members.size()));
  const auto before = running_time_now();
  const auto begin = std::chrono::steady_clock::now();
  for (std::uint32_t i = 0; i < request.rounds; ++i) {
    if (work.count() != 0) hold(work);
    arrive(mine, ++round);
    if (!pass()) {
      found.outcome = why_given_up(bounds);
      return;
    }
  }
  found.elapsed = std::chrono::steady_clock::now() - begin;
  found.taken = share_taken(before, running_time_now(), found.elapsed);
  found.cpu = sched_getcpu();
}

// As time(), each round between two reads of the cycle counter, all of them written and the last ones kept.
template <class Pass>
void host_crew::record(const run_request& request, const wait_limits& bounds, unsigned local, Pass& pass,
                       findings& found) const {
  constexpr auto late_stamp =
      std::chrono::microseconds(50);  // of a positive control: others have left by then
  if (!start(request, bounds, local, pass, found)) return;
  const local_worker& me = workers_[local];
  worker_page& mine = *page(me.member * blocks_ + me.block);
  std::uint64_t round = rounds_done_ + start_rounds;
  const std::uint32_t kept = std::bit_ceil(std::clamp(request.kept_rounds, 1u, 1u << 16));
  std::vector<worker_record::passage> ring(kept);
  const bool early = request.fault.what == fault::kind::arrive_early && request.fault.member == me.member &&
                     request.fault.block == me.block;
  const auto work = std::chrono::microseconds(work_of(request, me.member, group_.members.size()));
  const auto begin = std::chrono::steady_clock::now();
  for (std::uint32_t i = 0; i < request.rounds; ++i) {
    auto& slot = ring[i & (kept - 1)];
    if (work.count() != 0) hold(work);
    arrive(mine, ++round);
    slot.arrived.clock = cycles_now();
    if (!pass()) {
      found.outcome = why_given_up(bounds);
      return;
    }
    if (early) {
      hold(late_stamp);
      slot.arrived.clock = cycles_now();
    }
    slot.left.clock = cycles_now();
  }
  found.elapsed = std::chrono::steady_clock::now() - begin;
  const std::uint32_t told = std::min({request.kept_rounds, kept, request.rounds});
  found.record = {
      {me.member, me.block}, me.cpu < 0 ? 0u : static_cast<unsigned>(me.cpu), request.rounds - told, {}};
  for (std::uint32_t i = request.rounds - told; i < request.rounds; ++i)
    found.record.passages.push_back(ring[i & (kept - 1)]);
}

template <class Pass>
void host_crew::check(const run_request& request, const wait_limits& bounds, unsigned local, Pass& pass,
                      findings& found) const {
  const local_worker& me = workers_[local];
  const unsigned self = me.member * blocks_ + me.block;
  worker_page& mine = *page(self);
  const bool control = request.fault.what == fault::kind::arrive_early && request.fault.member == me.member &&
                       request.fault.block == me.block;
  const auto seed = static_cast<std::uint32_t>(request.seed);
  for (std::uint32_t i = 0; i < request.rounds; ++i) {
    const auto round = static_cast<std::uint32_t>(rounds_done_ + i);
    const std::uint32_t phase = round + start_phase;
    const bool early = control && arrives_early(round);
    const bool late = late_worker(seed, round, worker_count()) == self;
    if (late) come_last(self, rounds_done_ + i + 1, round, bounds);
    hold(std::chrono::nanoseconds(skew_unit_ns) * skew(seed, round, self));
    if (missed(request, bounds, me, i, pass, found)) return;
    if (!early) {
      listen(pass, self, round, phase, late && holds_long(round), found);
      publish(mine, self, phase);
    }
    touch_payload(self, phase, round);
    arrive(mine, rounds_done_ + i + 1);
    if (!pass()) {
      found.outcome = why_given_up(bounds);
      return;
    }
    if constexpr (requires { pass.wrong_result(); }) {
      ++found.observations;
      if (const auto wrong = pass.wrong_result())
        note(found, round, self, self, wrong->first, wrong->second, "sum");
    }
    if constexpr (tells_departures<Pass>)
      if (auto* told = pass.told()) told->left(phase, delayed_member(request, round));
    if (early) {
      hold(std::chrono::nanoseconds(long_hold_ns));
      listen(pass, self, round, phase, true, found);
      publish(mine, self, phase);
    } else {
      read_others(request, self, phase, round, found);
    }
  }
  if constexpr (tells_departures<Pass>)
    if (auto* told = pass.told()) told->finish();
}

// A message of a departure from a round that this worker has not arrived at is a violation.
template <class Pass>
void host_crew::listen(Pass& pass, unsigned worker, std::uint32_t round, std::uint32_t phase, bool delayed,
                       findings& found) const {
  if constexpr (tells_departures<Pass>) {
    auto* told = pass.told();
    if (told == nullptr) return;
    ++found.observations;
    const auto who = told->who_left(phase, delayed ? message_patience : std::chrono::nanoseconds(0));
    if (!who) return;
    ++found.far_violations;
    note(found, round, *who * blocks_, worker, phase, phase - 1, "arrival");
  }
}

// Whether the fault to inject keeps this worker from arriving at this round. It then waits for the others to
// give up.
template <class Pass>
bool host_crew::missed(const run_request& request, const wait_limits& bounds, const local_worker& me,
                       std::uint64_t round, Pass&, findings& found) const {
  if (request.fault.what != fault::kind::never_arrive || request.fault.member != me.member ||
      request.fault.block != me.block || request.fault.round != round)
    return false;
  never_arrive(bounds);
  found.outcome = why_given_up(bounds);
  return true;
}

}  // namespace mgsync::round_loop
