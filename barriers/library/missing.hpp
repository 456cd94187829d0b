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

struct absence {
  std::string text;  // "barrier 7: not arrived: GPU 1 (grid 1): block 4; GPU 0 of process 2 (grid 3)"
  std::vector<absent_grid> who;
  bool first = false;  // it was the first barrier of its number of blocks
};

// Compares epochs by their difference, since they may have wrapped.
absence who_is_missing(const std::vector<arrivals>&);

}  // namespace mgsync::library
