// The host threads that run the rounds of one barrier object, and the board that they publish on. A backend
// gives the crew one `pass` per local worker, a callable that takes its worker through the barrier once; the
// crew times it or checks it. The loops are templates, so nothing stands between two rounds but the barrier.
#pragma once

#include <atomic>
#include <bit>
#include <chrono>
#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "barriers/backend.hpp"
#include "barriers/parts/algorithm/host_policy.hpp"
#include "barriers/parts/round_loop/phase_check.hpp"
#include "barriers/parts/symmetric_memory/symmetric_memory.hpp"
#include "src/base/cycle_counter.hpp"
#include "src/base/session.hpp"

namespace mgsync::round_loop {

// What one worker publishes: a heartbeat (rounds arrived at), two phases and two payloads, each in lines of
// its own.
struct alignas(128) worker_page {
  alignas(128) std::uint64_t arrived;
  alignas(128) std::uint32_t phase[2][words_per_line];
  alignas(128) std::uint32_t payload[2][payload_lines * words_per_line];
};

using wait_limits = algorithm::host_limits;

struct local_worker {
  unsigned member = 0;  // index in the group
  unsigned block = 0;
  unsigned local_member = 0;  // index among this process's members
  int cpu = -1;               // hardware thread to pin to, -1: none
};

// Runs work(i) for every local worker i at once and returns when all are done.
using executor = std::function<void(const std::function<void(unsigned)>&)>;

// A pass whose told() returns what learns of departures where members share no memory, or nothing (nullptr).
// The crew calls left() after the worker's pass, `late` being the member that this round delays; who_left()
// ahead of its arrival, for `patience`; finish() after a check.
template <class Pass>
concept tells_departures = requires(Pass pass, std::uint32_t round, unsigned late,
                                    std::chrono::nanoseconds patience) {
  pass.told()->left(round, late);
  { pass.told()->who_left(round, patience) } -> std::same_as<std::optional<unsigned>>;
  pass.told()->finish();
};

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

  // One run: every local worker i calls passes[i] rounds times. Pass: `bool operator()()`, false when given
  // up; `void begin(const wait_limits&)` before a run; optionally `std::optional<std::pair<std::uint32_t,
  // std::uint32_t>> wrong_result()`, the expected and seen value of the last pass where they differ;
  // optionally what tells_departures.
  template <class Pass>
  trial run(const run_request& request, std::vector<Pass>& passes, const executor& execute);

 private:
  struct findings {  // of one worker
    std::chrono::nanoseconds elapsed{};
    int cpu = -1;                 // where it was when the timed rounds had ended
    std::optional<double> taken;  // the share of the timed rounds that others took from it
    std::uint64_t observations = 0;
    std::uint64_t violations = 0;
    std::uint64_t far_violations = 0;
    std::optional<violation> first;
    mgsync::outcome outcome = mgsync::outcome::completed;
    worker_record record;
  };

  unsigned worker_count() const { return members() * blocks_; }
  unsigned members() const { return static_cast<unsigned>(group_.members.size()); }
  worker_page* page(unsigned worker) const;
  void arrive(worker_page&, std::uint64_t round) const;
  void hold(std::chrono::nanoseconds how_long) const;
  // Keeps the late worker of a round back until all others that it sees have arrived, and then long enough
  // for them to leave, if they do. Gives up waiting after a while: somebody may be stuck.
  void come_last(unsigned worker, std::uint64_t arrivals, std::uint32_t round, const wait_limits&) const;
  void never_arrive(const wait_limits&) const;
  void publish(worker_page&, unsigned worker, std::uint32_t phase) const;
  void touch_payload(unsigned worker, std::uint32_t phase, std::uint32_t round) const;
  void read_others(const run_request&, unsigned worker, std::uint32_t phase, std::uint32_t round,
                   findings&) const;
  // `round`: of the object's life.
  void note(findings&, std::uint32_t round, unsigned reader, unsigned offender, std::uint32_t expected,
            std::uint32_t seen, const char* what) const;
  // Whose arrival at this round of the object's life a check delays.
  unsigned delayed_member(const run_request&, std::uint32_t round) const;
  mgsync::outcome why_given_up(const wait_limits&) const;
  wait_limits limits(const run_request&) const;
  std::vector<progress> progress_now() const;
  void add_arrivals(trial&) const;
  trial collect(const std::vector<findings>&) const;
  std::uint64_t total_rounds(const run_request&) const;

  template <class Pass>
  void time(const run_request&, const wait_limits&, unsigned local, Pass&, findings&) const;
  template <class Pass>
  void record(const run_request&, const wait_limits&, unsigned local, Pass&, findings&) const;
  template <class Pass>
  bool start(const run_request&, const wait_limits&, unsigned local, Pass&, findings&) const;
  template <class Pass>
  void check(const run_request&, const wait_limits&, unsigned local, Pass&, findings&) const;
  template <class Pass>
  void listen(Pass&, unsigned worker, std::uint32_t round, std::uint32_t phase, bool delayed,
              findings&) const;
  template <class Pass>
  bool missed(const run_request&, const wait_limits&, const local_worker&, std::uint64_t round, Pass&,
              findings&) const;

  topology::group group_;
  unsigned blocks_;
  session* session_;
  std::unique_ptr<symmetric_memory> board_;
  bool bounded_;
  std::string what_;
  std::vector<local_worker> workers_;
  std::uint32_t* abort_ = nullptr;
  unsigned crowd_ = 1;  // threads that take turns on a hardware thread
  std::uint64_t rounds_done_ = 0;
};

// The epoch before the first of every barrier of ours: near the end of 32 bits, as start_phase is.
inline constexpr std::uint32_t first_epoch = 0xfffffe00u;
// How long a member that is held back for long waits for a message that somebody left without it: several
// times one between nodes.
inline constexpr std::chrono::nanoseconds message_patience = std::chrono::microseconds(200);

// Rounds of the barrier itself that precede the timed ones: the last is the start barrier, the others warm
// the caches.
inline constexpr std::uint64_t start_rounds = 16;

}  // namespace mgsync::round_loop

#include "barriers/parts/round_loop/host_rounds.hpp"
