// What the machine code of the chains of adds must be (arithmetic.cu).
#pragma once

#include <vector>

#include "src/probes/machine_code/code_check.hpp"

namespace mgsync::probes {

// The lengths of the unrolled chains of every family.
inline constexpr unsigned arithmetic_lengths[] = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 4096};
inline constexpr unsigned arithmetic_loop_body = 256;

// The code of a chain of `links` operations; `operation` is fp32_add, fp64_add or int_add.
machine_code::expected_code expected_add_chain(const std::string& operation, unsigned links);
// The code of a loop over `arithmetic_loop_body` of them.
machine_code::expected_code expected_add_loop(const std::string& operation);

// The code of all kernels of arithmetic.cu.
std::vector<machine_code::expected_code> arithmetic_code();

// The lengths of the chains of unrolled.cu: the papers' base of 512 adds, and longer ones.
inline constexpr unsigned unrolled_lengths[] = {512, 2568, 5632, 8192, 10752, 20992, 26112, 41472, 51712};
machine_code::expected_code expected_unrolled(unsigned links);  // the kernel fp32_add_unrolled_<links>
std::vector<machine_code::expected_code> unrolled_code();

}  // namespace mgsync::probes
