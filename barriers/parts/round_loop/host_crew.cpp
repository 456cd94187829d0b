#include "barriers/parts/round_loop/host_crew.hpp"

#include <sched.h>

#include <algorithm>
#include <cstdint>
#include <thread>

#include <fmt/format.h>

#include "src/base/pinning.hpp"

// The positive control and a broken barrier race on the board on purpose: that is what the check is there to
// see.
#if defined(__SANITIZE_THREAD__)
#define MGSYNC_RACES_ON_PURPOSE __attribute__((no_sanitize("thread")))
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define MGSYNC_RACES_ON_PURPOSE __attribute__((no_sanitize("thread")))
#endif
#endif
#ifndef MGSYNC_RACES_ON_PURPOSE
#define MGSYNC_RACES_ON_PURPOSE
#endif

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

void host_crew::arrive(worker_page& mine, std::uint64_t round) const {
  std::atomic_ref<std::uint64_t>(mine.arrived).store(round, std::memory_order_relaxed);
}

void host_crew::hold(std::chrono::nanoseconds how_long) const {
  if (how_long.count() == 0) return;
  const auto until = std::chrono::steady_clock::now() + how_long;
  while (std::chrono::steady_clock::now() < until)
    if (yields()) sched_yield();
}

void host_crew::come_last(unsigned worker, std::uint64_t arrivals, std::uint32_t round,
                          const wait_limits& bounds) const {
  constexpr auto longest = std::chrono::milliseconds(20);
  const auto until = std::chrono::steady_clock::now() + longest;
  const std::atomic_ref<std::uint32_t> given_up(*bounds.abort);
  for (unsigned w = 0; w < worker_count(); ++w) {
    worker_page* other = w == worker ? nullptr : page(w);
    if (other == nullptr) continue;
    const std::atomic_ref<std::uint64_t> arrived(other->arrived);
    while (arrived.load(std::memory_order_relaxed) < arrivals) {
      if (std::chrono::steady_clock::now() > until || given_up.load(std::memory_order_relaxed) != 0) return;
      if (yields()) sched_yield();
    }
  }
  hold(std::chrono::nanoseconds(hold_ns_of(round) * crowd_));
}

void host_crew::never_arrive(const wait_limits& bounds) const {
  std::atomic_ref<std::uint32_t> given_up(*bounds.abort);
  while (given_up.load(std::memory_order_relaxed) == 0)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

MGSYNC_RACES_ON_PURPOSE void host_crew::publish(worker_page& mine, unsigned worker,
                                                std::uint32_t phase) const {
  auto* payload = static_cast<volatile std::uint32_t*>(mine.payload[phase & 1]);
  for (unsigned w = 0; w < payload_lines * words_per_line; w += words_per_line / 2)
    payload[w] = payload_word(phase, worker, w);
  static_cast<volatile std::uint32_t*>(mine.phase[phase & 1])[0] = phase;
}

MGSYNC_RACES_ON_PURPOSE void host_crew::touch_payload(unsigned worker, std::uint32_t phase,
                                                      std::uint32_t round) const {
  if (worker_count() < 2) return;
  const worker_page* other = page(payload_target(worker, worker_count(), round));
  if (other == nullptr) return;
  const auto* payload = static_cast<const volatile std::uint32_t*>(other->payload[phase & 1]);
  for (unsigned w = 0; w < payload_lines * words_per_line; w += words_per_line) (void)payload[w];
}

MGSYNC_RACES_ON_PURPOSE void host_crew::read_others(const run_request& request, unsigned worker,
                                                    std::uint32_t phase, std::uint32_t round,
                                                    findings& found) const {
  const unsigned workers = worker_count();
  if (workers < 2) return;
  const unsigned reads = read_count(workers);
  const auto turn = reading_of(static_cast<std::uint32_t>(request.seed), worker, workers, round);
  for (unsigned i = 0; i < reads; ++i) {
    const unsigned target = read_target(turn, worker, workers, i);
    const worker_page* other = page(target);
    if (other == nullptr) continue;
    ++found.observations;
    const std::uint32_t seen = static_cast<const volatile std::uint32_t*>(other->phase[phase & 1])[0];
    if (seen != phase) note(found, round, worker, target, phase, seen, "phase");
  }
  const unsigned target = turn.payload_of;
  const worker_page* other = page(target);
  if (other == nullptr) return;
  const auto* payload = static_cast<const volatile std::uint32_t*>(other->payload[phase & 1]);
  for (unsigned w = 0; w < payload_lines * words_per_line; w += words_per_line / 2) {
    ++found.observations;
    const std::uint32_t expected = payload_word(phase, target, w);
    const std::uint32_t seen = payload[w];
    if (seen != expected) note(found, round, worker, target, expected, seen, "payload");
  }
}

void host_crew::note(findings& found, std::uint32_t round, unsigned reader, unsigned offender,
                     std::uint32_t expected, std::uint32_t seen, const char* what) const {
  if (found.violations++ != 0) return;
  found.first = violation{round - static_cast<std::uint32_t>(rounds_done_),
                          {reader / blocks_, reader % blocks_},
                          {offender / blocks_, offender % blocks_},
                          expected,
                          seen,
                          what};
}

unsigned host_crew::delayed_member(const run_request& request, std::uint32_t round) const {
  if (request.fault.what == fault::kind::arrive_early && arrives_early(round)) return request.fault.member;
  return late_worker(static_cast<std::uint32_t>(request.seed), round, worker_count()) / blocks_;
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
    worker_page* p = page(w);
    if (p == nullptr) continue;
    const auto& m = group_.members[w / blocks_];
    std::string who = fmt::format("member {}", m.id);
    if (blocks_ > 1) who += fmt::format(" block {}", w % blocks_);
    who += fmt::format(" (rank {} on {})", m.rank, m.host);
    now.push_back(
        {std::move(who), std::atomic_ref<std::uint64_t>(p->arrived).load(std::memory_order_relaxed)});
  }
  return now;
}

std::uint64_t host_crew::total_rounds(const run_request& request) const {
  return request.rounds + (request.mode == run_mode::check ? 0 : start_rounds);
}

void host_crew::add_arrivals(trial& result) const {
  for (unsigned w = 0; w < worker_count(); ++w)
    if (worker_page* p = page(w))
      result.arrivals.push_back({{w / blocks_, w % blocks_},
                                 std::atomic_ref<std::uint64_t>(p->arrived).load(std::memory_order_relaxed)});
}

trial host_crew::collect(const std::vector<findings>& found) const {
  trial result;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto& f = found[i];
    if (workers_[i].local_member == result.elapsed.size()) result.elapsed.emplace_back();
    auto& slowest = result.elapsed[workers_[i].local_member];
    slowest = std::max(slowest, f.elapsed);
    if (f.cpu >= 0) {
      result.ran_on.resize(result.elapsed.size());
      result.ran_on.back().push_back(f.cpu);
      if (f.taken) result.taken = std::max(result.taken.value_or(0), *f.taken);
    }
    result.observations += f.observations;
    result.violations += f.violations;
    result.far_violations += f.far_violations;
    if (f.first && (!result.first_violation || f.first->round < result.first_violation->round))
      result.first_violation = f.first;
    result.outcome = std::max(result.outcome, f.outcome);
    if (!f.record.passages.empty()) result.records.push_back(f.record);
  }
  if (result.outcome == outcome::timed_out) add_arrivals(result);
  return result;
}

}  // namespace mgsync::round_loop
