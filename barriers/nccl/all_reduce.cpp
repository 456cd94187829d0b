#include "barriers/nccl/all_reduce.hpp"

#include <algorithm>
#include <atomic>
#include <exception>

#include <fmt/format.h>

#include "barriers/round_loop/launch_rounds.hpp"
#include "src/base/nccl.hpp"
#include "src/base/worker_pool.hpp"

namespace mgsync {

namespace {

struct graph_traits {
  using type = cudaGraph_t;
  static type none() { return nullptr; }
  static void close(type g) noexcept { cudaGraphDestroy(g); }
};
struct graph_exec_traits {
  using type = cudaGraphExec_t;
  static type none() { return nullptr; }
  static void close(type g) noexcept { cudaGraphExecDestroy(g); }
};

std::vector<int> cpus_of(const round_loop::launch_rounds& rounds) {
  std::vector<int> cpus;
  for (const auto& g : rounds.gpus()) cpus.push_back(g.cpu);
  return cpus;
}

std::vector<int> ordinals_of(const topology::group& group) {
  std::vector<int> ordinals;
  for (const auto& m : group.members) ordinals.push_back(m.gpu);
  return ordinals;
}

// One pinned thread per GPU issues its rounds; a checked round has the kernel of METHOD.md section 6 before it.
class nccl_all_reduce final : public barrier {
 public:
  nccl_all_reduce(const topology::group& group, session& where, std::unique_ptr<round_loop::launch_rounds> rounds, bool graph)
      : session_(where), rounds_(std::move(rounds)), communicators_(nccl::communicators_of(ordinals_of(group))),
        graph_(graph), pool_(cpus_of(*rounds_)) {
    for (const auto& g : rounds_->gpus()) values_.push_back(cuda::memory::on_gpu(g.ordinal, 2 * sizeof(float)));
  }

  trial run(const run_request& request) override {
    using clock = std::chrono::steady_clock;
    const auto gpus = static_cast<unsigned>(rounds_->gpus().size());
    std::vector<std::chrono::nanoseconds> elapsed(gpus);
    std::vector<std::exception_ptr> failures(gpus);
    std::atomic<unsigned> ready{0};
    rounds_->begin(request);
    {
      const watchdog::guard watched(session_.watchdog(), "nccl (all-reduce)", request.deadline - clock::now(),
                                    [this] { return rounds_->progress_now(); });
      pool_.run([&](unsigned local) {
        try {
          cuda::check(cudaSetDevice(rounds_->gpus()[local].ordinal), "selecting a GPU");
          std::vector<unique_handle<graph_exec_traits>> pieces;
          if (graph_) pieces = capture(local, request);
          ready.fetch_add(1);
          while (ready.load() < gpus) {
          }
          const auto begin = clock::now();
          if (graph_)
            for (const auto& p : pieces) cuda::check(cudaGraphLaunch(p.get(), rounds_->stream(local)), "launching a graph");
          else
            issue(local, 0, request.rounds, request.mode == run_mode::check);
          cuda::check(cudaStreamSynchronize(rounds_->stream(local)), "waiting for the last all-reduce");
          elapsed[local] = clock::now() - begin;
        } catch (...) {
          failures[local] = std::current_exception();
          ready.fetch_add(gpus);
        }
      });
    }
    for (const auto& f : failures)
      if (f) std::rethrow_exception(f);
    return rounds_->finish(request, std::move(elapsed));
  }

 private:
  static constexpr std::uint32_t rounds_per_graph = 256;

  void issue(unsigned local, std::uint32_t first, std::uint32_t count, bool checked) {
    auto* value = values_[local].as<float>();
    for (std::uint32_t round = first; round < first + count; ++round) {
      if (checked) rounds_->launch(local, round, false);
      nccl::check(ncclAllReduce(value, value + 1, 1, ncclFloat, ncclSum, communicators_[local], rounds_->stream(local)),
                  fmt::format("all-reduce of round {}", round));
      rounds_->beat(local, round);
    }
  }

  std::vector<unique_handle<graph_exec_traits>> capture(unsigned local, const run_request& request) {
    std::vector<unique_handle<graph_exec_traits>> pieces;
    for (std::uint32_t first = 0; first < request.rounds; first += rounds_per_graph) {
      const auto stream = rounds_->stream(local);
      cuda::check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "beginning a capture");
      issue(local, first, std::min(rounds_per_graph, request.rounds - first), request.mode == run_mode::check);
      cudaGraph_t made = nullptr;
      cuda::check(cudaStreamEndCapture(stream, &made), "ending a capture");
      const unique_handle<graph_traits> owner(made);
      cudaGraphExec_t ready = nullptr;
      cuda::check(cudaGraphInstantiate(&ready, made, 0), "instantiating a graph");
      pieces.emplace_back(ready);
    }
    return pieces;
  }

  session& session_;
  std::unique_ptr<round_loop::launch_rounds> rounds_;
  const std::vector<ncclComm_t>& communicators_;
  bool graph_;
  std::vector<cuda::memory> values_;
  worker_pool pool_;
};

}  // namespace

support nccl_is_built() { return support::yes(); }

creation create_nccl_all_reduce(const topology::group& group, const configuration& asked, session& where) {
  auto made = round_loop::make_launch_rounds(group, asked, where);
  if (!made.rounds) return {nullptr, made.reason, {}, {}};
  return {std::make_unique<nccl_all_reduce>(group, where, std::move(made.rounds), asked.variant == "graph"), {},
          fmt::format("all-reduce, NCCL {}", nccl::version()), {}};
}

}  // namespace mgsync
