#include "src/studies/blocking/gpu_process.hpp"

#include <cuda_runtime_api.h>
#include <unistd.h>

#include <fmt/format.h>

#include "src/base/cuda.hpp"
#include "src/studies/blocking/case_board.hpp"

namespace mgsync::blocking {

void end_process() { _exit(0); }

void waive(const std::string& why) {
  tell_found("waived", why);
  end_process();
}

int capability_of(int gpu) {
  int major = 0, minor = 0;
  cuda::check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, gpu),
              "reading the compute capability");
  cuda::check(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, gpu),
              "reading the compute capability");
  return 10 * major + minor;
}

std::string architecture_of(const void* kernel) {
  cudaFuncAttributes code{};
  cuda::check(cudaFuncGetAttributes(&code, kernel), "reading what code a kernel has");
  const bool native = code.binaryVersion == code.ptxVersion;
  return fmt::format("sm_{}{}", code.binaryVersion,
                     native ? "" : fmt::format(" from PTX {}", code.ptxVersion));
}

void say_what_it_ran_with(const blocking_case& c, const std::string& toolkit,
                          const std::string& architecture) {
  int driver = 0;
  cuda::check(cudaDriverGetVersion(&driver), "reading the driver's version");
  tell({.found = {{"toolkit", toolkit},
                  {"driver", fmt::format("CUDA {}.{}", driver / 1000, driver % 1000 / 10)},
                  {"architecture", architecture},
                  {"capability", std::to_string(capability_of(c.gpus.front()))},
                  {"code_form", c.form.empty() ? "branch" : c.form}}});
}

std::string toolkit_here() {
  return fmt::format("CUDA {}.{}", CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10);
}

}  // namespace mgsync::blocking
