#include "src/studies/blocking/vendor_case.hpp"

#include <fmt/format.h>

#include "barriers/parts/gpu_team/launch.hpp"
#include "barriers/parts/gpu_team/vendor_cubin.hpp"
#include "src/base/cuda_driver.hpp"

namespace mgsync::blocking {
namespace {

struct prepared {
  std::vector<CUfunction> kernels;  // by GPU
  vendor_code code;
};
prepared& all() {
  static prepared one;
  return one;
}

}  // namespace

std::string prepare_vendor(const std::vector<int>& gpus, bool predicated) {
  const auto attribute = cuda::driver_function<decltype(&cuFuncGetAttribute)>("cuFuncGetAttribute");
  for (const int gpu : gpus) {
    std::string reason;
    const gpu_team::vendor_cubin cubin(
        gpu,
        {"mgsync_vendor_case_abi", sizeof(gpu_board) + sizeof(gpu_progress) + sizeof(gpu_counts),
         "the vendor's cubin has no cases, or those of another version of mgsync; build it anew"},
        reason);
    if (!reason.empty()) return reason;
    all().kernels.push_back(
        cubin.kernel(predicated ? "mgsync_vendor_case_predicated" : "mgsync_vendor_case_branch"));
    int architecture = 0;
    cuda::check_driver(attribute(&architecture, CU_FUNC_ATTRIBUTE_BINARY_VERSION, all().kernels.back()),
                       "reading what code a kernel has");
    const unsigned toolkit = cubin.number("mgsync_vendor_case_toolkit");
    all().code = {fmt::format("CUDA {}.{}", toolkit / 10, toolkit % 10), fmt::format("sm_{}", architecture)};
  }
  return {};
}

vendor_code what_vendor_has() { return all().code; }

void launch_vendor(const gpu_board& board, bool whole_gpus, unsigned blocks, unsigned threads,
                   const std::vector<cudaStream_t>& streams) {
  auto b = board;
  void* arguments[] = {&b, &whole_gpus};
  gpu_team::launch_on_all launches(streams.size());
  for (std::size_t i = 0; i < streams.size(); ++i)
    launches.set(i, all().kernels.at(i), blocks, threads, arguments, streams[i]);
  launches.call("launching the vendor's barrier on all GPUs");
}

}  // namespace mgsync::blocking
