#include "barriers/parts/round_loop/host_crew.hpp"

#include <sched.h>

#include <algorithm>
#include <bit>
#include <cstdint>

#include <fmt/format.h>

#include "src/base/pinning.hpp"

namespace mgsync::round_loop {

namespace {

// The board: one line for the abort word, then a page per block.
constexpr std::size_t header_bytes = 128;

}  // namespace

std::size_t host_crew::board_bytes(unsigned blocks) { return header_bytes + blocks * sizeof(worker_page); }

host_crew::host_crew(const topology::group& group, unsigned blocks, session& where,
                     std::unique_ptr<symmetric_memory> board, bool bounded, std::string what)
    : group_(group),
      blocks_(blocks),
      session_(&where),
      board_(std::move(board)),
      bounded_(bounded),
      what_(std::move(what)) {
  unsigned local_member = 0;
  for (unsigned m = 0; m < members(); ++m) {
    if (board_->part(m) != nullptr && abort_ == nullptr)
      abort_ = reinterpret_cast<std::uint32_t*>(board_->part(m));
    const auto& member = group_.members[m];
    if (member.rank != where.rank()) continue;
    for (unsigned b = 0; b < blocks_; ++b)
      workers_.push_back({m, b, local_member, b < member.cpus.size() ? member.cpus[b] : -1});
    ++local_member;
  }
  for (unsigned w = 0; w < worker_count(); ++w) pages_.push_back(page(w));
  const auto cpus = static_cast<unsigned>(allowed_cpus().size());
  if (yields() && cpus > 0) crowd_ = (worker_count() + cpus - 1) / cpus;
}

std::vector<int> host_crew::cpus() const {
  std::vector<int> all;
  for (const auto& w : workers_) all.push_back(w.cpu);
  return all;
}

worker_page* host_crew::page(unsigned worker) const {
  std::byte* part = board_->part(worker / blocks_);
  if (part == nullptr) return nullptr;
  return reinterpret_cast<worker_page*>(part + header_bytes) + worker % blocks_;
}

namespace {

std::uint32_t ring_size(const run_request& request) {
  return request.mode == run_mode::record ? std::bit_ceil(std::clamp(request.kept_rounds, 1u, 1u << 16)) : 0;
}

std::uint32_t fault_of(const run_request& request) {
  switch (request.fault.what) {
  case fault::kind::none: return host_run::no_fault;
  case fault::kind::arrive_early: return host_run::arrive_early;
  case fault::kind::never_arrive: return host_run::never_arrive;
  }
  return host_run::no_fault;
}

}  // namespace

host_run host_crew::describe(const run_request& request, unsigned worker) const {
  host_run run{};
  run.rounds = request.rounds;
  run.start_rounds = start_rounds;
  run.self = worker;
  run.workers = worker_count();
  run.blocks = blocks_;
  run.seed = static_cast<std::uint32_t>(request.seed);
  run.pages = pages_.data();
  run.rounds_done = rounds_done_;
  run.work_ns = work_of(request, worker / blocks_, members()) * std::uint64_t{1000};
  run.fault = fault_of(request);
  run.fault_worker = request.fault.member * blocks_ + request.fault.block;
  run.fault_round = request.fault.round;
  run.yields = yields() ? 1 : 0;
  run.crowd = crowd_;
  run.abort = abort_;
  return run;
}

trial host_crew::run_loops(const run_request& request, const loop& one_worker, const executor& execute) {
  const wait_limits bounds = limits(request);
  std::vector<findings> found(workers_.size());
  {
    // Bounded waits get time to end by themselves. With several ranks, rank 0's watchdog speaks first, and
    // the MPI launcher then ends the others.
    const auto grace = std::chrono::milliseconds((bounded_ ? 2000 : 0) + (session_->rank() == 0 ? 0 : 300));
    const auto patience = bounds.patience + grace;
    const auto longest = request.ends == awake_clock::time_point::max()
                             ? grace * 0
                             : request.ends - awake_clock::now() + grace;
    const watchdog::guard watched(
        session_->watchdog(), what_, patience, [this] { return progress_now(); }, {}, longest);
    execute([&](unsigned local) { run_one(request, bounds, local, one_worker, found[local]); });
  }
  rounds_done_ += total_rounds(request);
  return collect(found);
}

void host_crew::run_one(const run_request& request, const wait_limits& bounds, unsigned local,
                        const loop& one_worker, findings& found) const {
  const local_worker& me = workers_[local];
  host_run run = describe(request, me.member * blocks_ + me.block);
  running_time before{};
  run.timing_begins = [](void* into) { *static_cast<running_time*>(into) = running_time_now(); };
  run.context = &before;
  ring kept(ring_size(request));
  if (!one_worker(local, bounds, run, kept, found.seen)) {
    found.outcome = why_given_up(bounds);
    return;
  }
  if (request.mode == run_mode::time) {
    found.taken = share_taken(before, running_time_now(), std::chrono::nanoseconds(found.seen.elapsed_ns));
    found.cpu = sched_getcpu();
  }
  if (request.mode == run_mode::record) keep_record(request, me, kept, found);
}

void host_crew::keep_record(const run_request& request, const local_worker& me, const ring& kept,
                            findings& found) const {
  const auto size = static_cast<std::uint32_t>(kept.size());
  const std::uint32_t told = std::min({request.kept_rounds, size, request.rounds});
  found.record = {
      {me.member, me.block}, me.cpu < 0 ? 0u : static_cast<unsigned>(me.cpu), request.rounds - told, {}};
  for (std::uint32_t i = request.rounds - told; i < request.rounds; ++i) {
    const auto& passage = kept[i & (size - 1)];
    found.record.passages.push_back({{passage.arrived, 0}, {passage.left, 0}});
  }
}

outcome host_crew::why_given_up(const wait_limits& bounds) const {
  const auto why = std::atomic_ref<std::uint32_t>(*bounds.abort).load(std::memory_order_relaxed);
  return why == wait_limits::interrupted ? outcome::aborted
         : why == wait_limits::overdue   ? outcome::overdue
                                         : outcome::timed_out;
}

wait_limits host_crew::limits(const run_request& request) const {
  return {request.deadline - awake_clock::now(),
          abort_,
          yields(),
          [] { return signal_received() != 0; },
          awake_clock::ticks,
          request.ends.time_since_epoch()};
}

std::vector<progress> host_crew::progress_now() const {
  std::vector<progress> now;
  for (unsigned w = 0; w < worker_count(); ++w) {
    const worker_page* p = pages_[w];
    if (p == nullptr) continue;
    const auto& m = group_.members[w / blocks_];
    std::string who = fmt::format("member {}", m.id);
    if (blocks_ > 1) who += fmt::format(" block {}", w % blocks_);
    who += fmt::format(" (rank {} on {})", m.rank, m.host);
    now.push_back({std::move(who), __atomic_load_n(&p->arrived, __ATOMIC_RELAXED)});
  }
  return now;
}

std::uint64_t host_crew::total_rounds(const run_request& request) const {
  return request.rounds + (request.mode == run_mode::check ? 0 : start_rounds);
}

void host_crew::add_arrivals(trial& result) const {
  for (unsigned w = 0; w < worker_count(); ++w)
    if (const worker_page* p = pages_[w])
      result.arrivals.push_back({{w / blocks_, w % blocks_}, __atomic_load_n(&p->arrived, __ATOMIC_RELAXED)});
}

violation host_crew::in_words(const host_findings& f) const {
  return {f.round,
          {f.reader / blocks_, f.reader % blocks_},
          {f.offender / blocks_, f.offender % blocks_},
          f.expected,
          f.seen,
          f.what};
}

trial host_crew::collect(const std::vector<findings>& found) const {
  trial result;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto& f = found[i];
    if (workers_[i].local_member == result.elapsed.size()) result.elapsed.emplace_back();
    auto& slowest = result.elapsed[workers_[i].local_member];
    slowest = std::max(slowest, std::chrono::nanoseconds(f.seen.elapsed_ns));
    if (f.cpu >= 0) {
      result.ran_on.resize(result.elapsed.size());
      result.ran_on.back().push_back(f.cpu);
      if (f.taken) result.taken = std::max(result.taken.value_or(0), *f.taken);
    }
    result.observations += f.seen.observations;
    result.violations += f.seen.violations;
    result.far_violations += f.seen.far_violations;
    if (f.seen.violations != 0 && (!result.first_violation || f.seen.round < result.first_violation->round))
      result.first_violation = in_words(f.seen);
    result.outcome = std::max(result.outcome, f.outcome);
    if (!f.record.passages.empty()) result.records.push_back(f.record);
  }
  if (result.outcome == outcome::timed_out) add_arrivals(result);
  return result;
}

}  // namespace mgsync::round_loop
