// A ring of addresses in a GPU's memory, for chases that meet L1, L2 or DRAM.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "src/base/cuda.hpp"

namespace mgsync::levels {

// A ring through nodes `stride` bytes apart, over all of `bytes`, in random order: each node holds the
// address of the next. Behind them stand the addresses where each of `blocks` blocks begins.
class memory_ring {
 public:
  memory_ring(int ordinal, std::size_t bytes, std::size_t stride, unsigned blocks);

  // Sets where the blocks begin: evenly apart, and `nodes` nodes further than the last time.
  void begin(std::size_t nodes);

  std::uint64_t* memory() const { return memory_.as<std::uint64_t>(); }
  std::uint32_t starts() const {
    return static_cast<std::uint32_t>(words_);
  }  // the index of the first block's address in memory()

 private:
  std::uint64_t address(std::uint32_t node) const;

  std::size_t stride_, words_;
  std::vector<std::uint32_t> order_;
  unsigned blocks_;
  cuda::memory memory_;
  std::size_t first_ = 0;
};

}  // namespace mgsync::levels
