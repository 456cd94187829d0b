// Which matrix products the study compiles: their tiles, and how their warps are arranged. Plain values; the
// kernels of gemm_kernel.hpp are in the same order.
#pragma once

#include <array>
#include <span>
#include <string_view>

#include "src/models/pipeline/pipeline_model.hpp"

namespace mgsync::pipeline {

// One compiled instantiation.
struct gemm_instance {
  extent tile;
  int consumers = 1;   // 2: ping-pong, output tiles alternate between them and one multiplies at a time
  int math_warps = 4;  // of each consumer
};

inline constexpr std::array<gemm_instance, 8> mma_instances = {{{{64, 64, 64}},
                                                                {{64, 64, 128}},
                                                                {{64, 128, 64}},
                                                                {{64, 128, 128}},
                                                                {{128, 64, 64}},
                                                                {{128, 64, 128}},
                                                                {{128, 128, 64}},
                                                                {{128, 128, 128}}}};
inline constexpr std::array<gemm_instance, 12> wgmma_instances = {{{{64, 64, 64}},
                                                                   {{64, 128, 64}},
                                                                   {{64, 256, 64}},
                                                                   {{64, 64, 128}},
                                                                   {{64, 128, 128}},
                                                                   {{128, 64, 64}, 1, 8},
                                                                   {{128, 128, 64}, 1, 8},
                                                                   {{128, 256, 64}, 1, 8},
                                                                   {{128, 64, 128}, 1, 8},
                                                                   {{128, 128, 128}, 1, 8},
                                                                   {{64, 128, 64}, 2, 4},
                                                                   {{64, 256, 64}, 2, 4}}};

// The registers of a thread: what it may use, and what setmaxnreg leaves a producer's where two warpgroups
// multiply; with fewer there are enough for all.
inline constexpr int most_registers = 255, traded_consumer_registers = 232, traded_producer_registers = 40;

struct gemm_family {
  std::string_view name;
  std::string_view instruction;  // the multiplication, for people to read
  std::span<const gemm_instance> instances;
  int most_producers = 1;
};
inline constexpr gemm_family mma_family{"mma", "mma.sync m16n8k16", mma_instances, 2};
inline constexpr gemm_family wgmma_family{"wgmma", "wgmma m64nNk16", wgmma_instances, 1};
// The vendor's library, for comparison: it chooses its kernel itself, and nothing is calibrated of it.
inline constexpr std::array<gemm_instance, 1> cublas_instances = {{{{1, 1, 1}}}};
inline constexpr gemm_family cublas_family{"cublas", "cublasGemmEx", cublas_instances, 1};
inline constexpr std::array<const gemm_family*, 2> gemm_families = {&mma_family, &wgmma_family};

// What a launch does besides handing buffers over: for calibration each part can be left out. Multiplying
// without loads works on what the first stages loaded, once: on zeros or what is left over it would run at
// another power.
struct gemm_parts {
  bool loads = true;
  bool math = true;
  bool epilogue = true;
  bool operator==(const gemm_parts&) const = default;
};

}  // namespace mgsync::pipeline
