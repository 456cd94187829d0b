// How the kernels of sums are launched, and over how many blocks. Host code with CUDA.
#pragma once

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "barriers/parts/gpu_team/launch.hpp"
#include "src/base/cuda.hpp"
#include "src/studies/reduction/gpu_kernels.hpp"
#include "src/studies/reduction/gpu_numbers.hpp"

namespace mgsync::reduction {

inline int compute_major(int ordinal) {
  int major = 0;
  cuda::check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, ordinal),
              "asking what a GPU is");
  return major;
}

// Allows the kernel the shared memory that it needs. To be called before asking how many blocks fit, and
// before launching.
inline void allow_shared_memory(const void* kernel, loads how) {
  if (is_bulk(how))
    cuda::check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                     static_cast<int>(shared_bytes_of(how))),
                "asking for shared memory");
}

// How many blocks an SM of the calling thread's GPU holds.
inline int room_of(const void* kernel, const reading& r) {
  return cuda::resident_blocks(kernel, r.threads, shared_bytes_of(r.how));
}
inline std::string why_no_room(int room, const reading& r) {
  return room == 0 ? fmt::format("a block of {} does not fit on an SM", to_string(r)) : "";
}
inline std::string why_not_cached(std::size_t bytes, bool cold, int ordinal) {
  const auto cache = cache_bytes(ordinal);
  return !cold && bytes > cache / 2
             ? fmt::format("{} bytes are more than half of the cache of {}", bytes, cache)
             : "";
}
// The number of blocks: the least of how many tiles there are, how many are allowed, and how many are
// resident at once.
inline unsigned blocks_of(const reading& r, value_type type, std::size_t bytes, int room, int ordinal) {
  const auto tile = tile_bytes_of(r.how, r.threads, bytes_of(type));
  const auto most =
      std::min(static_cast<unsigned>(room), r.blocks_per_sm) * static_cast<unsigned>(cuda::sm_count(ordinal));
  return r.blocks == how_many::one ? 1
         : r.blocks == how_many::all
             ? most
             : static_cast<unsigned>(std::min<std::size_t>(most, (bytes + tile - 1) / tile));
}

inline void launch_sum(const gpu_team::kernel_launch& what, void** parameters, cudaStream_t stream) {
  gpu_team::launch(what, parameters, stream, "launching a sum");
}

// Launches the second kernel, of one block, which adds up the `sums` values at `partials`.
inline void launch_joining(const void* kernel, const void* partials, std::size_t sums, void* result,
                           gpu_team::launch_as as, cudaStream_t stream) {
  void* parameters[] = {&partials, &sums, &result};
  const auto threads = static_cast<unsigned>(std::clamp<std::size_t>((sums + 31) / 32 * 32, 32, 512));
  launch_sum({.kernel = kernel, .threads = threads, .as = as}, parameters, stream);
}

}  // namespace mgsync::reduction
