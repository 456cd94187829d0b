// What launches cost, put together from the parts that were measured (paper 000, section IV and table I;
// paper 004). Pure.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "src/results/frame/figure.hpp"
#include "src/results/values/result.hpp"

namespace mgsync::launch {

// The parts, in ns, of the time of one null kernel from before its launch call until the host has seen its
// end. What is neither the launch call nor the execution overhead is "other".
struct parts {
  double call_ns = 0;       // CPU launch overhead
  double execution_ns = 0;  // fused overhead of large kernels
  double total_ns = 0;
  double other_ns() const { return total_ns - call_ns - execution_ns; }
};

// Table I of 000 and figures 4 to 6 of 004 from these results, beside the papers' V100; and advice on when a
// new kernel is worth its launch.
evaluation evaluate(std::span<const result>);

}  // namespace mgsync::launch
