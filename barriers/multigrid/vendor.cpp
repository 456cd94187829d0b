#include "barriers/multigrid/vendor.hpp"

#include <barrier>

#include "barriers/parts/gpu_team/launch.hpp"
#include "barriers/parts/gpu_team/vendor_cubin.hpp"
#include "barriers/parts/round_loop/device_run.hpp"
#include "barriers/parts/symmetric_memory/group_memory.hpp"
#include "src/base/cuda_driver.hpp"

namespace mgsync {

namespace {

constexpr gpu_team::vendor_part part{
    "mgsync_vendor_abi", sizeof(round_loop::device_run),
    "the vendor's cubin was built from another version of mgsync; build it anew"};

struct kernels_on_gpu {
  CUfunction timed = nullptr;
  CUfunction checked = nullptr;
};

// One driver call launches on all GPUs: the host threads hand their arguments to the first, which makes it.
class handed_to_the_first {
 public:
  explicit handed_to_the_first(std::size_t gpus) : launches_(gpus), all_(static_cast<std::ptrdiff_t>(gpus)) {}

  void operator()(unsigned local, CUfunction kernel, unsigned grid, unsigned threads, void** arguments,
                  cudaStream_t stream) {
    launches_.set(local, kernel, grid, threads, arguments, stream);
    all_.arrive_and_wait();
    if (local == 0) status_ = launches_.call();
    all_.arrive_and_wait();
    cuda::check_driver(status_, "launching the vendor's barrier on all GPUs");
  }

 private:
  gpu_team::launch_on_all launches_;
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
  std::vector<kernels_on_gpu> on_gpus;
  std::string reason;
  for (const auto& g : w.gpus) {
    const gpu_team::vendor_cubin cubin(g.ordinal, part, reason);
    if (!reason.empty()) break;
    on_gpus.push_back({cubin.kernel("mgsync_vendor_timed"), cubin.kernel("mgsync_vendor_checked")});
  }
  if (reason = first_complaint(w.where, reason); !reason.empty()) return {nullptr, reason, {}, {}};
  // Two addresses that only tell the kernels apart: the real ones differ from GPU to GPU.
  static const char timed_kernel = 0, checked_kernel = 0;
  const gpu_team::round_kernels kernels{&timed_kernel, &checked_kernel};
  const auto on = [on_gpus](std::size_t local, const void* kernel) {
    return kernel == &checked_kernel ? on_gpus[local].checked : on_gpus[local].timed;
  };
  const auto fit = [&](std::size_t local, const void* kernel, unsigned threads) {
    return gpu_team::blocks_on_an_sm(on(local, kernel), threads);
  };
  if (reason = round_loop::why_no_room(w, kernels, fit); !reason.empty()) return {nullptr, reason, {}, {}};
  auto launch = std::make_shared<handed_to_the_first>(on_gpus.size());
  round_loop::kernel_barrier_parts parts;
  parts.what = "multigrid (vendor)";
  parts.algorithm = "multi_grid.sync, launched by cuLaunchCooperativeKernelMultiDevice";
  parts.kernels = kernels;
  parts.preloaded = true;
  parts.bounded = false;
  parts.arguments.assign(w.gpus.size(), round_loop::bytes_of(0u));
  parts.launch = [launch, on](unsigned local, const void* kernel, unsigned grid, unsigned block,
                              void** arguments, cudaStream_t stream) {
    (*launch)(local, on(local, kernel), grid, block, arguments, stream);
  };
  return round_loop::make_kernel_barrier(w, std::move(parts));
}

}  // namespace mgsync
