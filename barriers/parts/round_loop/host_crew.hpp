// The host threads that run the rounds of one barrier object, and the board that they publish on. A backend
// gives the crew one `pass` per local worker, a callable that takes its worker through the barrier once; the
// crew times it or checks it by the loops of host_loop.hpp, which are templates, so that nothing stands
// between two rounds but the barrier.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "barriers/backend.hpp"
#include "barriers/parts/algorithm/host_policy.hpp"
#include "barriers/parts/round_loop/host_loop.hpp"
#include "barriers/parts/symmetric_memory/symmetric_memory.hpp"
#include "src/base/session.hpp"

namespace mgsync::round_loop {

using wait_limits = algorithm::host_limits;

struct local_worker {
  unsigned member = 0;  // index in the group
  unsigned block = 0;
  unsigned local_member = 0;  // index among this process's members
  int cpu = -1;               // hardware thread to pin to, -1: none
};

// Runs work(i) for every local worker i at once and returns when all are done.
using executor = std::function<void(const std::function<void(unsigned)>&)>;

class host_crew {
 public:
  // `board` has board_bytes(blocks) per member; parts that are nullptr (other hosts) are not read, and only
  // passes that tell departures check across hosts. `bounded`: the passes end by themselves. Collective over
  // the session's ranks.
  host_crew(const topology::group&, unsigned blocks, session&, std::unique_ptr<symmetric_memory> board,
            bool bounded, std::string what);

  static std::size_t board_bytes(unsigned blocks);

  const std::vector<local_worker>& workers() const { return workers_; }
  std::vector<int> cpus() const;  // of the local workers, in order: for a worker_pool
  bool yields() const { return group_.oversubscribed; }
  // What bounds the waits of a run, of whatever takes part in it beside the workers.
  wait_limits limits(const run_request&) const;

  // One run: every local worker i calls passes[i] rounds times. Pass: what host_loop.hpp asks of it, and
  // `void begin(const wait_limits&)` before a run.
  template <class Pass>
  trial run(const run_request& request, std::vector<Pass>& passes, const executor& execute) {
    return run_loops(
        request,
        [&](unsigned local, const wait_limits& bounds, const host_run& mine, ring& kept,
            host_findings& found) {
          passes[local].begin(bounds);
          if (request.mode == run_mode::check) return host_loop::check(mine, passes[local], found);
          if (request.mode == run_mode::time) return host_loop::time(mine, passes[local], found);
          return host_loop::record(mine, passes[local], kept.data(), static_cast<std::uint32_t>(kept.size()),
                                   found);
        },
        execute);
  }

  // The same with a loop of the caller's own, which returns false if it was given up.
  using ring = std::vector<host_passage>;
  using loop =
      std::function<bool(unsigned local, const wait_limits&, const host_run&, ring&, host_findings&)>;
  trial run_loops(const run_request& request, const loop& one_worker, const executor& execute);

 private:
  struct findings {  // of one worker
    host_findings seen{};
    int cpu = -1;                 // where it was when the timed rounds had ended
    std::optional<double> taken;  // the share of the timed rounds for which it was preempted
    mgsync::outcome outcome = mgsync::outcome::completed;
    worker_record record;
  };

  unsigned worker_count() const { return members() * blocks_; }
  unsigned members() const { return static_cast<unsigned>(group_.members.size()); }
  worker_page* page(unsigned worker) const;
  host_run describe(const run_request&, unsigned worker) const;
  void run_one(const run_request&, const wait_limits&, unsigned local, const loop&, findings&) const;
  void keep_record(const run_request&, const local_worker&, const ring&, findings&) const;
  mgsync::outcome why_given_up(const wait_limits&) const;
  std::vector<progress> progress_now() const;
  void add_arrivals(trial&) const;
  violation in_words(const host_findings&) const;
  trial collect(const std::vector<findings>&) const;
  std::uint64_t total_rounds(const run_request&) const;

  topology::group group_;
  unsigned blocks_;
  session* session_;
  std::unique_ptr<symmetric_memory> board_;
  bool bounded_;
  std::string what_;
  std::vector<local_worker> workers_;
  std::vector<worker_page*> pages_;  // of all workers; nullptr: on another host
  std::uint32_t* abort_ = nullptr;
  unsigned crowd_ = 1;  // threads that take turns on a hardware thread
  std::uint64_t rounds_done_ = 0;
};

// The epoch before the first round of every barrier of host members: near the end of 32 bits, so that its
// counters cross the wrap, as start_phase does for phases.
inline constexpr std::uint32_t first_epoch = 0xfffffe00u;

}  // namespace mgsync::round_loop
