// The kernels of two_rounds.cu and backends.cu as they run on a few GPUs of a few blocks of a few threads,
// and what is asked of them: can a thread that passed read what another wrote in an earlier round, or in a
// later one?
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "barriers/library/choice.hpp"
#include "src/models/memory_order/model_check.hpp"
#include "src/models/ptx/launch.hpp"

namespace mgsync::test {

// What a kernel takes, and what its flags hold at first.
// other: as `image` says.
enum class memory_of { library, lines, lines_on_host, relay, counter, reduction, grid_sync, hop, other };

struct grids {
  unsigned gpus = 1;
  unsigned blocks = 1;   // of each GPU
  unsigned threads = 1;  // of each block
  unsigned warp = 2;     // lanes of a warp: as many as GPUs at least, each of which a lane of its own polls
  algorithm::grid_choice choice;  // library, relay, counter
  memory_of kernel = memory_of::library;
  algorithm::flag_image (*image)(unsigned members, unsigned blocks) = nullptr;
};

// Each thread but `writer` and `reader` has a word of its own to write and to read, which orders nothing.
struct word_pair {
  ptx::position writer, reader;
};
std::vector<word_pair> all_pairs(const grids&);

// How much of what ptx::launch leaves out is there all the same.
struct kept {
  unsigned failed_polls = 0;
  bool whole = false;
};
// `round`: whether what is read behind that round only is wrong; 0: behind any.
memory_order::program asked_of(const ptx::kernel&, const grids&, const word_pair&, const kept& = {},
                               int round = 0);
// Whether some read gets a value that no way was recorded for.
memory_order::program completeness_of(const ptx::kernel&, const grids&);

}  // namespace mgsync::test
