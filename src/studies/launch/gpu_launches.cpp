#include <algorithm>
#include <chrono>
#include <map>
#include <thread>
#include <tuple>

#include <fmt/format.h>

#include "barriers/parts/gpu_team/launch.hpp"
#include "src/base/cuda.hpp"
#include "src/studies/launch/device_graph.hpp"
#include "src/studies/launch/kernels.hpp"
#include "src/studies/launch/launches.hpp"

namespace mgsync::launch {

namespace {

bool in_turn(const gpu_kind& kind) { return kind.as == gpu_team::launch_as::early; }

double us_between(std::chrono::steady_clock::time_point from, std::chrono::steady_clock::time_point to) {
  return std::chrono::duration<double, std::micro>(to - from).count();
}

}  // namespace

// What is launched, and on which GPUs.
class launched {
 public:
  // A GPU with its stream and timer.
  struct lane {
    int ordinal = 0;
    cuda::stream stream;
    cuda::event end;  // for host_policy::block
    cuda::memory waited_ns;
    launch_arguments arguments{};  // of the next launches
  };

  explicit launched(const gpu_launch& given)
      : asked(given),
        blocks(given.blocks_per_sm * static_cast<unsigned>(cuda::sm_count(given.gpus.front()))) {
    for (const int ordinal : given.gpus) {
      const cuda::device_scope scope(ordinal);
      lanes.push_back(
          {ordinal, cuda::make_stream(), {}, cuda::memory::on_gpu(ordinal, sizeof(unsigned long long)), {}});
      cudaEvent_t event = nullptr;
      cuda::check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming | cudaEventBlockingSync),
                  "creating an event");
      lanes.back().end = cuda::event(event);
    }
  }

  const void* kernel(const waiting& what) const {
    const bool turns = in_turn(*asked.kind);
    if (what.units == 0) return null_kernel(turns, asked.argument_bytes);
    if (writes_down) return waiting_kernel(turns);
    return waiting_kernel(turns, asked.argument_bytes, std::uint64_t{what.units} * what.unit_ns);
  }
  void launch_on(lane& l, const waiting& what) const {
    void* arguments[] = {&l.arguments};
    gpu_team::launch({.kernel = kernel(what),
                      .blocks = blocks,
                      .threads = asked.threads,
                      .as = asked.kind->as,
                      .cluster = 2},
                     arguments, l.stream.get(), "launching a kernel");
  }
  void select(const lane& l) const {
    if (lanes.size() > 1) cuda::check(cudaSetDevice(l.ordinal), "selecting a GPU");
  }

  gpu_launch asked;
  unsigned blocks;
  std::vector<lane> lanes;
  bool writes_down = false;  // whether kernels store how long they waited
};

namespace {

class one_by_one final : public launching {
 public:
  explicit one_by_one(launched& all) : all_(all) {}
  void issue(std::uint64_t count, const waiting& what) override {
    for (std::uint64_t i = 0; i < count; ++i)
      for (auto& l : all_.lanes) {
        all_.select(l);
        all_.launch_on(l, what);
      }
  }

 private:
  launched& all_;
};

class by_one_call final : public launching {
 public:
  explicit by_one_call(launched& all) : all_(all), calls_(all.lanes.size()), pointers_(all.lanes.size()) {}
  void prepare(std::uint64_t, const waiting& what) override {
    functions_.resize(all_.lanes.size());
    for (std::size_t l = 0; l < functions_.size(); ++l) {
      const cuda::device_scope scope(all_.lanes[l].ordinal);
      cuda::check(cudaGetFuncBySymbol(&functions_[l], all_.kernel(what)), "looking for a kernel");
    }
  }
  void issue(std::uint64_t count, const waiting&) override {
    for (std::uint64_t i = 0; i < count; ++i) {
      for (std::size_t l = 0; l < pointers_.size(); ++l) {
        pointers_[l] = &all_.lanes[l].arguments;
        calls_.set(l, functions_[l], all_.blocks, all_.asked.threads, &pointers_[l],
                   all_.lanes[l].stream.get());
      }
      calls_.call("launching on all GPUs at once");
    }
  }

 private:
  launched& all_;
  gpu_team::launch_on_all calls_;
  std::vector<void*> pointers_;            // to the arguments of each GPU
  std::vector<cudaFunction_t> functions_;  // of each GPU: what is launched next
};

// The graphs of all runs are kept for the next run like them.
class a_graph final : public launching {
 public:
  explicit a_graph(launched& all) : all_(all) {}
  void prepare(std::uint64_t count, const waiting& what) override {
    now_ = &graphs_[{count, what.units, what.unit_ns, all_.writes_down}];
    if (!now_->empty()) return;
    for (auto& l : all_.lanes) {
      const cuda::device_scope scope(l.ordinal);
      now_->push_back(gpu_team::captured(l.stream.get(), "capturing launches", [&] {
        for (std::uint64_t i = 0; i < count; ++i) all_.launch_on(l, what);
      }));
      cuda::check(cudaGraphUpload(now_->back().get(), l.stream.get()), "uploading a graph");
      cuda::check(cudaStreamSynchronize(l.stream.get()), "uploading a graph");
    }
  }
  void issue(std::uint64_t, const waiting&) override {
    for (std::size_t l = 0; l < now_->size(); ++l) {
      all_.select(all_.lanes[l]);
      cuda::check(cudaGraphLaunch((*now_)[l].get(), all_.lanes[l].stream.get()), "launching a graph");
    }
  }

 private:
  launched& all_;
  std::map<std::tuple<std::uint64_t, std::uint32_t, std::uint32_t, bool>, std::vector<cuda::executable>>
      graphs_;
  std::vector<cuda::executable>* now_ = nullptr;
};

class from_the_device final : public launching {
 public:
  explicit from_the_device(launched& all) : all_(all) {}
  void prepare(std::uint64_t count, const waiting&) override {
    auto& l = all_.lanes.front();
    if (!graph_) graph_ = make_self_launching(all_.blocks, all_.asked.threads, l.stream.get());
    graph_->arm(count, l.arguments.what);
  }
  void issue(std::uint64_t, const waiting&) override { graph_->launch(); }

 private:
  launched& all_;
  std::unique_ptr<self_launching_graph> graph_;
};

class gpu_launches final : public subject {
 public:
  explicit gpu_launches(const gpu_launch& asked) : all_(asked), how_(asked.kind->make(all_)) {}

  seen run(const run_order& order) override {
    using clock = std::chrono::steady_clock;
    const waiting plain{static_cast<std::uint32_t>(order.units),
                        static_cast<std::uint32_t>(order.unit_us * 1e3 + 0.5), nullptr};
    prepare(order.count, plain);
    const auto begin = clock::now();
    how_->issue(order.count, plain);
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
  void prepare(std::uint64_t count, const waiting& plain) {
    for (auto& l : all_.lanes) {
      l.arguments.what = plain;
      if (all_.writes_down) l.arguments.what.waited_ns = l.waited_ns.as<unsigned long long>();
      const cuda::device_scope scope(l.ordinal);
      cuda::load(all_.kernel(plain), "loading a kernel that is launched");
    }
    how_->prepare(count, plain);
  }

  // How long the same launches wait, in us by the device's timer. In a separate run, since a kernel that
  // stores this ends later than one that stores nothing (docs/studies/launch.md).
  double waited_us(std::uint64_t count, const waiting& plain) {
    for (auto& l : all_.lanes) {
      const cuda::device_scope scope(l.ordinal);
      cuda::check(cudaMemsetAsync(l.waited_ns.get(), 0, sizeof(unsigned long long), l.stream.get()),
                  "clearing a timer");
      cuda::check(cudaStreamSynchronize(l.stream.get()), "clearing a timer");
    }
    all_.writes_down = true;
    prepare(count, plain);
    how_->issue(count, plain);
    all_.writes_down = false;
    finish();
    unsigned long long waited = 0;
    for (const auto& l : all_.lanes) {
      const cuda::device_scope scope(l.ordinal);
      unsigned long long here = 0;
      cuda::check(cudaMemcpy(&here, l.waited_ns.get(), sizeof here, cudaMemcpyDeviceToHost),
                  "reading a timer");
      waited = std::max(waited, here);
    }
    return static_cast<double>(waited) * 1e-3;
  }

  void finish() const {
    for (const auto& l : all_.lanes) {
      all_.select(l);
      switch (all_.asked.policy) {
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
          else if (all_.asked.policy == host_policy::yield) std::this_thread::yield();
        }
      }
    }
  }

  launched all_;
  std::unique_ptr<launching> how_;
};

// Why this GPU cannot be launched on in this way; empty where it can.
std::string why_not(const gpu_launch& asked, int ordinal) {
  const gpu_kind& kind = *asked.kind;
  cudaDeviceProp properties{};
  cuda::check(cudaGetDeviceProperties(&properties, ordinal), "asking what a GPU is");
  const bool hopper = properties.major >= 9, clusters = kind.as == gpu_team::launch_as::clusters;
  if (in_turn(kind) && !hopper) return "programmatic dependent launch needs compute capability 9.0";
  if (clusters && !hopper) return "clusters need compute capability 9.0";
  const auto blocks = asked.blocks_per_sm * static_cast<unsigned>(properties.multiProcessorCount);
  if (clusters && blocks % 2 != 0) return "clusters of two blocks need an even number of blocks";
  if (kind.by_the_device && asked.gpus.size() > 1) return "a graph that launches itself is one GPU's";
  const cuda::device_scope scope(ordinal);
  const int room =
      cuda::resident_blocks(waiting_kernel(false), asked.threads) * properties.multiProcessorCount;
  if (kind.at_once && static_cast<unsigned>(room) < blocks)
    return fmt::format("{} blocks of {} threads do not fit on GPU {} at once ({} do)", blocks, asked.threads,
                       ordinal, room);
  return {};
}

}  // namespace

std::unique_ptr<launching> launch_one_by_one(launched& all) { return std::make_unique<one_by_one>(all); }
std::unique_ptr<launching> launch_by_one_call(launched& all) { return std::make_unique<by_one_call>(all); }
std::unique_ptr<launching> launch_a_graph(launched& all) { return std::make_unique<a_graph>(all); }
std::unique_ptr<launching> launch_from_the_device(launched& all) {
  return std::make_unique<from_the_device>(all);
}

creation make_gpu_launches(const gpu_launch& asked) {
  for (const int ordinal : asked.gpus)
    if (auto reason = why_not(asked, ordinal); !reason.empty()) return {nullptr, reason};
  if (asked.kind->by_one_call && !gpu_team::launch_on_all::exists())
    return {nullptr, "this driver has no cuLaunchCooperativeKernelMultiDevice"};
  return {std::make_unique<gpu_launches>(asked), {}};
}

}  // namespace mgsync::launch
