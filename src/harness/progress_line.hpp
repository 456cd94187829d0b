// How far a long command is: one line on stderr that is written over where somebody watches, else a line now
// and then.
#pragma once

#include <chrono>
#include <cstddef>
#include <string_view>

#include "src/results/point.hpp"

namespace mgsync {

class progress_line {
 public:
  // Without points it says nothing.
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
