// Who had not arrived at a barrier that was given up, by the epochs that blocks and processes came to.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mgsync::library {

struct arrivals {
  std::string who;                    // "GPU 1 (grid 1)"
  std::vector<std::uint32_t> epochs;  // of its blocks; of a GPU of another process one, of the whole
  bool in_blocks = true;
};

// "barrier 7: not arrived: GPU 1 (grid 1): block 4; GPU 0 of process 2 (grid 3)". Epochs may have wrapped:
// what counts is their difference.
std::string who_is_missing(const std::vector<arrivals>&);

}  // namespace mgsync::library
