// Checks before a launch whether a kernel can be launched as one of a group. They use the driver's interface
// where a failing runtime call would set the caller's last error.
#pragma once

#include <optional>
#include <string>

#include <cuda_runtime_api.h>

#include "barriers/library/include/mgsync/multi_grid.hpp"
#include "barriers/library/launch_plan.hpp"

namespace mgsync::library {

// What CUDA calls the kernel, asked on the calling thread's GPU; empty where this CUDA version does not tell.
std::string name_of_kernel(const void* kernel);
// Of a launch on the GPU with that number.
launch_plan plan_of(const launch_parameters&, unsigned blocks, int ordinal);

// Throws usage_error if the kernel's first parameter cannot be a handle, as far as this CUDA version can
// tell.
void check_first_parameter(const void* kernel);

// The number of SMs of the green context that the stream belongs to; nothing if it belongs to none.
std::optional<unsigned> sms_of_green_context(cudaStream_t stream);

// Whether the stream is being captured. Must be asked first, because other calls may invalidate a capture.
bool is_captured(cudaStream_t stream, int ordinal);

// Why a launch on GPU `ordinal`, which is the calling thread's current one, cannot go to `stream`; empty if
// it can.
std::string why_not_on(cudaStream_t stream, int ordinal);

// How many blocks of the kernel the calling thread's GPU holds at once; for a kernel with clusters, a
// multiple of the cluster size.
unsigned resident_at_once(const launch_parameters& p, unsigned threads, int ordinal);

// If the kernel asks for more shared memory than it may use but no more than the GPU has: a sentence that
// says how to allow it, else empty. Asks the calling thread's current GPU.
std::string remedy_for_shared_memory(const launch_parameters& p, int ordinal);

}  // namespace mgsync::library
