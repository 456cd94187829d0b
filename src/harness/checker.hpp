// What shows that a figure means something: runs of its own before anything is timed, or a look at every
// timed run.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "src/harness/methods/method.hpp"

namespace mgsync {

class checker {
 public:
  virtual ~checker() = default;
  // The next of its own runs, before timing; nothing when it needs no more.
  virtual std::optional<step> next() = 0;
  // What came of its own runs and of every step of sampling, before the method sees it.
  virtual void take(const step&, std::span<const seen>) = 0;
  // What it can say by now.
  virtual verdict judge() const = 0;
  // Why the subject is not what it says, in a sentence; empty while it may be. Then nothing more is timed: it
  // failed.
  virtual std::string refuted() const { return {}; }
  // Why its figures would mean nothing although it did nothing wrong, in a sentence; empty where they mean
  // something.
  virtual std::string void_because() const { return {}; }
  // What else the runs told about the point: notes, and what it ran with. Called once, when the point is
  // done.
  virtual void add_to(result&) const {}
};

}  // namespace mgsync
