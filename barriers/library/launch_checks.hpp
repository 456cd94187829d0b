// Whether a kernel can be launched as one of a group, asked before the launch: a question or a refusal each.
// Through the driver where the runtime's answer would become the caller's last error.
#pragma once

#include <optional>
#include <string>

#include <cuda_runtime_api.h>

#include "barriers/library/include/mgsync/multi_grid.hpp"
#include "src/base/filled.hpp"

namespace mgsync::library {

inline unsigned volume(const dim3& d) { return d.x * d.y * d.z; }
inline bool alike(const dim3& a, const dim3& b) { return a.x == b.x && a.y == b.y && a.z == b.z; }
inline std::string written(const dim3& d) {
  if (d.y == 1 && d.z == 1) return std::to_string(d.x);
  return filled("({}, {}, {})", d.x, d.y, d.z);
}

// Throws where the kernel's first parameter cannot be a handle, as far as CUDA tells.
void check_first_parameter(const void* kernel);

// The SMs of the green context that the stream belongs to; nothing where it has all of its GPU's.
std::optional<unsigned> sms_of_green_context(cudaStream_t stream);

// Whether the stream is being captured. Asked before anything else: a question that is not about the capture
// may end it.
bool is_captured(cudaStream_t stream, int ordinal);

// Why a launch on GPU `ordinal`, the calling thread's, cannot go to `stream`; empty: it can.
std::string why_not_on(cudaStream_t stream, int ordinal);

// How many blocks of the kernel the calling thread's GPU holds at once, for one with clusters in whole
// clusters.
unsigned resident_at_once(const launch_parameters& p, unsigned threads, int ordinal);

// Where the kernel may not use as much shared memory as the GPU would give it: how it may. On the calling
// thread's GPU.
std::string remedy_for_shared_memory(const launch_parameters& p, int ordinal);

}  // namespace mgsync::library
