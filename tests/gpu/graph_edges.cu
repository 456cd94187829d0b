// What a round of empty kernels in a CUDA graph takes where each waits for all of the round before, by how
// many there are and on how many GPUs: whether it is the edges of a node, those that come from other GPUs, or
// the GPUs that cost. "joined": through one empty node between two rounds. Prints us per round, the median of
// 31 launches of 128 rounds. Usage: graph_edges [GPUS].
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

#include <cuda_runtime.h>

namespace {

__global__ void nothing() {}

void check(cudaError_t status, const char* action) {
  if (status != cudaSuccess)
    throw std::runtime_error(std::string(action) + ": " + cudaGetErrorString(status));
}

constexpr unsigned rounds = 128, launches = 31;

double us_per_round(unsigned gpus, unsigned kernels, bool joined) {
  cudaGraph_t graph = nullptr;
  check(cudaGraphCreate(&graph, 0), "making a graph");
  std::vector<cudaGraphNode_t> before;
  for (unsigned r = 0; r < rounds; ++r) {
    std::vector<cudaGraphNode_t> now(kernels);
    for (unsigned k = 0; k < kernels; ++k) {
      check(cudaSetDevice(static_cast<int>(k % gpus)), "selecting a GPU");  // the node's
      cudaKernelNodeParams node{};
      node.func = reinterpret_cast<void*>(nothing);
      node.gridDim = node.blockDim = dim3(1);
      check(cudaGraphAddKernelNode(&now[k], graph, before.data(), before.size(), &node), "adding a kernel");
    }
    check(cudaSetDevice(0), "selecting a GPU");
    if (joined) {
      cudaGraphNode_t join = nullptr;
      check(cudaGraphAddEmptyNode(&join, graph, now.data(), now.size()), "adding a node");
      now = {join};
    }
    before = now;
  }
  cudaGraphExec_t ready = nullptr;
  check(cudaGraphInstantiate(&ready, graph, 0), "instantiating");
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "making a stream");
  std::vector<double> us;
  for (unsigned i = 0; i <= launches; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    check(cudaGraphLaunch(ready, stream), "launching");
    check(cudaStreamSynchronize(stream), "running");
    if (i != 0)
      us.push_back(
          std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count() /
          rounds);
  }
  check(cudaStreamDestroy(stream), "giving back the stream");
  check(cudaGraphExecDestroy(ready), "giving back the graph");
  check(cudaGraphDestroy(graph), "giving back the graph");
  std::sort(us.begin(), us.end());
  return us[us.size() / 2];
}

}  // namespace

int main(int count, char** words) try {
  int here = 0;
  if (cudaGetDeviceCount(&here) != cudaSuccess || here == 0) {
    std::printf("no GPU here: nothing was run\n");
    return 77;
  }
  const unsigned most = count > 1 ? static_cast<unsigned>(std::atoi(words[1])) : static_cast<unsigned>(here);
  std::printf("gpus,kernels in a round,edges into each,from other GPUs,us per round,joined\n");
  for (unsigned gpus = 1; gpus <= most; ++gpus)
    for (unsigned kernels = gpus; kernels <= 8; ++kernels) {
      const double all = us_per_round(gpus, kernels, false), joined = us_per_round(gpus, kernels, true);
      std::printf("%u,%u,%u,%u,%.3f,%.3f\n", gpus, kernels, kernels, kernels - (kernels + gpus - 1) / gpus,
                  all, joined);
      std::fflush(stdout);
    }
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "graph_edges: %s\n", error.what());
  return 1;
}
