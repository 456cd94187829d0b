// Measures the points of a study: proves each subject, then asks its method for steps until it is done. Knows subjects,
// methods and provers; what is measured is none of its business.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "src/base/watchdog.hpp"
#include "src/harness/study.hpp"
#include "src/results/store.hpp"

namespace mgsync {

struct study_settings {
  std::uint64_t seed = 1;
  std::chrono::nanoseconds timeout = std::chrono::seconds(30);  // of one run
};

// Told while it runs.
struct study_events {
  std::function<void(const point&, std::string_view what)> running;  // "creating", "proving", "batch 3"
  std::function<void(const result&)> finished;
};

class study_runner {
 public:
  // `saved`: the store, or nullptr.
  study_runner(watchdog&, const study_settings&, store* saved, study_events);

  // The results in the order of the measurements. Interrupted by a signal it returns what there is.
  std::vector<result> run(std::span<const measurement>);
  bool interrupted() const { return interrupted_; }

 private:
  struct candidate;

  void run_cell(std::span<const measurement>, std::span<result>);
  bool create(candidate&);
  void prove(candidate&);
  void prepare(candidate&);
  void measure_batch(std::vector<candidate*>&);
  std::optional<std::vector<seen>> perform(candidate&, const step&, std::string_view what);
  bool judge(candidate&);
  void end(candidate&);

  watchdog* watchdog_;
  study_settings settings_;
  store* saved_;
  study_events events_;
  std::mt19937_64 random_;
  bool interrupted_ = false;
};

}  // namespace mgsync
