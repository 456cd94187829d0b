#include "src/studies/reduction/vendor_sum.hpp"

#include "barriers/parts/gpu_team/vendor_cubin.hpp"

namespace mgsync::reduction {

std::unique_ptr<vendor_sum> vendor_sum::load(value_type type, const std::vector<gpu_team::gpu_member>& gpus,
                                             std::string& reason) {
  const char* const name = type == value_type::fp64   ? "mgsync_vendor_sum_fp64"
                           : type == value_type::fp32 ? "mgsync_vendor_sum_fp32"
                                                      : "mgsync_vendor_sum_int32";
  std::vector<CUfunction> kernels;
  for (const auto& gpu : gpus) {
    const gpu_team::vendor_cubin cubin(
        gpu.ordinal,
        {"mgsync_vendor_sum_abi", sizeof(sum_arguments),
         "the vendor's cubin has no sums, or those of another version of mgsync; build it anew"},
        reason);
    if (!reason.empty()) return nullptr;
    kernels.push_back(cubin.kernel(name));
  }
  return std::make_unique<vendor_sum>(std::move(kernels));
}

int vendor_sum::resident_blocks(unsigned gpu, unsigned threads) const {
  return gpu_team::blocks_on_an_sm(kernels_[gpu], threads);
}

void vendor_sum::launch(unsigned blocks, unsigned threads, std::vector<sum_arguments>& given,
                        const std::vector<cudaStream_t>& streams) {
  std::vector<void*> parameters;
  for (auto& each : given) parameters.push_back(&each);
  for (std::size_t i = 0; i < kernels_.size(); ++i)
    launches_.set(i, kernels_[i], blocks, threads, &parameters[i], streams[i]);
  launches_.call("launching sums on all GPUs");
}

}  // namespace mgsync::reduction
