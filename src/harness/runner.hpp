// Measures a plan: checks every barrier, then samples it (docs/method.md, "Barrier latency"). SPMD: every rank of the job
// calls run() with the same plan; rank 0 decides (when to stop, in which order) and tells the others.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "src/base/communicator.hpp"
#include "src/base/session.hpp"
#include "src/harness/plan.hpp"
#include "src/harness/stopping.hpp"
#include "src/results/store.hpp"
#include "src/harness/trial_exchange.hpp"

namespace mgsync {

struct runner_settings {
  stopping_rule stopping;
  std::uint64_t check_rounds = 10'000;
  bool check = true;
  std::uint64_t seed = 1;
  std::chrono::nanoseconds timeout = std::chrono::seconds(30);
  std::uint32_t samples_per_batch = 5;
  std::uint32_t batches_in_max_time = 8;  // a slow point takes fewer samples in a batch, so that there are enough batches
};

// What the runner tells while it runs; all of it is called on rank 0 only.
struct runner_events {
  std::function<void(const point&, std::uint32_t batch)> running;  // before it is made and before every run; batch 0: being checked
  std::function<void()> idle;                      // what running() announced has ended, well or not
  std::function<void(const result&)> finished;     // a point is done
};

class runner {
 public:
  // `saved` is rank 0's store, nullptr elsewhere or without one.
  runner(communicator& job, watchdog& dog, const runner_settings& settings, store* saved, runner_events events);
  ~runner();

  // The results of all points in the plan's order (on rank 0; empty elsewhere). Interrupted by a signal it returns
  // what there is; interrupted() then says so.
  std::vector<result> run(const plan&);
  bool interrupted() const { return interrupted_; }

 private:
  struct candidate;  // one point while its cell is being measured

  void run_cell(const cell&, std::vector<result>& results);
  void resume(candidate&);
  void create(candidate&, session&);
  std::optional<group_trial> perform(candidate&, const run_request&);
  void verify(candidate&);
  void choose_run_lengths(candidate&);
  void measure_batch(std::vector<candidate*>&, session*);
  bool used_up_its_batch(const candidate&) const;
  bool take_sample(candidate&);
  bool note_load(candidate&, const group_trial& longer);
  void settle(candidate&, stop_reason);
  void fail(candidate&, std::string reason);
  void finish(candidate&, std::vector<result>& results);
  run_request request_of(std::uint32_t rounds, run_mode) const;
  std::optional<group_trial> perform_timed(candidate&, std::uint32_t rounds);
  // Rank 0's value, on every rank.
  std::uint64_t agreed(std::uint64_t value) const;

  communicator* job_;
  watchdog* watchdog_;
  runner_settings settings_;
  store* saved_;
  runner_events events_;
  std::mt19937_64 random_;
  bool interrupted_ = false;
};

}  // namespace mgsync
