#include "src/studies/launch/device_graph.hpp"

#include "src/base/cuda.hpp"
#include "src/studies/launch/kernels.cuh"

namespace mgsync::launch {
namespace {

struct orders {
  waiting what;
  std::uint64_t left = 0;  // how many launches are still to come
};

// The last block to finish should launch the next kernel. All blocks wait equally long, so block 0 does it.
__global__ void launches_itself(orders* given) {
  wait_here(given->what);
  if (blockIdx.x != 0 || threadIdx.x != 0 || --given->left == 0) return;
  cudaGraphLaunch(cudaGetCurrentGraphExec(), cudaStreamGraphTailLaunch);
}

class tail_launching final : public self_launching_graph {
 public:
  tail_launching(unsigned blocks, unsigned threads, int ordinal, cudaStream_t stream)
      : stream_(stream), given_(cuda::memory::on_gpu(ordinal, sizeof(orders))) {
    cudaGraph_t made = nullptr;
    cuda::check(cudaGraphCreate(&made, 0), "creating a graph");
    const cuda::graph owner(made);
    orders* given = given_.as<orders>();
    void* arguments[] = {&given};
    cudaKernelNodeParams node{};
    node.func = reinterpret_cast<void*>(launches_itself);
    node.gridDim = dim3(blocks);
    node.blockDim = dim3(threads);
    node.kernelParams = arguments;
    cudaGraphNode_t added = nullptr;
    cuda::check(cudaGraphAddKernelNode(&added, made, nullptr, 0, &node), "adding a graph node");
    cudaGraphExec_t executable = nullptr;
    cuda::check(cudaGraphInstantiate(&executable, made, cudaGraphInstantiateFlagDeviceLaunch),
                "instantiating a graph for the device");
    graph_ = cuda::executable(executable);
    cuda::check(cudaGraphUpload(graph_.get(), stream_), "uploading a graph");
    cuda::check(cudaStreamSynchronize(stream_), "uploading a graph");
  }
  void arm(std::uint64_t count, const waiting& what) override {
    const orders next{what, count};
    cuda::check(cudaMemcpy(given_.get(), &next, sizeof next, cudaMemcpyHostToDevice), "arming a graph");
  }
  void launch() override { cuda::check(cudaGraphLaunch(graph_.get(), stream_), "launching a graph"); }

 private:
  cudaStream_t stream_;
  cuda::memory given_;
  cuda::executable graph_;
};

}  // namespace

std::unique_ptr<self_launching_graph> make_self_launching(unsigned blocks, unsigned threads,
                                                          cudaStream_t stream) {
  int ordinal = 0;
  cuda::check(cudaGetDevice(&ordinal), "asking for the current GPU");
  return std::make_unique<tail_launching>(blocks, threads, ordinal, stream);
}

}  // namespace mgsync::launch
