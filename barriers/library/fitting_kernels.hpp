// How many blocks of a kernel one GPU holds at once: found out once for each kernel, block and amount of
// shared memory, and kept, so that kernels that follow one another in a loop are launched without asking CUDA
// anew.
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
  // Of a program that never asks for the same shape twice; each is some 80 bytes.
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
