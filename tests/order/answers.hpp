// What the tests of the memory order ask of a kernel's text, and what they expect.
#pragma once

#include <ctime>
#include <string>

#include "tests/order/two_rounds.hpp"

namespace mgsync::test {

inline constexpr std::chrono::minutes limit{10};  // of one question: some take seconds
inline constexpr double rung_limit = 600;         // seconds of this process's time, of a rung asked by hand

// SOURCE_ARCHITECTURE.ptx of this folder; with a name, of that kernel alone.
std::string text_of(const std::string& source, int architecture, const std::string& kernel = {});
// The text with what the regular expression matches replaced. A failure if it matches nothing.
std::string weakened(const std::string& text, const std::string& pattern, const std::string& instead);

// A failure unless every so many pairs' question has the answer no, and all threads can come to the end.
void expect_sound(const std::string& text, const std::string& kernel, const grids&, std::size_t every = 1,
                  const kept& as_well = {});
// A failure unless all threads can come to the end, and by no way that was not recorded.
void expect_passed(const std::string& text, const std::string& kernel, const grids&);
// Of the first pair of which something stale can be read: who read what. Empty: there is none.
std::string story_of_stale_read(const std::string& text, const std::string& kernel, const grids&);
// The same of one pair, behind that round.
std::string story_behind(int round, const std::string& text, const std::string& kernel, const grids&,
                         const word_pair&);

// A row of docs/results/host2/memory-order.csv, which tests/order/ladder.sh collects from what these tests
// print.
struct ladder_row {
  std::string form;  // a kernel of the text
  int architecture = 90;
  std::string twin;  // what is weaker in it; empty: what ships
  std::string rung, events, questions, answered, answer;
};
class cpu_time {
 public:
  double seconds() const { return static_cast<double>(std::clock() - began_) / CLOCKS_PER_SEC; }

 private:
  std::clock_t began_ = std::clock();
};
void print(const ladder_row&, const grids&, const cpu_time&);

// By hand: asks all questions of a rung of the ladder, for as long as a rung may take, and prints its row:
// what was answered, and in how much of this process's own time.
void climb(const std::string& text, const std::string& kernel, const std::string& rung, const grids&);

}  // namespace mgsync::test
