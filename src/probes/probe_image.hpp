// The machine code of probes, one cubin per architecture that was built for: embedded by
// cmake/probes.cmake. The bytes that are loaded onto the GPU are the bytes that src/probes/machine_code
// reads.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace mgsync::probes {

struct image {
  unsigned architecture = 0;  // 90: compute capability 9.0
  std::span<const std::byte> bytes;
};

// The image that a GPU of that compute capability runs: the same major version, and the newest minor one that
// it supports; nullptr where there is none.
const image* image_for(std::span<const image> images, int major, int minor);

// The images of a source of probes: "warp" of warp.cu.
std::span<const image> images_of(std::string_view source);

}  // namespace mgsync::probes
