// Who had not arrived at a barrier that was given up, by the last epochs of blocks and processes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/base/errors.hpp"

namespace mgsync::library {

struct arrivals {
  unsigned grid_rank = 0;
  std::string who;                    // "GPU 1 (grid 1)"
  std::vector<std::uint32_t> epochs;  // one per block; of a GPU of another process one for the whole GPU
  bool in_blocks = true;
};

// What a GPU told the others: the epoch of its last round that released, and how many did not (relay.hpp).
struct spoken {
  std::uint32_t epoch = 0, quiet = 0;
};
// The epoch that another GPU came to, if this one came to `own` and they told `mine` and `theirs`: of two
// GPUs of a group none is more than a round ahead.
std::uint32_t epoch_of_other(std::uint32_t own, const spoken& mine, const spoken& theirs);

struct absence {
  std::string text;  // "barrier 7: not arrived: GPU 1 (grid 1): block 4; GPU 0 of process 2 (grid 3)"
  std::vector<absent_grid> who;
  bool first = false;  // it was the first barrier of its number of blocks
};

// Compares epochs by their difference, since they may have wrapped.
absence who_is_missing(const std::vector<arrivals>&);

}  // namespace mgsync::library
