#include "barriers/kernel_boundary/boundary_methods.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "src/base/cuda_driver.hpp"

namespace mgsync {

namespace {

using round_loop::launch_arguments;
using round_loop::launch_rounds;

// Kernels in streams; on several GPUs every stream waits for an event of every other one.
class streams final : public boundary_method {
 public:
  streams(launch_rounds& rounds, bool cooperative) : rounds_(rounds), cooperative_(cooperative) {
    for (const auto& g : rounds.gpus()) {
      const cuda::device_scope scope(g.ordinal);
      events_.push_back({cuda::make_event(), cuda::make_event()});
    }
  }
  void issue(std::uint32_t count) override {
    const auto gpus = static_cast<unsigned>(rounds_.gpus().size());
    for (std::uint32_t round = 0; round < count; ++round) {
      for (unsigned l = 0; l < gpus; ++l) {
        if (gpus > 1) cuda::check(cudaSetDevice(rounds_.gpus()[l].ordinal), "selecting a GPU");
        rounds_.launch(l, round, cooperative_);
        if (gpus > 1) cuda::check(cudaEventRecord(events_[l][round % 2].get(), rounds_.stream(l)), "recording an event");
        rounds_.beat(l, round);
      }
      for (unsigned l = 0; l < gpus; ++l)
        for (unsigned other = 0; other < gpus; ++other)
          if (l != other)
            cuda::check(cudaStreamWaitEvent(rounds_.stream(l), events_[other][round % 2].get(), 0), "waiting for an event");
    }
  }

 private:
  launch_rounds& rounds_;
  bool cooperative_;
  std::vector<std::array<cuda::event, 2>> events_;
};

// cuLaunchCooperativeKernelMultiDevice: no kernel of a call starts before those of the call before have finished.
class multi_device final : public boundary_method {
 public:
  using launch_function = CUresult (*)(CUDA_LAUNCH_PARAMS*, unsigned, unsigned);

  multi_device(launch_rounds& rounds, launch_function launch)
      : rounds_(rounds), launch_(launch), launches_(rounds.gpus().size()), arguments_(rounds.gpus().size()) {
    for (std::size_t l = 0; l < launches_.size(); ++l) {
      const cuda::device_scope scope(rounds.gpus()[l].ordinal);
      cudaFunction_t function = nullptr;
      cuda::check(cudaGetFuncBySymbol(&function, round_loop::launch_kernel()), "looking for the kernel of a round");
      auto& p = launches_[l];
      p = {};
      p.function = function;
      p.gridDimX = rounds.blocks();
      p.blockDimX = rounds.threads();
      p.gridDimY = p.gridDimZ = p.blockDimY = p.blockDimZ = 1;
      p.hStream = rounds.stream(static_cast<unsigned>(l));
    }
  }
  void issue(std::uint32_t count) override {
    for (std::uint32_t round = 0; round < count; ++round) {
      for (unsigned l = 0; l < launches_.size(); ++l) {
        rounds_.fill(arguments_[l], l, round);
        launches_[l].kernelParams = arguments_[l].pointers;
        rounds_.beat(l, round);
      }
      cuda::check_driver(launch_(launches_.data(), static_cast<unsigned>(launches_.size()), 0), "launching on all GPUs at once");
    }
  }

 private:
  launch_rounds& rounds_;
  launch_function launch_;
  std::vector<CUDA_LAUNCH_PARAMS> launches_;
  std::vector<launch_arguments> arguments_;
};

// One graph: a kernel node per GPU and round, each depending on all nodes of the round before. Long runs replay it.
class graph final : public boundary_method {
 public:
  explicit graph(launch_rounds& rounds) : rounds_(rounds) {}
  // The graphs of timed runs are all alike, and kept: building one takes longer than the rounds in it.
  void prepare(const run_request& request) override {
    const bool timed = request.mode == run_mode::time;
    auto& pieces = timed ? timed_[{request.rounds, request.work_units}] : checked_;
    now_ = &pieces;
    if (timed && !pieces.empty()) return;
    pieces.clear();
    for (std::uint32_t first = 0; first < request.rounds; first += most_rounds)
      pieces.push_back(build(first, std::min(most_rounds, request.rounds - first)));
    const cuda::device_scope scope(rounds_.gpus().front().ordinal);
    for (const auto& p : pieces) cuda::check(cudaGraphUpload(p.get(), rounds_.stream(0)), "uploading a graph");
    cuda::check(cudaStreamSynchronize(rounds_.stream(0)), "uploading a graph");
  }
  void issue(std::uint32_t count) override {
    cuda::check(cudaSetDevice(rounds_.gpus().front().ordinal), "selecting a GPU");
    for (const auto& p : *now_) cuda::check(cudaGraphLaunch(p.get(), rounds_.stream(0)), "launching a graph");
    for (unsigned l = 0; l < rounds_.gpus().size(); ++l) rounds_.beat(l, count - 1);
  }

 private:
  static constexpr std::uint32_t most_rounds = 1024;  // of one graph

  cuda::executable build(std::uint32_t first, std::uint32_t count) {
    cudaGraph_t made = nullptr;
    cuda::check(cudaGraphCreate(&made, 0), "creating a graph");
    const cuda::graph owner(made);
    std::vector<cudaGraphNode_t> before, now;
    for (std::uint32_t round = first; round < first + count; ++round) {
      now.clear();
      for (unsigned l = 0; l < rounds_.gpus().size(); ++l) {
        const cuda::device_scope scope(rounds_.gpus()[l].ordinal);
        launch_arguments arguments;
        rounds_.fill(arguments, l, round);
        cudaKernelNodeParams node{};
        node.func = const_cast<void*>(round_loop::launch_kernel());
        node.gridDim = dim3(rounds_.blocks());
        node.blockDim = dim3(rounds_.threads());
        node.kernelParams = arguments.pointers;
        now.emplace_back();
        cuda::check(cudaGraphAddKernelNode(&now.back(), made, before.data(), before.size(), &node), "adding a graph node");
      }
      before = now;
    }
    return cuda::instantiate(owner);
  }

  launch_rounds& rounds_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<cuda::executable>> timed_;  // by rounds and work
  std::vector<cuda::executable> checked_;
  std::vector<cuda::executable>* now_ = nullptr;
};

// After each kernel the stream writes its epoch to host memory, and waits for those of all others.
class stream_memops final : public boundary_method {
 public:
  using write_function = CUresult (*)(CUstream, CUdeviceptr, cuuint32_t, unsigned);
  using wait_function = CUresult (*)(CUstream, CUdeviceptr, cuuint32_t, unsigned);

  stream_memops(launch_rounds& rounds, write_function write, wait_function wait)
      : rounds_(rounds), write_(write), wait_(wait), flags_(cuda::memory::on_host(128 * rounds.gpus().size())) {}
  void issue(std::uint32_t count) override {
    const auto gpus = static_cast<unsigned>(rounds_.gpus().size());
    for (std::uint32_t round = 0; round < count; ++round) {
      ++epoch_;
      for (unsigned l = 0; l < gpus; ++l) {
        cuda::check(cudaSetDevice(rounds_.gpus()[l].ordinal), "selecting a GPU");
        rounds_.launch(l, round, false);
        cuda::check_driver(write_(rounds_.stream(l), flag(l), epoch_, 0), "writing a value from a stream");
        rounds_.beat(l, round);
      }
      for (unsigned l = 0; l < gpus; ++l) {
        cuda::check(cudaSetDevice(rounds_.gpus()[l].ordinal), "selecting a GPU");
        for (unsigned other = 0; other < gpus; ++other)
          cuda::check_driver(wait_(rounds_.stream(l), flag(other), epoch_, CU_STREAM_WAIT_VALUE_GEQ), "waiting for a value");
      }
    }
  }

 private:
  CUdeviceptr flag(unsigned l) const { return reinterpret_cast<CUdeviceptr>(flags_.get() + 128 * l); }

  launch_rounds& rounds_;
  write_function write_;
  wait_function wait_;
  cuda::memory flags_;
  std::uint32_t epoch_ = round_loop::first_gpu_epoch;
};

}  // namespace

boundary_method_creation make_boundary_method(std::string_view variant, launch_rounds& rounds) {
  if (variant == "graph") return {std::make_unique<graph>(rounds), {}};
  if (variant == "multi-device") {
    auto* launch = reinterpret_cast<multi_device::launch_function>(cuda::find_driver_entry("cuLaunchCooperativeKernelMultiDevice"));
    if (launch == nullptr) return {nullptr, "this driver has no cuLaunchCooperativeKernelMultiDevice"};
    return {std::make_unique<multi_device>(rounds, launch), {}};
  }
  if (variant == "stream-memops") {
    auto* write = reinterpret_cast<stream_memops::write_function>(cuda::find_driver_entry("cuStreamWriteValue32"));
    auto* wait = reinterpret_cast<stream_memops::wait_function>(cuda::find_driver_entry("cuStreamWaitValue32"));
    if (write == nullptr || wait == nullptr) return {nullptr, "this driver has no stream memory operations"};
    return {std::make_unique<stream_memops>(rounds, write, wait), {}};
  }
  return {std::make_unique<streams>(rounds, variant == "cooperative"), {}};
}

}  // namespace mgsync
