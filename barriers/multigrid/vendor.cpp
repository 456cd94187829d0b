#include "barriers/multigrid/vendor.hpp"

#include <barrier>
#include <map>

#include <fmt/format.h>

#include "barriers/parts/symmetric_memory/group_memory.hpp"
#include "src/base/cuda_driver.hpp"

extern const unsigned char mgsync_vendor_image[];

namespace mgsync {

namespace {

// The driver's functions.
struct driver {
  decltype(&cuModuleLoadData) load_data =
      cuda::driver_function<decltype(&cuModuleLoadData)>("cuModuleLoadData");
  decltype(&cuModuleGetFunction) get_function =
      cuda::driver_function<decltype(&cuModuleGetFunction)>("cuModuleGetFunction");
  decltype(&cuModuleGetGlobal) get_global =
      cuda::driver_function<decltype(&cuModuleGetGlobal)>("cuModuleGetGlobal");
  decltype(&cuMemcpyDtoH) copy_to_host = cuda::driver_function<decltype(&cuMemcpyDtoH)>("cuMemcpyDtoH");
  decltype(&cuOccupancyMaxActiveBlocksPerMultiprocessor) resident_blocks =
      cuda::driver_function<decltype(&cuOccupancyMaxActiveBlocksPerMultiprocessor)>(
          "cuOccupancyMaxActiveBlocksPerMultiprocessor");
  // Found by its name, since its declaration is deprecated; drivers still have it.
  using launch_function = CUresult (*)(CUDA_LAUNCH_PARAMS*, unsigned, unsigned);
  launch_function launch = cuda::driver_function<launch_function>("cuLaunchCooperativeKernelMultiDevice");

  static const driver& get() {
    static const driver found;
    return found;
  }
};

// The cubin's kernels, loaded on one GPU.
struct module_on_gpu {
  CUfunction timed = nullptr;
  CUfunction checked = nullptr;
};

// Loaded once per process, and never unloaded: that would wait for everything on the GPU. Called from one
// thread.
module_on_gpu load_on(int ordinal, std::string& reason) {
  static std::map<int, module_on_gpu> loaded_before;
  if (const auto found = loaded_before.find(ordinal); found != loaded_before.end()) return found->second;
  const auto& d = driver::get();
  const cuda::device_scope scope(ordinal);
  cuda::check(cudaFree(nullptr), fmt::format("starting CUDA on GPU {}", ordinal));
  CUmodule module = nullptr;
  const CUresult status = d.load_data(&module, mgsync_vendor_image);
  if (status == CUDA_ERROR_NO_BINARY_FOR_GPU || status == CUDA_ERROR_INVALID_IMAGE ||
      status == CUDA_ERROR_UNSUPPORTED_PTX_VERSION) {
    reason = fmt::format("the vendor's cubin was not built for GPU {}", ordinal);
    return {};
  }
  cuda::check_driver(status, fmt::format("loading the vendor's barrier on GPU {}", ordinal));
  CUdeviceptr abi_address = 0;
  unsigned abi = 0;
  if (d.get_global(&abi_address, nullptr, module, "mgsync_vendor_abi") == CUDA_SUCCESS)
    cuda::check_driver(d.copy_to_host(&abi, abi_address, sizeof abi),
                       "reading the version of the vendor's cubin");
  if (abi != sizeof(round_loop::device_run)) {
    reason = "the vendor's cubin was built from another version of mgsync; build it anew";
    return {};
  }
  module_on_gpu loaded;
  cuda::check_driver(d.get_function(&loaded.timed, module, "mgsync_vendor_timed"),
                     "looking for mgsync_vendor_timed");
  cuda::check_driver(d.get_function(&loaded.checked, module, "mgsync_vendor_checked"),
                     "looking for mgsync_vendor_checked");
  return loaded_before[ordinal] = loaded;
}

// One driver call launches on all GPUs: the host threads hand their arguments to the first, which makes it.
class multi_device_launch {
 public:
  explicit multi_device_launch(std::vector<module_on_gpu> modules)
      : modules_(std::move(modules)),
        launches_(modules_.size()),
        all_(static_cast<std::ptrdiff_t>(modules_.size())) {}

  void operator()(unsigned local, bool checked, unsigned grid, unsigned threads, void** arguments,
                  cudaStream_t stream) {
    auto& l = launches_[local];
    l = {};
    l.function = checked ? modules_[local].checked : modules_[local].timed;
    l.gridDimX = grid;
    l.gridDimY = l.gridDimZ = l.blockDimY = l.blockDimZ = 1;
    l.blockDimX = threads;
    l.hStream = stream;
    l.kernelParams = arguments;
    all_.arrive_and_wait();
    if (local == 0)
      status_ = driver::get().launch(launches_.data(), static_cast<unsigned>(launches_.size()), 0);
    all_.arrive_and_wait();
    cuda::check_driver(status_, "launching the vendor's barrier on all GPUs");
  }

 private:
  std::vector<module_on_gpu> modules_;
  std::vector<CUDA_LAUNCH_PARAMS> launches_;
  std::barrier<> all_;
  CUresult status_ = CUDA_SUCCESS;
};

}  // namespace

support vendor_can_run(const topology::group& group) {
  if (topology::owners_of(group).size() > 1)
    return support::no(
        "the vendor's barrier is launched by one call for all GPUs, and these belong to several processes");
  return support::yes();
}

creation create_vendor(const round_loop::flag_barrier_request& w) {
  std::vector<module_on_gpu> modules;
  std::string reason;
  for (const auto& g : w.gpus)
    if (reason.empty()) modules.push_back(load_on(g.ordinal, reason));
  if (reason = first_complaint(w.where, reason); !reason.empty()) return {nullptr, reason, {}, {}};
  // Two addresses that only tell the kernels apart: the real ones differ from GPU to GPU.
  static const char timed_kernel = 0, checked_kernel = 0;
  const round_loop::round_kernels kernels{&timed_kernel, &checked_kernel};
  const auto fit = [&](std::size_t local, const void* kernel, unsigned threads) {
    const CUfunction f = kernel == &checked_kernel ? modules[local].checked : modules[local].timed;
    int blocks = 0;
    cuda::check_driver(driver::get().resident_blocks(&blocks, f, static_cast<int>(threads), 0),
                       "asking how many blocks fit on an SM");
    return blocks;
  };
  if (reason = round_loop::why_no_room(w, kernels, fit); !reason.empty()) return {nullptr, reason, {}, {}};
  auto launch = std::make_shared<multi_device_launch>(std::move(modules));
  round_loop::kernel_barrier_parts parts;
  parts.what = "multigrid (vendor)";
  parts.algorithm = "multi_grid.sync, launched by cuLaunchCooperativeKernelMultiDevice";
  parts.kernels = kernels;
  parts.preloaded = true;
  parts.bounded = false;
  parts.arguments.assign(w.gpus.size(), round_loop::bytes_of(0u));
  parts.launch = [launch](unsigned local, const void* kernel, unsigned grid, unsigned block, void** arguments,
                          cudaStream_t stream) {
    (*launch)(local, kernel == &checked_kernel, grid, block, arguments, stream);
  };
  return round_loop::make_kernel_barrier(w, std::move(parts));
}

}  // namespace mgsync
