#include "barriers/kernel_boundary/boundary_methods.hpp"

#include <array>
#include <atomic>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "barriers/kernel_boundary/boundary_graph.hpp"
#include "barriers/parts/gpu_team/launch.hpp"
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
  void issue(unsigned, std::uint32_t count, const std::atomic<bool>&) override {
    const auto gpus = static_cast<unsigned>(rounds_.gpus().size());
    for (std::uint32_t round = 0; round < count; ++round) {
      for (unsigned l = 0; l < gpus; ++l) {
        if (gpus > 1) cuda::check(cudaSetDevice(rounds_.gpus()[l].ordinal), "selecting a GPU");
        rounds_.launch(l, round, cooperative_);
        if (gpus > 1)
          cuda::check(cudaEventRecord(events_[l][round % 2].get(), rounds_.stream(l)), "recording an event");
        rounds_.beat(l, round);
      }
      for (unsigned l = 0; l < gpus; ++l)
        for (unsigned other = 0; other < gpus; ++other)
          if (l != other)
            cuda::check(cudaStreamWaitEvent(rounds_.stream(l), events_[other][round % 2].get(), 0),
                        "waiting for an event");
    }
  }

 private:
  launch_rounds& rounds_;
  bool cooperative_;
  std::vector<std::array<cuda::event, 2>> events_;
};

// The same with a host thread for every GPU. A stream can only wait for an event that was recorded, so the
// threads tell each other when they have recorded theirs. Two events per GPU are used alternately: nobody
// records the event after the next before all wait for this one.
class threaded_streams final : public boundary_method {
 public:
  explicit threaded_streams(launch_rounds& rounds) : rounds_(rounds), recorded_(rounds.gpus().size()) {
    for (const auto& g : rounds.gpus()) {
      const cuda::device_scope scope(g.ordinal);
      events_.push_back({cuda::make_event(), cuda::make_event()});
    }
  }
  unsigned threads() const override { return static_cast<unsigned>(recorded_.size()); }
  void prepare(const run_request&) override {
    for (auto& r : recorded_) r.rounds.store(0);
  }
  void issue(unsigned local, std::uint32_t count, const std::atomic<bool>& failed) override {
    const auto stream = rounds_.stream(local);
    for (std::uint32_t round = 0; round < count; ++round) {
      rounds_.launch(local, round, false);
      cuda::check(cudaEventRecord(events_[local][round % 2].get(), stream), "recording an event");
      recorded_[local].rounds.store(round + 1, std::memory_order_release);
      rounds_.beat(local, round);
      for (unsigned other = 0; other < threads(); ++other) {
        if (other == local) continue;
        while (recorded_[other].rounds.load(std::memory_order_acquire) <= round)
          if (failed.load(std::memory_order_relaxed)) return;
        cuda::check(cudaStreamWaitEvent(stream, events_[other][round % 2].get(), 0), "waiting for an event");
      }
    }
  }

 private:
  struct alignas(128) line {
    std::atomic<std::uint32_t> rounds = 0;
  };
  launch_rounds& rounds_;
  std::vector<std::array<cuda::event, 2>> events_;
  std::vector<line> recorded_;
};

// No kernel of a call starts before those of the call before have finished.
class multi_device final : public boundary_method {
 public:
  explicit multi_device(launch_rounds& rounds)
      : rounds_(rounds), launches_(rounds.gpus().size()), arguments_(rounds.gpus().size()) {
    for (unsigned l = 0; l < arguments_.size(); ++l) {
      const cuda::device_scope scope(rounds.gpus()[l].ordinal);
      cudaFunction_t function = nullptr;
      cuda::check(cudaGetFuncBySymbol(&function, round_loop::launch_kernel()),
                  "looking for the kernel of a round");
      launches_.set(l, function, rounds.blocks(), rounds.threads(), arguments_[l].pointers, rounds.stream(l));
    }
  }
  void issue(unsigned, std::uint32_t count, const std::atomic<bool>&) override {
    for (std::uint32_t round = 0; round < count; ++round) {
      for (unsigned l = 0; l < arguments_.size(); ++l) {
        rounds_.fill(arguments_[l], l, round);
        rounds_.beat(l, round);
      }
      launches_.call("launching on all GPUs at once");
    }
  }

 private:
  launch_rounds& rounds_;
  gpu_team::launch_on_all launches_;
  std::vector<launch_arguments> arguments_;
};

// After each kernel the stream writes its epoch into the memory of every other GPU and waits for theirs in
// its own: one call for all of them. A host thread for every GPU; the threads wait for nobody.
class stream_memops final : public boundary_method {
 public:
  using batch_function = CUresult (*)(CUstream, unsigned, CUstreamBatchMemOpParams*, unsigned);

  stream_memops(launch_rounds& rounds, batch_function batch)
      : rounds_(rounds), batch_(batch), epochs_(rounds.gpus().size(), round_loop::first_gpu_epoch) {
    for (const auto& g : rounds.gpus()) {
      flags_.push_back(cuda::memory::on_gpu(g.ordinal, line_bytes * epochs_.size()));
      const cuda::device_scope scope(g.ordinal);
      const std::vector<std::uint32_t> start(line_bytes * epochs_.size() / sizeof(std::uint32_t),
                                             round_loop::first_gpu_epoch);
      cuda::check(
          cudaMemcpy(flags_.back().get(), start.data(), flags_.back().bytes(), cudaMemcpyHostToDevice),
          "setting the flags of streams");
    }
  }
  unsigned threads() const override { return static_cast<unsigned>(epochs_.size()); }
  void issue(unsigned local, std::uint32_t count, const std::atomic<bool>&) override {
    std::vector<CUstreamBatchMemOpParams> operations(2 * (threads() - 1));
    for (std::uint32_t round = 0; round < count; ++round) {
      rounds_.launch(local, round, false);
      ++epochs_[local];
      std::size_t next = 0;
      for (unsigned other = 0; other < threads(); ++other) {
        if (other == local) continue;
        operations[next++].writeValue = {
            CU_STREAM_MEM_OP_WRITE_VALUE_32, flag(other, local), {epochs_[local]}, 0, 0};
      }
      for (unsigned other = 0; other < threads(); ++other) {
        if (other == local) continue;
        operations[next++].waitValue = {CU_STREAM_MEM_OP_WAIT_VALUE_32,
                                        flag(local, other),
                                        {epochs_[local]},
                                        CU_STREAM_WAIT_VALUE_GEQ,
                                        0};
      }
      cuda::check_driver(batch_(rounds_.stream(local), static_cast<unsigned>(next), operations.data(), 0),
                         "writing and awaiting values in a stream");
      rounds_.beat(local, round);
    }
  }

 private:
  static constexpr std::size_t line_bytes = 128;

  // The flag in the memory of GPU `on` that GPU `from` writes.
  CUdeviceptr flag(unsigned on, unsigned from) const {
    return reinterpret_cast<CUdeviceptr>(flags_[on].get() + line_bytes * from);
  }

  launch_rounds& rounds_;
  batch_function batch_;
  std::vector<cuda::memory> flags_;
  std::vector<std::uint32_t> epochs_;  // by GPU, each counted by its own thread
};

}  // namespace

boundary_method_creation make_streams(launch_rounds& rounds) {
  return {std::make_unique<streams>(rounds, false), {}};
}

boundary_method_creation make_cooperative_streams(launch_rounds& rounds) {
  return {std::make_unique<streams>(rounds, true), {}};
}

boundary_method_creation make_threaded_streams(launch_rounds& rounds) {
  return {std::make_unique<threaded_streams>(rounds), {}};
}

boundary_method_creation make_multi_device(launch_rounds& rounds) {
  if (!gpu_team::launch_on_all::exists())
    return {nullptr, "this driver has no cuLaunchCooperativeKernelMultiDevice"};
  return {std::make_unique<multi_device>(rounds), {}};
}

boundary_method_creation make_graph(launch_rounds& rounds) {
  return {std::make_unique<boundary_graph>(rounds, false), {}};
}

boundary_method_creation make_joined_graph(launch_rounds& rounds) {
  return {std::make_unique<boundary_graph>(rounds, true), {}};
}

boundary_method_creation make_stream_memops(launch_rounds& rounds) {
  auto* batch =
      reinterpret_cast<stream_memops::batch_function>(cuda::find_driver_entry("cuStreamBatchMemOp"));
  if (batch == nullptr) return {nullptr, "this driver has no stream memory operations"};
  return {std::make_unique<stream_memops>(rounds, batch), {}};
}

}  // namespace mgsync
