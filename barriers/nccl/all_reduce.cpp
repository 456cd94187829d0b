#include "barriers/nccl/all_reduce.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "barriers/parts/gpu_team/launch.hpp"
#include "barriers/parts/round_loop/launch_rounds.hpp"
#include "barriers/parts/round_loop/nccl_group.hpp"
#include "src/base/worker_pool.hpp"

namespace mgsync {

namespace {

// Each GPU's value and sum: in plain memory, or, if `registered`, in memory from NCCL that the whole group
// registers, so that versions with symmetric kernels (2.27 and later) use them.
class values {
 public:
  // Collective over the session's ranks.
  values(const std::vector<gpu_team::gpu_member>& gpus, const std::vector<ncclComm_t>& communicators,
         bool registered)
      : communicators_(communicators), gpus_(gpus) {
    for (const auto& g : gpus) {
      if (!registered) {
        plain_.push_back(cuda::memory::in_pool(g.ordinal, window_bytes));
        parts_.push_back(plain_.back().as<float>());
        continue;
      }
      const cuda::device_scope scope(g.ordinal);
      void* made = nullptr;
      nccl::check(ncclMemAlloc(&made, window_bytes), "allocating memory for NCCL");
      parts_.push_back(static_cast<float*>(made));
    }
#if NCCL_VERSION_CODE >= 22700
    if (registered) register_all();
#endif
  }
  ~values() {
#if NCCL_VERSION_CODE >= 22700
    for (std::size_t l = 0; l < windows_.size(); ++l) {
      cudaSetDevice(gpus_[l].ordinal);
      ncclCommWindowDeregister(communicators_[l], windows_[l]);
    }
#endif
    for (std::size_t l = 0; l < parts_.size() && plain_.empty(); ++l) {
      cudaSetDevice(gpus_[l].ordinal);
      ncclMemFree(parts_[l]);
    }
  }
  values(const values&) = delete;
  values& operator=(const values&) = delete;

  float* mine(unsigned local) const { return parts_[local]; }
  float* sum(unsigned local) const { return parts_[local] + window_bytes / 2 / sizeof(float); }

 private:
  static constexpr std::size_t window_bytes = 8192;  // a page for each of the two values

#if NCCL_VERSION_CODE >= 22700
  void register_all() {
    windows_.resize(parts_.size());
    nccl::check(ncclGroupStart(), "beginning to register memory");
    for (std::size_t l = 0; l < parts_.size(); ++l) {
      const cuda::device_scope scope(gpus_[l].ordinal);
      nccl::check(ncclCommWindowRegister(communicators_[l], parts_[l], window_bytes, &windows_[l],
                                         NCCL_WIN_COLL_SYMMETRIC),
                  "registering memory with NCCL");
    }
    nccl::check(ncclGroupEnd(), "registering memory with NCCL");
  }

  std::vector<ncclWindow_t> windows_;
#endif

  const std::vector<ncclComm_t>& communicators_;
  std::vector<gpu_team::gpu_member> gpus_;
  std::vector<cuda::memory> plain_;
  std::vector<float*> parts_;
};

// One pinned thread per GPU issues its rounds; a checked round has the checking kernel before it.
class nccl_all_reduce final : public barrier {
 public:
  nccl_all_reduce(std::unique_ptr<round_loop::launch_rounds> rounds,
                  const std::vector<ncclComm_t>& communicators, unsigned members, bool graph, bool registered)
      : rounds_(std::move(rounds)),
        communicators_(communicators),
        members_(members),
        graph_(graph),
        graphs_(rounds_->gpus().size()),
        values_(rounds_->gpus(), communicators, registered),
        pool_(gpu_team::cpus_of(rounds_->gpus())) {}

  trial run(const run_request& request) override {
    std::vector<float> totals(rounds_->gpus().size());
    ++runs_;
    auto result =
        rounds_->run(request, "nccl (all-reduce)", [&](std::vector<std::chrono::nanoseconds>& elapsed) {
          pool_.run([&](unsigned local) { elapsed[local] = time(local, request, totals[local]); });
        });
    if (request.mode == run_mode::check) compare(totals, request, result);
    return result;
  }

 private:
  using clock = std::chrono::steady_clock;
  static constexpr std::uint32_t rounds_per_graph = 256;

  // A member's contribution in this run; it differs from that of the run before.
  float share_of(unsigned member) const { return static_cast<float>((member + 1) * (1 + runs_ % 16)); }

  std::chrono::nanoseconds time(unsigned local, const run_request& request, float& total) {
    const auto& gpu = rounds_->gpus()[local];
    const auto stream = rounds_->stream(local);
    cuda::check(cudaSetDevice(gpu.ordinal), "selecting a GPU");
    if (graph_) {
      // NCCL connects the GPUs at its first call, and cannot while a stream is captured.
      all_reduce(local);
      cuda::check(cudaStreamSynchronize(stream), "waiting for an all-reduce");
    }
    const auto& pieces = graph_ ? graphs_for(local, request) : graphs_[local].checked;
    const float share = share_of(gpu.member);
    cuda::check(cudaMemcpy(values_.mine(local), &share, sizeof share, cudaMemcpyHostToDevice),
                "setting a value");
    all_reduce(local);  // the start barrier of all ranks
    cuda::check(cudaStreamSynchronize(stream), "waiting for the first all-reduce");
    const auto begin = clock::now();
    if (graph_)
      for (const auto& p : pieces) cuda::check(cudaGraphLaunch(p.get(), stream), "launching a graph");
    else issue(local, 0, request.rounds, request.mode == run_mode::check);
    cuda::check(cudaStreamSynchronize(stream), "waiting for the last all-reduce");
    const auto elapsed = clock::now() - begin;
    cuda::check(cudaMemcpy(&total, values_.sum(local), sizeof total, cudaMemcpyDeviceToHost),
                "reading a sum");
    return elapsed;
  }

  // The sum of the last round. The values are small whole numbers, so it is exact.
  void compare(const std::vector<float>& totals, const run_request& request, trial& result) const {
    float expected = 0;
    for (unsigned m = 0; m < members_; ++m) expected += share_of(m);
    for (std::size_t l = 0; l < totals.size(); ++l) {
      ++result.observations;
      if (totals[l] == expected) continue;
      const worker_id self{rounds_->gpus()[l].member, 0};
      ++result.violations;
      if (!result.first_violation)
        result.first_violation = violation{request.rounds - 1,
                                           self,
                                           self,
                                           static_cast<std::uint32_t>(expected),
                                           static_cast<std::uint32_t>(totals[l]),
                                           "sum"};
    }
  }

  void all_reduce(unsigned local) {
    nccl::check(ncclAllReduce(values_.mine(local), values_.sum(local), 1, ncclFloat, ncclSum,
                              communicators_[local], rounds_->stream(local)),
                "all-reduce");
  }

  void issue(unsigned local, std::uint32_t first, std::uint32_t count, bool checked) {
    for (std::uint32_t round = first; round < first + count; ++round) {
      if (checked) rounds_->launch(local, round, false);
      all_reduce(local);
      rounds_->beat(local, round);
    }
  }

  // The graphs of timed runs are kept, and those of the last checked run.
  const std::vector<cuda::executable>& graphs_for(unsigned local, const run_request& request) {
    auto& mine = graphs_[local];
    if (request.mode == run_mode::check) {
      if (!mine.checked.empty() && round_loop::same_launches(request, mine.checked_run)) return mine.checked;
      mine.checked_run = request;
      return mine.checked = capture(local, request);
    }
    auto& kept = mine.timed[request.rounds];
    if (kept.empty()) kept = capture(local, request);
    return kept;
  }

  std::vector<cuda::executable> capture(unsigned local, const run_request& request) {
    std::vector<cuda::executable> pieces;
    for (std::uint32_t first = 0; first < request.rounds; first += rounds_per_graph)
      pieces.push_back(gpu_team::captured(rounds_->stream(local), "capturing rounds", [&] {
        issue(local, first, std::min(rounds_per_graph, request.rounds - first),
              request.mode == run_mode::check);
      }));
    return pieces;
  }

  std::unique_ptr<round_loop::launch_rounds> rounds_;
  const std::vector<ncclComm_t>& communicators_;
  unsigned members_;
  bool graph_;
  std::uint32_t runs_ = 0;
  struct graphs {
    std::map<std::uint32_t, std::vector<cuda::executable>> timed;  // by rounds
    std::vector<cuda::executable> checked;
    run_request checked_run;
  };
  std::vector<graphs> graphs_;  // by local GPU, each used by its own thread
  values values_;
  worker_pool pool_;
};

struct form {
  const char* variant;
  bool graph, registered;
};

creation make(const topology::group& group, const configuration& wanted, session& where, const form& asked) {
  // A small all-reduce carries its flag beside its data and fences nothing: it overtakes what the kernel in
  // front of it stored into another GPU's memory (docs/results/gpu-barriers.md, "What NCCL's all-reduce does
  // not order").
  auto made = round_loop::make_launch_rounds(group, wanted, where, round_loop::kernel_end::system_fence);
  if (!made.rounds) return creation::none(made.reason);
  const auto& communicators = nccl_communicators(group, where);
  if (asked.registered && NCCL_VERSION_CODE < 22700)
    return creation::none("built with a NCCL that registers no memory for all-reduce: 2.27 and later do");
  return {std::make_unique<nccl_all_reduce>(std::move(made.rounds), communicators,
                                            static_cast<unsigned>(group.members.size()), asked.graph,
                                            asked.registered),
          {},
          fmt::format("{}: all-reduce{} behind kernels that end with a system fence, NCCL {}", asked.variant,
                      asked.registered ? " of registered memory" : "", nccl::version_text(nccl::version())),
          {}};
}

}  // namespace

namespace gpu_nccl {

creation stream(const topology::group& group, const configuration& wanted, session& where) {
  return make(group, wanted, where, {"stream", false, false});
}

creation graph(const topology::group& group, const configuration& wanted, session& where) {
  return make(group, wanted, where, {"graph", true, false});
}

creation stream_registered(const topology::group& group, const configuration& wanted, session& where) {
  return make(group, wanted, where, {"stream-registered", false, true});
}

creation graph_registered(const topology::group& group, const configuration& wanted, session& where) {
  return make(group, wanted, where, {"graph-registered", true, true});
}

}  // namespace gpu_nccl

}  // namespace mgsync
