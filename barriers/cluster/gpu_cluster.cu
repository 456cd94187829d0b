#include "barriers/cluster/gpu_cluster.hpp"

#include <string>

#include <cooperative_groups.h>

#include "barriers/parts/gpu_team/launch.hpp"
#include "barriers/parts/round_loop/device_rounds.hpp"
#include "barriers/parts/round_loop/kernel_barrier.hpp"
#include "src/base/cuda.hpp"

namespace mgsync {

namespace {

// The hardware's barrier of a cluster, whose wait has no time-out.
template <bool Library>
class cluster_pass {
 public:
  static constexpr bool bounded = false;
  static constexpr bool carries_sum = false;
  struct arguments {
    unsigned unused;
  };
  __device__ cluster_pass(const arguments&, const round_loop::device_run&) {}
  __device__ bool operator()(std::uint32_t) {
#if __CUDA_ARCH__ >= 900
    if constexpr (Library) cooperative_groups::this_cluster().sync();
    else
      asm volatile("barrier.cluster.arrive.release.aligned;\n barrier.cluster.wait.acquire.aligned;" ::
                       : "memory");
    return true;
#else
    return false;  // never launched there: no clusters
#endif
  }
};

// One cluster, which is the whole grid.
gpu_team::kernel_launch one_cluster(const void* kernel, unsigned blocks, unsigned threads) {
  return {.kernel = kernel,
          .blocks = blocks,
          .threads = threads,
          .as = gpu_team::launch_as::clusters,
          .cluster = blocks};
}

// Why the GPU holds no cluster of that many blocks; empty if it does. Clusters of more than 8 blocks must be
// allowed by an attribute of the kernel, and not every GPU has them.
std::string why_no_cluster(const void* kernel, unsigned blocks, unsigned threads) {
  if (blocks > 8)
    cuda::check(cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1),
                "asking for a large cluster");
  const gpu_team::launch_settings settings(one_cluster(kernel, blocks, threads));
  int clusters = 0;
  if (cudaOccupancyMaxActiveClusters(&clusters, kernel, settings.get()) != cudaSuccess) cudaGetLastError();
  if (clusters > 0) return {};
  return "this GPU holds no cluster of " + std::to_string(blocks) + " blocks of " + std::to_string(threads) +
         " threads";
}

template <class Pass>
creation make(const round_loop::flag_barrier_request& w, std::string what) {
  const gpu_team::round_kernels kernels{reinterpret_cast<const void*>(round_loop::timed_rounds<Pass>),
                                        reinterpret_cast<const void*>(round_loop::checked_rounds<Pass>)};
  if (auto reason = round_loop::why_no_room(w, kernels); !reason.empty()) return {nullptr, reason, {}, {}};
  std::string reason;
  for (const auto& gpu : w.gpus) {
    const cuda::device_scope scope(gpu.ordinal);
    for (const void* const kernel : {kernels.timed, kernels.checked})
      if (reason.empty()) reason = why_no_cluster(kernel, w.blocks, w.threads);
  }
  if (reason = first_complaint(w.where, reason); !reason.empty()) return {nullptr, reason, {}, {}};
  round_loop::kernel_barrier_parts parts;
  parts.what = "cluster (" + what + ")";
  parts.algorithm = std::move(what);
  parts.kernels = kernels;
  parts.bounded = Pass::bounded;
  parts.launch = [](unsigned, const void* kernel, unsigned grid, unsigned threads, void** arguments,
                    cudaStream_t stream) {
    gpu_team::launch(one_cluster(kernel, grid, threads), arguments, stream, "launching a cluster");
  };
  for (std::size_t l = 0; l < w.gpus.size(); ++l)
    parts.arguments.push_back(round_loop::bytes_of(typename Pass::arguments{0}));
  return round_loop::make_kernel_barrier(w, std::move(parts));
}

}  // namespace

namespace gpu_cluster {

creation hardware(const topology::group& group, const configuration& wanted, session& where) {
  return make<cluster_pass<false>>(round_loop::request_of(group, wanted, where, "cluster"),
                                   "barrier.cluster, release and acquire");
}

creation cooperative_groups(const topology::group& group, const configuration& wanted, session& where) {
  return make<cluster_pass<true>>(round_loop::request_of(group, wanted, where, "cluster"), "cluster.sync");
}

}  // namespace gpu_cluster

}  // namespace mgsync
