// Measures points: makes each subject, checks it, then asks its method for steps until it is done, batch by
// batch, the points of a cell interleaved. Knows subjects, methods and checkers, but not what is measured.
// SPMD: every rank of the job calls run() with the same measurements. Rank 0 has the methods and the
// checkers, decides (what comes next, in which order, when to stop) and tells the others.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/communicator.hpp"
#include "src/base/watchdog.hpp"
#include "src/harness/bystanders.hpp"
#include "src/harness/study.hpp"
#include "src/results/files/store.hpp"

namespace mgsync {

struct runner_settings {
  std::uint64_t seed = 1;  // of the random order in which the points of a cell are measured
  std::chrono::nanoseconds timeout =
      std::chrono::seconds(30);  // for creating a subject; a run may take twice as long
  std::map<int, std::string>
      gpus{};  // UUIDs of this process's GPUs by their ids, for watching their state (bystanders)
};

// Callbacks while it runs; called on rank 0 only.
struct runner_events {
  // Before a subject is made and before every run: "creating", "checking", "trying run lengths", "batch 3".
  std::function<void(const point&, std::string_view what)> running;
  std::function<void()> idle;                   // what running() announced has ended, successfully or not
  std::function<void(const result&)> finished;  // a point is done
};

// How the time was spent, as seen on rank 0.
struct time_spent {
  std::chrono::nanoseconds creating{}, checking{}, preparing{}, sampling{};
};
// "creating 1.2 s, checking 3.4 s, trying run lengths 0.5 s, sampling 20.1 s".
std::string to_string(const time_spent&);

class runner {
 public:
  // `saved` is rank 0's store, nullptr elsewhere or without one.
  runner(communicator& job, watchdog& dog, const runner_settings& settings, store* saved,
         runner_events events);

  // The results of all points, in the order of the measurements (on rank 0; empty elsewhere). Interrupted by
  // a signal it returns what there is; interrupted() then says so.
  std::vector<result> run(std::span<const measurement>);
  bool interrupted() const { return interrupted_; }
  const time_spent& spent() const { return spent_; }

 private:
  struct candidate;  // one point while its cell is being measured

  void run_cell(std::span<const measurement>, std::span<result>);
  void resume(candidate&);
  bool create(candidate&);
  void prepare(candidate&);
  void check(candidate&);
  bool judge(candidate&);
  void measure_batch(std::vector<candidate*>&);
  bool was_stopped_in(candidate&, const seen&);
  std::optional<std::vector<seen>> perform(candidate&, const step&, std::string_view what);
  void take(candidate&, std::span<const seen>);
  void interrupt(candidate&);
  void gather_doubts(candidate&) const;
  void end(candidate&);
  std::optional<step> agree(candidate&, std::optional<step> next) const;
  void announce(const candidate&, std::string_view what) const;

  communicator* job_;
  watchdog* watchdog_;
  runner_settings settings_;
  store* saved_;
  runner_events events_;
  std::mt19937_64 random_;
  std::optional<bystanders> beside_;  // empty until run() is called
  time_spent spent_;
  bool interrupted_ = false;
};

}  // namespace mgsync
