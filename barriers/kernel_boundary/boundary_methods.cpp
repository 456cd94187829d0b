#include "barriers/kernel_boundary/boundary_methods.hpp"

#include <array>
#include <atomic>
#include <utility>
#include <vector>

#include "barriers/kernel_boundary/boundary_graph.hpp"
#include "barriers/kernel_boundary/gpu_kernel_boundary.hpp"
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
class by_one_call final : public boundary_method {
 public:
  explicit by_one_call(launch_rounds& rounds)
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
class memory_operations final : public boundary_method {
 public:
  using batch_function = CUresult (*)(CUstream, unsigned, CUstreamBatchMemOpParams*, unsigned);

  memory_operations(launch_rounds& rounds, batch_function batch)
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

template <class Method, class... More>
creation make(const topology::group& group, const configuration& wanted, session& where,
              const std::string& variant, const char* what, More... more) {
  auto rounds = round_loop::make_launch_rounds(group, wanted, where);
  if (!rounds.rounds) return creation::none(rounds.reason);
  auto method = std::make_unique<Method>(*rounds.rounds, more...);
  return {make_boundary(variant, std::move(rounds.rounds), std::move(method)), {}, variant + ": " + what, {}};
}

}  // namespace

namespace gpu_kernel_boundary {

creation traditional(const topology::group& group, const configuration& wanted, session& where) {
  return make<streams>(group, wanted, where, "traditional", "launches and events, one host thread", false);
}

creation traditional_threads(const topology::group& group, const configuration& wanted, session& where) {
  return make<threaded_streams>(group, wanted, where, "traditional-threads",
                                "launches and events, a host thread for every GPU");
}

creation cooperative(const topology::group& group, const configuration& wanted, session& where) {
  return make<streams>(group, wanted, where, "cooperative", "launches and events, one host thread", true);
}

creation multi_device(const topology::group& group, const configuration& wanted, session& where) {
  if (!gpu_team::launch_on_all::exists())
    return creation::none("this driver has no cuLaunchCooperativeKernelMultiDevice");
  return make<by_one_call>(group, wanted, where, "multi-device", "one driver call for all GPUs");
}

creation graph(const topology::group& group, const configuration& wanted, session& where) {
  return make<boundary_graph>(group, wanted, where, "graph", "every kernel after all of the round before",
                              false);
}

creation graph_join(const topology::group& group, const configuration& wanted, session& where) {
  return make<boundary_graph>(group, wanted, where, "graph-join",
                              "every round after one null kernel on the first GPU", true);
}

creation stream_memops(const topology::group& group, const configuration& wanted, session& where) {
  auto* batch =
      reinterpret_cast<memory_operations::batch_function>(cuda::find_driver_entry("cuStreamBatchMemOp"));
  if (batch == nullptr) return creation::none("this driver has no stream memory operations");
  return make<memory_operations>(
      group, wanted, where, "stream-memops",
      "launches and batched operations on flags in GPU memory, a host thread for every GPU", batch);
}

}  // namespace gpu_kernel_boundary

}  // namespace mgsync
