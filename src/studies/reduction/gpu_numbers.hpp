// The numbers in a GPU's memory: made once for all points of a command, and other memory that pushes them out
// of the cache. For .cu files.
#pragma once

#include <cstddef>
#include <memory>

#include "src/base/cuda.hpp"
#include "src/studies/reduction/numbers.hpp"

namespace mgsync::reduction {

std::size_t cache_bytes(int ordinal);  // of the second level

class gpu_numbers {
 public:
  // At least `bytes` of numbers of that type: kept until more are asked for, or another type.
  static std::shared_ptr<const gpu_numbers> on(int ordinal, value_type, std::size_t bytes);

  const std::byte* values() const { return memory_.get(); }
  // Reads other memory, twice the cache's size, on this stream.
  void push_out_of_cache(cudaStream_t) const;

 private:
  gpu_numbers(int ordinal, value_type, std::size_t bytes);

  value_type type_;
  cuda::memory memory_, other_, unread_;
};

}  // namespace mgsync::reduction
