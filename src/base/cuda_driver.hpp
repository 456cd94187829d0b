// The CUDA driver's functions, found at run time through the runtime: nothing links libcuda.
#pragma once

#include <cuda.h>

#include <string>
#include <string_view>

#include "src/base/source_location.hpp"

namespace mgsync::cuda {

// The driver's function `name` in its form of CUDA `version` (12000: 12.0); nullptr where the driver does not
// have it.
void* find_driver_entry(const char* name, unsigned version = 12000);
// The same; throws api_error where it is missing.
void* driver_entry(const char* name);

template <class F>
F driver_function(const char* name) {
  return reinterpret_cast<F>(driver_entry(name));
}

// "CUDA_ERROR_NOT_PERMITTED".
std::string driver_error(CUresult status);

// Throws api_error naming the error and the action unless `status` is CUDA_SUCCESS.
void check_driver(CUresult status, std::string_view action,
                  source_location where = source_location::current());

}  // namespace mgsync::cuda
