// Shows the progress of a long command on stderr: one line that is overwritten on a terminal, otherwise a
// line from time to time.
#pragma once

#include <chrono>
#include <cstddef>
#include <string_view>

#include "src/results/values/point.hpp"

namespace mgsync {

class progress_line {
 public:
  // Prints nothing where `points` is 0.
  explicit progress_line(std::size_t points);
  ~progress_line() { clear(); }
  progress_line(const progress_line&) = delete;
  progress_line& operator=(const progress_line&) = delete;

  void running(const point&, std::string_view what);
  void finished();
  void clear();

 private:
  std::size_t points_, done_ = 0;
  bool watched_, dirty_ = false;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now(), last_ = began_;
};

}  // namespace mgsync
