// Runs of the probes of block_sums.cu, as subjects: sums in shared memory by one block, on the SM's cycle
// counter.
#pragma once

#include <string>
#include <vector>

#include "src/harness/machine_code/code_check.hpp"
#include "src/harness/study.hpp"

namespace mgsync::model {

enum class block_quantity {
  sum,      // a whole sum: from the first warp's begin to the first warp's end, "typical_cycles"
  loop,     // the loop alone, of `count` turns: from the first begin to the last end, "cycles"
  step,     // `count` steps that join, "cycles"
  warp_sum  // table V: "typical_cycles"
};

struct block_run {
  block_quantity what = block_quantity::sum;
  std::string kernel;     // steps: without its count
  unsigned threads = 32;  // of the block
  unsigned workers = 1;   // that add up; steps: that load, add and store
  unsigned numbers = 1;   // of a whole sum
  unsigned blocks = 1;    // of a cluster; the first one's first warp is timed
};

// A run yields cycles as block_quantity says, a value for each pass but the first or the one seen most often.
// Whole sums and loops also check their sums, and yield what was "expected" and "seen" last.
subject_creation make_block_run(const block_run&, int ordinal);

// Of a sum of `count` numbers, of the first `workers` of every turn's; and by one worker alone: what must
// come out.
double number_of(unsigned place);
double sum_of(unsigned count);

// What the machine code of block_sums.cu says, kernel by kernel.
std::vector<machine_code::expected_code> block_code(unsigned architecture);

// What was wrong with `sums`, as words for a person: every pass of every run.
std::unique_ptr<checker> make_block_checker();

}  // namespace mgsync::model
