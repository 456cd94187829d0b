// Is C = A B? In full against a plain kernel, or by Freivalds' test and sampled entries where that would take
// long.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "src/base/cuda.hpp"
#include "src/studies/pipeline/gemm_kernel.hpp"

namespace mgsync::pipeline {

// Operands on the calling thread's GPU, A and B filled with halves from [-1, 1) that depend on the seed
// alone, C with NaN.
class random_product {
 public:
  random_product(extent size, std::uint64_t seed);
  gemm_operands operands() const;
  void forget_result();  // NaN again

  // The largest error seen over the largest that rounding explains (at most 1 passes), where sums of k
  // products are rounded to 24 bits or a little worse. NaN anywhere gives infinity.
  double full_error() const;                  // every entry; m n k multiply-adds in double
  double freivalds_error(int vectors) const;  // |C r - A (B r)| for random vectors r of +-1
  double sampled_error(int entries) const;
  // Adds `by` to one entry of C, so that a check can be checked.
  void spoil(int row, int column, float by);

 private:
  extent size_;
  std::uint64_t seed_;
  cuda::memory a_, b_, c_;
};

}  // namespace mgsync::pipeline
