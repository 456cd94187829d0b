// Checks whether C = A B: in full against a simple kernel, or by Freivalds' test and sampled entries where
// that would take too long.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "src/base/cuda.hpp"
#include "src/studies/pipeline/gemm_kernel.hpp"

namespace mgsync::pipeline {

// Operands on the calling thread's GPU: A and B are filled with halves from [-1, 1) that depend on the seed
// alone, C with NaN.
class random_product {
 public:
  random_product(extent size, std::uint64_t seed);
  gemm_operands operands() const;
  void forget_result();  // sets C to NaN again

  // The largest error relative to the largest that rounding explains (at most 1 passes), assuming sums of k
  // products rounded to 24 bits or a little worse. Any NaN gives infinity.
  double full_error() const;                  // every entry; m n k multiply-adds in double
  double freivalds_error(int vectors) const;  // |C r - A (B r)| for random vectors r of +-1
  double sampled_error(int entries) const;
  // Adds `by` to one entry of C: the positive control.
  void spoil(int row, int column, float by);

 private:
  extent size_;
  std::uint64_t seed_;
  cuda::memory a_, b_, c_;
};

}  // namespace mgsync::pipeline
