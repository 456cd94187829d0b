// Finds the configuration that the model says is fastest for a product on a machine: by brute force, and by
// Z3.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "src/models/pipeline/machine.hpp"

namespace mgsync::pipeline {

struct search_space {
  std::vector<extent> tiles;
  std::vector<int> buffers;
  std::vector<int> consumers;
};

search_space paper_space();  // tiles of 64 and 128 each, 1 to 4 buffers, one consumer
search_space wide_space();   // m and n multiples of 64 to 256, k multiples of 16 to 128, 1 to 8 buffers, 1 or
                             // 2 consumers

// The model's prediction for one configuration, launch included, in ticks (picoseconds).
struct prediction {
  ticks total = 0;
  ticks waiting = 0;  // wait of the consumers on the most loaded SM: the paper's second goal
  bool operator==(const prediction&) const = default;
};
prediction predict(const machine&, extent size, const configuration&);

// A lower bound in ticks: the launch, and the time that the busiest engine needs alone. It does not depend on
// the number of buffers.
ticks lower_bound(const machine&, extent size, const configuration&);

// All configurations of the space that fit the machine, in the space's order.
std::vector<configuration> candidates(const machine&, const search_space&);

struct search_answer {
  enum class outcome { optimal, nothing_fits, time_out, unknown };
  outcome how = outcome::nothing_fits;
  std::string by;      // "brute force", "Z3 4.8.12"
  std::string reason;  // why it timed out or is unknown
  configuration best;
  prediction time;
  std::vector<configuration> ties;  // brute force: all with the least total, the best first
  std::size_t tried = 0;            // how many candidates
  double seconds = 0;
};

// Finds the configuration with the least total time; among equals the one with the least waiting, then with
// the least shared memory, then the first. Exact: only configurations whose lower bound is above the best
// time are skipped.
search_answer brute_force(const machine&, extent size, const search_space&);

// Whether this build has Z3.
bool has_z3();

// The paper's encoding (section 3.2): event times as arrays of integers indexed by stage, buffers and tile as
// variables, least total and then least waiting; on a persistent machine the recurrences go on over the
// output tiles of an SM. Nothing without Z3 in this build, or where waves that are not persistent differ: the
// recurrences do not describe those. Never longer than `limit`, writing the problem down included: a process
// of its own does it, and is ended then. A time-out is an answer.
std::optional<search_answer> solve_with_z3(const machine&, extent size, const search_space&,
                                           std::chrono::milliseconds limit);

// How much faster the best configuration would be if one resource were twice as good: the bottleneck is what
// helps most.
struct relaxation {
  std::string what;  // "DMA throughput", "shared memory", ...
  double gain_percent = 0;
  configuration best;  // the best configuration then
};
std::vector<relaxation> relaxations(const machine&, extent size, const search_space&, const search_answer&);

}  // namespace mgsync::pipeline
