// What the study measures on the calling thread's GPU, as rows of CSV that evaluation.hpp reads. Nothing is judged here.
#pragma once

#include <cstdint>
#include <cstdio>

#include "src/studies/pipeline/gemm_kernel.hpp"

namespace mgsync::pipeline {

// "# key=value" lines: the GPU, its SMs and shared memory, driver and toolkit.
void print_machine(std::FILE*);

// The synthetic kernel: settings for calibration (even cases, some of them without work), then `random_settings` held-out
// ones of 200 to 20,000 cycles, spread over all semaphores; with `timelines`, what every agent did when, for a few.
void print_synthetic(std::FILE*, int random_settings, std::uint64_t seed);
void print_synthetic_timelines(std::FILE*);

// One family: rows for calibration (parts left out, long and short products, one block to all SMs), then every size of
// the paper's grid for every instance, then `random_sizes` others.
void print_products(std::FILE*, const gemm_kernel&, int random_sizes, std::uint64_t seed);

// 2048, 4096 and 8192 cubed, whole and multiplying only: the rate against the machine's own peak.
void print_large_products(std::FILE*, const gemm_kernel&);

// Every instance: in full up to 1024 cubed and on sizes that no tile divides; Freivalds with three vectors and sampled
// entries above. Each row has the error over what rounding allows, and the same for a product with one wrong entry.
// Returns whether all passed and all wrong ones were caught.
bool print_product_checks(std::FILE*, const gemm_kernel&);

}  // namespace mgsync::pipeline
