// How many blocks of a kernel one GPU holds at once, cached per kernel, block size and amount of shared
// memory, so that a kernel that is launched again and again does not query CUDA each time.
#pragma once

#include <compare>
#include <cstddef>
#include <map>

namespace mgsync::library {

struct kernel_shape {
  const void* kernel;
  unsigned threads;
  std::size_t shared_bytes;
  auto operator<=>(const kernel_shape&) const = default;
};

class fitting_kernels {
 public:
  // Bounds the memory of a program that never asks for the same shape twice; an entry takes some 80 bytes.
  static constexpr std::size_t most = 256;

  // Blocks on the whole GPU; 0: it is not known.
  unsigned at_once(const kernel_shape& shape) const {
    const auto found = known_.find(shape);
    return found == known_.end() ? 0 : found->second;
  }
  void keep(const kernel_shape& shape, unsigned at_once) {
    if (known_.size() >= most && known_.count(shape) == 0) known_.clear();
    known_[shape] = at_once;
  }

 private:
  std::map<kernel_shape, unsigned> known_;
};

}  // namespace mgsync::library
