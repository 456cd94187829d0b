#include "src/studies/levels/memory_ring.hpp"

#include <algorithm>
#include <numeric>
#include <random>

namespace mgsync::levels {

memory_ring::memory_ring(int ordinal, std::size_t bytes, std::size_t stride, unsigned blocks)
    : stride_(stride),
      words_(bytes / sizeof(std::uint64_t)),
      order_(bytes / stride),
      blocks_(blocks),
      memory_(cuda::memory::on_gpu(ordinal, bytes + blocks * sizeof(std::uint64_t))) {
  std::iota(order_.begin(), order_.end(), 0u);
  std::shuffle(order_.begin(), order_.end(), std::mt19937_64(1));
  std::vector<std::uint64_t> words(words_);
  for (std::size_t k = 0; k < order_.size(); ++k)
    words[order_[k] * stride / sizeof(std::uint64_t)] = address(order_[(k + 1) % order_.size()]);
  cuda::check(cudaMemcpy(memory_.get(), words.data(), bytes, cudaMemcpyHostToDevice),
              "copying the ring of a chase");
}

void memory_ring::begin(std::size_t nodes) {
  first_ += nodes;
  std::vector<std::uint64_t> starts(blocks_);
  for (std::size_t k = 0; k < blocks_; ++k)
    starts[k] = address(order_[(first_ + k * order_.size() / blocks_) % order_.size()]);
  cuda::check(
      cudaMemcpy(memory() + words_, starts.data(), blocks_ * sizeof(std::uint64_t), cudaMemcpyHostToDevice),
      "copying where the chases begin");
}

std::uint64_t memory_ring::address(std::uint32_t node) const {
  return reinterpret_cast<std::uint64_t>(memory_.get()) + node * stride_;
}

}  // namespace mgsync::levels
