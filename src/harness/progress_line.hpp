// Shows the progress of a long command on stderr: one line that is overwritten on a terminal, as wide as it;
// otherwise a line from time to time. With the time that is left, estimated from what was measured so far.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

#include "src/results/values/point.hpp"

namespace mgsync {

// "about 40 s left", "about 3 min left": as the points that are done took; while less than a tenth is done,
// what the plan takes (`whole`). Empty where that has passed.
std::string time_left(std::chrono::duration<double> spent, std::chrono::duration<double> whole,
                      std::size_t done, std::size_t points);

class progress_line {
 public:
  // Prints nothing where `points`, those that can be measured, is 0. They take about `whole`.
  progress_line(std::size_t points, std::chrono::duration<double> whole);
  ~progress_line() { clear(); }
  progress_line(const progress_line&) = delete;
  progress_line& operator=(const progress_line&) = delete;

  void running(const point&, std::string_view what);
  void finished();
  void clear();

 private:
  std::chrono::duration<double> whole_;
  std::size_t points_, done_ = 0, written_ = 0;  // written_: columns of the line that stands there
  bool watched_;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now(), last_ = began_;
};

}  // namespace mgsync
