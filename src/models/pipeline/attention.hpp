// Two products with a softmax between, as in attention: a producer loads tiles of K and V, consumers do
// Q K^T, the softmax and the product with V, tile after tile. The tensor core multiplies for one consumer at
// a time, and the units that compute exponentials serve one at a time. Which schedule is best, and with how
// many buffers? Nothing of it was measured: the times are the caller's.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "src/models/pipeline/pipeline_model.hpp"

namespace mgsync::pipeline {

// What one stage, a tile of K and one of V, costs: the products and the softmax of all rows of a block.
struct attention_times {
  load_time load;  // of a tile of K, and of one of V
  ticks product_qk = 0, softmax = 0, product_pv = 0;
  ticks handover = 0;  // from a signal until the agent that waits for it goes on
  bool operator==(const attention_times&) const = default;
};

// Cooperative: both consumers do the same for their halves of the rows at the same time, as one. Ping-pong:
// each does its half by itself; they take turns on the tensor core, with the second product of a stage and
// the first of the next, so that one multiplies while the other's softmax is computed.
enum class attention_schedule { cooperative, ping_pong };
std::string_view word_of(attention_schedule);

struct attention_setting {
  attention_schedule how = attention_schedule::ping_pong;
  int buffers = 2;  // of K, and as many of V
  bool operator==(const attention_setting&) const = default;
};

struct attention_activity {
  enum class kind { load_k, load_v, product_qk, softmax, product_pv };
  kind what = kind::load_k;
  int agent = 0;  // which consumer; 0 for loads
  int stage = 0;
  ticks begin = 0;
  ticks end = 0;
  bool operator==(const attention_activity&) const = default;
};

// Simulates one block event by event, in the order of beginning. std::invalid_argument unless there are at
// least one stage and buffer, at most 2^20 stages, times are not negative, and latency >= issue.
std::vector<attention_activity> simulate(const attention_times&, int stages, const attention_setting&);
ticks total_of(const std::vector<attention_activity>&);

// What must hold of activities and does not, a sentence each: two at a time on the tensor core, on the
// softmax units or of one consumer; something used before it was there, or overwritten while in use;
// something missing.
std::vector<std::string> violations(const std::vector<attention_activity>&, const attention_times&,
                                    int stages, const attention_setting&);

// The same time without events, by recurrences over the stages.
ticks attention_time(const attention_times&, int stages, const attention_setting&);

// The least time that two consumers with half of the rows each can take in any order on the tensor core and
// on the softmax units: all orders are tried. std::invalid_argument for more than 4 stages.
inline constexpr int most_ordered_stages = 4;
ticks least_time_of_orders(const attention_times&, int stages, int buffers);

// What Z3 says to that least time, asked whether there is an order that takes as little, and one that takes
// less: "agrees", or why not. It is asked in a process of its own, which is ended after `limit`.
std::string z3_on_orders(const attention_times&, int stages, int buffers, ticks least,
                         std::chrono::milliseconds limit);

struct attention_question {
  attention_times times;
  int stages = 64;
  std::vector<int> buffers{};                   // considered; empty: 1 to 8
  std::vector<attention_schedule> schedules{};  // considered; empty: both
  std::string machine{};                        // whose latency and handover were taken; empty: nobody's
  std::optional<std::chrono::milliseconds> solver_limit{};  // nothing: the solver is not asked
};
struct attention_choice {
  attention_setting setting;
  ticks total = 0;
  double stage = 0;  // from stage to stage, in ticks
};
struct attention_answer {
  attention_choice best;               // more buffers only where they gain more than 0.5 %
  std::vector<attention_choice> all;   // by schedule, then by buffers
  std::string binds;                   // what a stage waits for
  std::optional<ticks> fastest_order;  // of ping-pong's first stages in any order, and of ping-pong itself
  ticks alternating = 0;
  int ordered_stages = 0;
  std::string solver;  // what Z3 says to that; empty: it was not asked
  timeline schedule;   // of the best, in ns; the first stages of a long one
};
attention_answer answer(const attention_question&);

// What `mgsync study pipeline --attention` prints, and the same as rows.
std::string to_text(const attention_question&, const attention_answer&);
std::string to_csv(const attention_question&, const attention_answer&);

}  // namespace mgsync::pipeline
