#include <algorithm>
#include <chrono>
#include <map>
#include <thread>
#include <tuple>

#include <fmt/format.h>

#include "src/base/cuda.hpp"
#include "src/base/cuda_driver.hpp"
#include "src/studies/launch/device_graph.hpp"
#include "src/studies/launch/kernels.hpp"
#include "src/studies/launch/launches.hpp"

namespace mgsync::launch {
namespace {

using clock = std::chrono::steady_clock;

double us_between(clock::time_point from, clock::time_point to) {
  return std::chrono::duration<double, std::micro>(to - from).count();
}

bool in_turn(gpu_kind kind) { return kind == gpu_kind::programmatic || kind == gpu_kind::graph_programmatic; }
bool is_graph(gpu_kind kind) { return kind == gpu_kind::graph || kind == gpu_kind::graph_programmatic; }

// A GPU with its stream and timer.
struct lane {
  int ordinal = 0;
  cuda::stream stream;
  cuda::event end;  // for host_policy::block
  cuda::memory waited_ns;
  launch_arguments arguments{};  // of the next launches
};

class gpu_launches final : public subject {
 public:
  using multi_device_function = CUresult (*)(CUDA_LAUNCH_PARAMS*, unsigned, unsigned);

  gpu_launches(const gpu_launch& asked, multi_device_function together)
      : asked_(asked),
        blocks_(asked.blocks_per_sm * static_cast<unsigned>(cuda::sm_count(asked.gpus.front()))),
        together_(together) {
    for (const int ordinal : asked.gpus) {
      const cuda::device_scope scope(ordinal);
      lanes_.push_back(
          {ordinal, cuda::make_stream(), {}, cuda::memory::on_gpu(ordinal, sizeof(unsigned long long)), {}});
      cudaEvent_t event = nullptr;
      cuda::check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming | cudaEventBlockingSync),
                  "creating an event");
      lanes_.back().end = cuda::event(event);
      for (const bool waits : {false, true}) cuda::load(kernel(waits), "loading a kernel that is launched");
    }
  }

  seen run(const order& order) override {
    const waiting plain{static_cast<std::uint32_t>(order.units),
                        static_cast<std::uint32_t>(order.unit_us * 1e3 + 0.5), nullptr};
    prepare(order.count, plain);
    const auto begin = clock::now();
    issue(order.count, plain);
    const auto called = clock::now();
    finish();
    const auto end = clock::now();
    finish();
    const auto again = clock::now();
    seen came{.done = order};
    came.values = {{"total_us", {us_between(begin, end)}},
                   {"call_us", {us_between(begin, called)}},
                   {"sync_us", {us_between(end, again)}},
                   {"waited_us", {plain.units > 0 ? waited_us(order.count, plain) : 0.0}}};
    return came;
  }

 private:
  // How long the same launches wait, in us by the device's timer. In a separate run, since a kernel that
  // stores this ends later than one that stores nothing (docs/studies/launch.md).
  double waited_us(std::uint64_t count, const waiting& plain) {
    for (auto& l : lanes_) {
      const cuda::device_scope scope(l.ordinal);
      cuda::check(cudaMemsetAsync(l.waited_ns.get(), 0, sizeof(unsigned long long), l.stream.get()),
                  "clearing a timer");
      cuda::check(cudaStreamSynchronize(l.stream.get()), "clearing a timer");
    }
    writes_down_ = true;
    prepare(count, plain);
    issue(count, plain);
    writes_down_ = false;
    finish();
    unsigned long long waited = 0;
    for (const auto& l : lanes_) {
      const cuda::device_scope scope(l.ordinal);
      unsigned long long here = 0;
      cuda::check(cudaMemcpy(&here, l.waited_ns.get(), sizeof here, cudaMemcpyDeviceToHost),
                  "reading a timer");
      waited = std::max(waited, here);
    }
    return static_cast<double>(waited) * 1e-3;
  }

  const void* kernel(bool waits) const {
    return waits ? waiting_kernel(in_turn(asked_.kind))
                 : null_kernel(in_turn(asked_.kind), asked_.argument_bytes);
  }

  void launch_on(lane& l, const waiting& plain) const {
    void* arguments[] = {&l.arguments};
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(blocks_);
    config.blockDim = dim3(asked_.threads);
    config.stream = l.stream.get();
    cudaLaunchAttribute attribute{};
    config.attrs = &attribute;
    config.numAttrs = 1;
    if (asked_.kind == gpu_kind::cooperative) {
      attribute.id = cudaLaunchAttributeCooperative;
      attribute.val.cooperative = 1;
    } else if (in_turn(asked_.kind)) {
      attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
      attribute.val.programmaticStreamSerializationAllowed = 1;
    } else if (asked_.kind == gpu_kind::cluster) {
      attribute.id = cudaLaunchAttributeClusterDimension;
      attribute.val.clusterDim = {2, 1, 1};
    } else {
      config.numAttrs = 0;
    }
    cuda::check(cudaLaunchKernelExC(&config, kernel(plain.units > 0), arguments), "launching a kernel");
  }

  // Makes what must exist before the clock starts: the arguments, and the graph of these launches, which is
  // kept for the next run like this.
  void prepare(std::uint64_t count, const waiting& plain) {
    for (auto& l : lanes_) {
      l.arguments.what = plain;
      if (writes_down_) l.arguments.what.waited_ns = l.waited_ns.as<unsigned long long>();
    }
    if (asked_.kind == gpu_kind::device_graph) {
      if (!self_launching_)
        self_launching_ = make_self_launching(blocks_, asked_.threads, lanes_.front().stream.get());
      self_launching_->arm(count, lanes_.front().arguments.what);
    }
    if (!is_graph(asked_.kind)) return;
    auto& all = graphs_[{count, plain.units, plain.unit_ns, writes_down_}];
    if (!all.empty()) return;
    for (auto& l : lanes_) {
      const cuda::device_scope scope(l.ordinal);
      cuda::check(cudaStreamBeginCapture(l.stream.get(), cudaStreamCaptureModeThreadLocal),
                  "capturing launches");
      for (std::uint64_t i = 0; i < count; ++i) launch_on(l, plain);
      cudaGraph_t captured = nullptr;
      cuda::check(cudaStreamEndCapture(l.stream.get(), &captured), "capturing launches");
      const cuda::graph owner(captured);
      all.push_back(cuda::instantiate(owner));
      cuda::check(cudaGraphUpload(all.back().get(), l.stream.get()), "uploading a graph");
      cuda::check(cudaStreamSynchronize(l.stream.get()), "uploading a graph");
    }
  }

  void issue(std::uint64_t count, const waiting& plain) {
    if (asked_.kind == gpu_kind::device_graph) return self_launching_->launch();
    if (is_graph(asked_.kind)) {
      const auto& all = graphs_.at({count, plain.units, plain.unit_ns, writes_down_});
      for (std::size_t i = 0; i < lanes_.size(); ++i) {
        select(lanes_[i]);
        cuda::check(cudaGraphLaunch(all[i].get(), lanes_[i].stream.get()), "launching a graph");
      }
      return;
    }
    for (std::uint64_t i = 0; i < count; ++i) {
      if (asked_.kind == gpu_kind::multi_device) {
        launch_together(plain);
        continue;
      }
      for (auto& l : lanes_) {
        select(l);
        launch_on(l, plain);
      }
    }
  }

  void launch_together(const waiting& plain) {
    std::vector<CUDA_LAUNCH_PARAMS> all(lanes_.size());
    std::vector<void*> pointers(lanes_.size());
    for (std::size_t i = 0; i < lanes_.size(); ++i) {
      pointers[i] = &lanes_[i].arguments;
      auto& p = all[i];
      p = {};
      p.function = function_on(lanes_[i], plain.units > 0);
      p.gridDimX = blocks_;
      p.blockDimX = asked_.threads;
      p.gridDimY = p.gridDimZ = p.blockDimY = p.blockDimZ = 1;
      p.hStream = lanes_[i].stream.get();
      p.kernelParams = &pointers[i];
    }
    cuda::check_driver(together_(all.data(), static_cast<unsigned>(all.size()), 0),
                       "launching on all GPUs at once");
  }

  CUfunction function_on(const lane& l, bool waits) {
    auto& found = functions_[{l.ordinal, waits}];
    if (found == nullptr) {
      const cuda::device_scope scope(l.ordinal);
      cudaFunction_t function = nullptr;
      cuda::check(cudaGetFuncBySymbol(&function, kernel(waits)), "looking for a kernel");
      found = function;
    }
    return found;
  }

  void select(const lane& l) const {
    if (lanes_.size() > 1) cuda::check(cudaSetDevice(l.ordinal), "selecting a GPU");
  }

  void finish() const {
    for (const auto& l : lanes_) {
      select(l);
      switch (asked_.policy) {
      case host_policy::synchronize:
        cuda::check(cudaStreamSynchronize(l.stream.get()), "waiting for launches");
        break;
      case host_policy::block:
        cuda::check(cudaEventRecord(l.end.get(), l.stream.get()), "recording the end");
        cuda::check(cudaEventSynchronize(l.end.get()), "waiting for launches");
        break;
      default:
        for (auto status = cudaErrorNotReady; status == cudaErrorNotReady;) {
          status = cudaStreamQuery(l.stream.get());
          if (status != cudaErrorNotReady) cuda::check(status, "waiting for launches");
          else if (asked_.policy == host_policy::yield) std::this_thread::yield();
        }
      }
    }
  }

  gpu_launch asked_;
  unsigned blocks_;
  multi_device_function together_;
  std::vector<lane> lanes_;
  bool writes_down_ = false;  // whether kernels store how long they waited
  std::map<std::tuple<std::uint64_t, std::uint32_t, std::uint32_t, bool>, std::vector<cuda::executable>>
      graphs_;
  std::map<std::pair<int, bool>, CUfunction> functions_;
  std::unique_ptr<self_launching_graph> self_launching_;
};

// Why this GPU cannot be launched on in this way; empty where it can.
std::string why_not(const gpu_launch& asked, int ordinal) {
  cudaDeviceProp properties{};
  cuda::check(cudaGetDeviceProperties(&properties, ordinal), "asking what a GPU is");
  const bool hopper = properties.major >= 9;
  if (in_turn(asked.kind) && !hopper) return "programmatic dependent launch needs compute capability 9.0";
  if (asked.kind == gpu_kind::cluster && !hopper) return "clusters need compute capability 9.0";
  const auto blocks = asked.blocks_per_sm * static_cast<unsigned>(properties.multiProcessorCount);
  if (asked.kind == gpu_kind::cluster && blocks % 2 != 0)
    return "clusters of two blocks need an even number of blocks";
  if (asked.kind == gpu_kind::device_graph && asked.gpus.size() > 1)
    return "a graph that launches itself is one GPU's";
  const bool together = asked.kind == gpu_kind::cooperative || asked.kind == gpu_kind::multi_device;
  const cuda::device_scope scope(ordinal);
  const int room =
      cuda::resident_blocks(waiting_kernel(false), asked.threads) * properties.multiProcessorCount;
  if (together && static_cast<unsigned>(room) < blocks)
    return fmt::format("{} blocks of {} threads do not fit on GPU {} at once ({} do)", blocks, asked.threads,
                       ordinal, room);
  return {};
}

}  // namespace

creation make_gpu_launches(const gpu_launch& asked) {
  for (const int ordinal : asked.gpus)
    if (auto reason = why_not(asked, ordinal); !reason.empty()) return {nullptr, reason};
  gpu_launches::multi_device_function together = nullptr;
  if (asked.kind == gpu_kind::multi_device) {
    together = reinterpret_cast<gpu_launches::multi_device_function>(
        cuda::find_driver_entry("cuLaunchCooperativeKernelMultiDevice"));
    if (together == nullptr) return {nullptr, "this driver has no cuLaunchCooperativeKernelMultiDevice"};
  }
  return {std::make_unique<gpu_launches>(asked, together), {}};
}

}  // namespace mgsync::launch
