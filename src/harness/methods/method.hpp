// A method turns times into values (docs/method.md). The runner asks it for its next step and passes what
// came of it back. It reads no clock, starts nothing and is not random, so that tests can drive it with
// invented series.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "src/harness/stopping.hpp"
#include "src/harness/subject.hpp"
#include "src/results/values/result.hpp"

namespace mgsync {

// Orders that are carried out back to back on one object of the subject.
struct step {
  std::vector<run_order> orders;
  std::uint32_t batch = 0;  // of sampling; the subject is created anew for each batch, so that its placement
                            // in memory is part of the spread
  bool preparing = false;   // a pilot: makes no sample and is not interleaved with other points
};
void fields(auto& way, step& s) {
  way.needs("orders", s.orders);
  way.needs("batch", s.batch);
  way.needs("preparing", s.preparing);
}

class method {
 public:
  virtual ~method() = default;
  // The next step; nothing when it is done, and stopped() says why. `spent` is the time that sampling has
  // taken.
  virtual std::optional<step> next(std::chrono::nanoseconds spent) = 0;
  // Takes the outcome of the step that next() returned: one `seen` for each order, all completed.
  virtual void take(const step&, std::span<const seen>) = 0;
  // The names, units and directions of its metrics, the most important first; values() has their values.
  virtual std::vector<metric_name> columns() const = 0;
  // Why it ended; none while it goes on.
  virtual stop_reason stopped() const = 0;
  // A sentence that says why its values are void; empty where they are not.
  virtual std::string void_because() const { return {}; }
  // Its stopping rule; nothing: its number of batches is fixed.
  virtual std::optional<stopping_rule> stops() const { return std::nullopt; }
  virtual std::string description() const = 0;  // for the result: "host clock, difference of two runs"
  // Takes the samples of an earlier command, read from a store; the next batch is number `next_batch`.
  virtual void resume(std::span<const sample> before, std::uint32_t next_batch) = 0;

  // A row for each sample, from which the metrics are computed.
  const std::vector<sample>& samples() const { return samples_; }
  // Each column summarized over the samples; empty before the first sample.
  std::vector<metric> values() const;

 protected:
  std::vector<sample> samples_;
};

// The only value of that name in a run. Throws std::invalid_argument, naming what is missing.
double value_of(const seen&, const std::string& name);
// All values of that name.
const std::vector<double>& values_of(const seen&, const std::string& name);

}  // namespace mgsync
