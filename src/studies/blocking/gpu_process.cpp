#include "src/studies/blocking/gpu_process.hpp"

#include <cuda_runtime_api.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>

#include <fmt/format.h>

#include "src/base/cuda.hpp"
#include "src/base/errors.hpp"
#include "src/studies/blocking/case_board.hpp"

namespace mgsync::blocking {

void end_process() { _exit(0); }

void waive(const std::string& why) {
  tell_found("waived", why);
  end_process();
}

void take_turn(const blocking_case& c) {
  const auto begin = now_ns();
  for (const auto& name : c.turns) {
    const int file = check_errno(open(name.c_str(), O_RDONLY | O_CLOEXEC), "opening the lock of a GPU");
    while (flock(file, LOCK_EX) != 0)
      if (errno != EINTR) check_errno(-1, "waiting for a GPU");
  }
  tell({.waited_s = static_cast<double>(now_ns() - begin) * 1e-9});
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
