// The machine code of a study's probes, one cubin per architecture that was built for: embedded by
// cmake/probes.cmake. The bytes that are loaded onto the GPU are the bytes that src/probes/machine_code
// reads.
#pragma once

#include <cstddef>
#include <span>

namespace mgsync::probes {

struct image {
  unsigned architecture = 0;  // 90: compute capability 9.0
  std::span<const std::byte> bytes;
};

// The image that a GPU of that compute capability runs: the same major version, and the newest minor one that
// it supports; nullptr where there is none.
const image* image_for(std::span<const image> images, int major, int minor);

std::span<const image> arithmetic_images();  // arithmetic.cu: adds of floats, doubles and integers
std::span<const image> unrolled_images();    // unrolled.cu: adds of floats, tens of thousands in a row
std::span<const image> clocks_images();      // clocks.cu: the counters themselves
std::span<const image> warp_images();        // levels/warp.cu and so on
std::span<const image> block_images();
std::span<const image> cluster_images();
std::span<const image> memory_images();
std::span<const image> region_images();        // timeline/region.cu: paper 002's region
std::span<const image> instructions_images();  // timeline/instructions.cu: single ones, and pairs
std::span<const image> block_sums_images();    // model/block_sums.cu: sums in shared memory

}  // namespace mgsync::probes
