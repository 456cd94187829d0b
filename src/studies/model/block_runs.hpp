// Runs of the probes of block_sums.cu, as subjects: sums in shared memory by one block, on the SM's cycle
// counter.
#pragma once

#include <string>
#include <vector>

#include "src/harness/study.hpp"
#include "src/probes/catalogue.hpp"
#include "src/probes/sum_arguments.hpp"

namespace mgsync::model {

enum class block_quantity {
  sum,      // a whole sum, from the first begin to the first warp's end: "typical_cycles"
  loop,     // the loop alone, `count` turns, from the first begin to the last end: "cycles"
  step,     // `count` steps of joining: "cycles"
  warp_sum  // table V: "typical_cycles"
};

struct block_run {
  block_quantity what = block_quantity::sum;
  const probes::probe* probe = nullptr;
  unsigned threads = 32;  // of the block
  unsigned workers = 1;   // how many threads add up; for steps: that load, add and store
  unsigned numbers = 1;   // how many numbers a whole sum has
};

// A run yields cycles as block_quantity says: "cycles" for each pass but the first, "typical_cycles" the
// number seen most often. Whole sums and loops also check their sums, and yield the last "expected" and
// "seen" sum.
subject_creation make_block_run(const block_run&, int ordinal);

// The number at a place, and the exact sum of the first `count` numbers.
double number_of(unsigned place);
double sum_of(unsigned count);

// A checker of the sums of every pass of every run.
std::unique_ptr<checker> make_block_checker();

}  // namespace mgsync::model
