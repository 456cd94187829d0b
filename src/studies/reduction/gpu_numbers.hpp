// The numbers in a GPU's memory, made once for all points of a command, and other memory whose reading evicts
// them from the cache. For .cu files.
#pragma once

#include <cstddef>
#include <memory>

#include "src/base/cuda.hpp"
#include "src/studies/reduction/numbers.hpp"

namespace mgsync::reduction {

std::size_t cache_bytes(int ordinal);  // size of the L2 cache in bytes

class gpu_numbers {
 public:
  // At least `bytes` of numbers of that type. They are kept until more bytes or another type is asked for.
  static std::shared_ptr<const gpu_numbers> on(int ordinal, value_type, std::size_t bytes);

  const std::byte* values() const { return memory_.get(); }
  // Evicts the numbers from the L2 cache by reading other memory of twice its size; enqueued on the stream.
  void push_out_of_cache(cudaStream_t) const;

 private:
  gpu_numbers(int ordinal, value_type, std::size_t bytes);

  value_type type_;
  cuda::memory memory_, other_, unread_;
};

}  // namespace mgsync::reduction
