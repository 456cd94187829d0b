// How a number is taken (docs/method.md). A method is asked for its next step and fed with what came of it; it has no
// clock of its own, starts nothing and is not random, so that made-up series test it. Lengths, units and validity are
// found while measuring.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "src/harness/subject.hpp"
#include "src/results/metric.hpp"

namespace mgsync {

// Orders that are carried out back to back, on one life of the subject.
struct step {
  std::vector<mgsync::order> orders;
  std::uint32_t batch = 0;  // of sampling; the subject is made anew between batches, so that its place is part of the spread
  bool preparing = false;   // a pilot: not a sample, not interleaved with others
};

class method {
 public:
  virtual ~method() = default;
  // The next step; nothing when it is done, and stopped() says why. `spent` is the time that sampling has taken.
  virtual std::optional<step> next(std::chrono::nanoseconds spent) = 0;
  // What came of the step that next() gave, a seen for each order, all completed.
  virtual void take(const step&, std::span<const seen>) = 0;
  // The figures so far; empty before there are any. A method that found its figure void says so in void_because().
  virtual std::vector<metric> values() const = 0;
  virtual std::string stopped() const = 0;       // "precision", "max-time", ...; empty while it goes on
  virtual std::string void_because() const { return {}; }
  virtual std::string description() const = 0;   // for the result: "host clock, difference of two runs"
};

// The only value of that name of a run that was carried out; std::invalid_argument names what is missing.
double value_of(const seen&, const std::string& name);
// All values of that name.
const std::vector<double>& values_of(const seen&, const std::string& name);

}  // namespace mgsync
