// How a number is taken (docs/method.md). A method is asked for its next step and fed with what came of it;
// it has no clock of its own, starts nothing and is not random, so that made-up series test it. Lengths,
// units and validity are found while measuring.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "src/harness/stopping.hpp"
#include "src/harness/subject.hpp"
#include "src/results/result.hpp"

namespace mgsync {

// Orders that are carried out back to back, on one life of the subject.
struct step {
  std::vector<mgsync::order> orders;
  std::uint32_t batch =
      0;  // of sampling; the subject is made anew between batches, so that its place is part of the spread
  bool preparing = false;  // a pilot: not a sample, not interleaved with others
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
  // What came of the step that next() gave, a seen for each order, all completed.
  virtual void take(const step&, std::span<const seen>) = 0;
  // Its figures by name, unit and direction, the most important first; the numbers are those of values().
  virtual std::vector<metric_name> columns() const = 0;
  // Why it ended; none while it goes on.
  virtual stop_reason stopped() const = 0;
  // Why its figures are void, in a sentence; empty where they are not.
  virtual std::string void_because() const { return {}; }
  // What it stops by; nothing: it takes a number of batches that is known beforehand.
  virtual std::optional<stopping_rule> stops() const { return std::nullopt; }
  virtual std::string description() const = 0;  // for the result: "host clock, difference of two runs"
  // What an earlier command measured: its samples count, and the next batch is `next_batch`.
  virtual void resume(std::span<const sample> before, std::uint32_t next_batch) = 0;

  // A row for each sample: what the figures are computed from.
  const std::vector<sample>& samples() const { return samples_; }
  // Every column over the samples; empty before there is one.
  std::vector<metric> values() const;

 protected:
  std::vector<sample> samples_;
};

// The only value of that name of a run that was carried out; std::invalid_argument names what is missing.
double value_of(const seen&, const std::string& name);
// All values of that name.
const std::vector<double>& values_of(const seen&, const std::string& name);

}  // namespace mgsync
