#include "src/studies/launch/graph_nodes.hpp"

#include <chrono>

#include "src/base/cuda.hpp"
#include "src/studies/launch/graph_rounds.hpp"

namespace mgsync::launch {
namespace {

using clock = std::chrono::steady_clock;

double us_since(clock::time_point begin) {
  return std::chrono::duration<double, std::micro>(clock::now() - begin).count();
}

constexpr bool has_conditional_nodes = CUDART_VERSION >= 12040;

void do_nothing(void*) {}

class nodes_in_a_graph final : public subject {
 public:
  nodes_in_a_graph(node what, int ordinal) : what_(what), ordinal_(ordinal) {
    const cuda::device_scope scope(ordinal);
    stream_ = cuda::make_stream();
    words_ = cuda::memory::on_gpu(ordinal, 256);
  }

  seen run(const run_order& asked) override {
    const cuda::device_scope scope(ordinal_);
    if (asked.count != count_) make(asked.count);
    seen came{.done = asked};
    const auto begin = clock::now();
    cuda::check(cudaGraphLaunch(graph_.get(), stream_.get()), "launching a graph");
    const double call_us = us_since(begin);
    cuda::check(cudaStreamSynchronize(stream_.get()), "running a graph");
    came.values = {{"total_us", {us_since(begin)}},
                   {"call_us", {call_us}},
                   {"instantiation_us", {instantiation_us_}},
                   {"upload_us", {upload_us_}}};
    return came;
  }

 private:
  void make(std::uint64_t count) {
    cudaGraph_t made = nullptr;
    cuda::check(cudaGraphCreate(&made, 0), "making a graph");
    const cuda::graph owner(made);
    cudaGraphNode_t before = nullptr;
    for (std::uint64_t i = 0; i < count; ++i) before = add(made, before);
    auto begin = clock::now();
    graph_ = cuda::instantiate(owner);
    instantiation_us_ = us_since(begin);
    begin = clock::now();
    cuda::check(cudaGraphUpload(graph_.get(), stream_.get()), "uploading a graph");
    cuda::check(cudaStreamSynchronize(stream_.get()), "uploading a graph");
    upload_us_ = us_since(begin);
    count_ = count;
  }

  static cudaKernelNodeParams kernel() {
    cudaKernelNodeParams node{};
    node.func = const_cast<void*>(empty_kernel());
    node.gridDim = dim3(1);
    node.blockDim = dim3(32);
    return node;
  }

  cudaGraphNode_t add(cudaGraph_t graph, cudaGraphNode_t before) const {
    const auto* const behind = before == nullptr ? nullptr : &before;
    const std::size_t waits = before == nullptr ? 0 : 1;
    cudaGraphNode_t added = nullptr;
    auto* const words = words_.as<std::uint64_t>();
    auto status = cudaSuccess;
    switch (what_) {
    case node::kernel: {
      const auto given = kernel();
      status = cudaGraphAddKernelNode(&added, graph, behind, waits, &given);
      break;
    }
    case node::copy:
      status = cudaGraphAddMemcpyNode1D(&added, graph, behind, waits, words, words + 16, sizeof *words,
                                        cudaMemcpyDeviceToDevice);
      break;
    case node::set: {
      cudaMemsetParams given{};
      given.dst = words;
      given.elementSize = 4;
      given.width = 2;
      given.height = 1;
      status = cudaGraphAddMemsetNode(&added, graph, behind, waits, &given);
      break;
    }
    case node::empty: status = cudaGraphAddEmptyNode(&added, graph, behind, waits); break;
    case node::conditional: status = add_conditional(added, graph, behind, waits); break;
    case node::host: {
      const cudaHostNodeParams given{do_nothing, nullptr};
      status = cudaGraphAddHostNode(&added, graph, behind, waits, &given);
    }
    }
    cuda::check(status, "adding a node to a graph");
    return added;
  }

  static cudaError_t add_conditional([[maybe_unused]] cudaGraphNode_t& added,
                                     [[maybe_unused]] cudaGraph_t graph,
                                     [[maybe_unused]] const cudaGraphNode_t* behind,
                                     [[maybe_unused]] std::size_t waits) {
#if CUDART_VERSION >= 12040
    cudaGraphNodeParams given{};
    given.type = cudaGraphNodeTypeConditional;
    cuda::check(
        cudaGraphConditionalHandleCreate(&given.conditional.handle, graph, 1, cudaGraphCondAssignDefault),
        "making a condition");
    given.conditional.type = cudaGraphCondTypeIf;
    given.conditional.size = 1;
#if CUDART_VERSION >= 13000
    const auto status = cudaGraphAddNode(&added, graph, behind, nullptr, waits, &given);
#else
    const auto status = cudaGraphAddNode(&added, graph, behind, waits, &given);
#endif
    if (status != cudaSuccess) return status;
    const auto inside = kernel();
    cudaGraphNode_t node = nullptr;
    return cudaGraphAddKernelNode(&node, given.conditional.phGraph_out[0], nullptr, 0, &inside);
#else
    return cudaErrorNotSupported;
#endif
  }

  node what_;
  int ordinal_;
  cuda::stream stream_;
  cuda::memory words_;
  cuda::executable graph_;
  std::uint64_t count_ = 0;
  double instantiation_us_ = 0, upload_us_ = 0;
};

}  // namespace

creation make_graph_nodes(node what, int ordinal) {
  if (what == node::conditional && !has_conditional_nodes)
    return {nullptr, "conditional nodes need CUDA 12.4 or newer"};
  return {std::make_unique<nodes_in_a_graph>(what, ordinal), {}};
}

}  // namespace mgsync::launch
