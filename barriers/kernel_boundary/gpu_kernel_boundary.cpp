#include "barriers/kernel_boundary/gpu_kernel_boundary.hpp"

#include <atomic>
#include <barrier>
#include <exception>
#include <string>
#include <vector>

#include "barriers/kernel_boundary/boundary_methods.hpp"
#include "src/base/worker_pool.hpp"

namespace mgsync {

namespace {

class kernel_boundary final : public barrier {
 public:
  kernel_boundary(session& where, std::string variant, std::unique_ptr<round_loop::launch_rounds> rounds,
                  std::unique_ptr<boundary_method> method)
      : session_(where),
        what_("kernel-boundary (" + variant + ")"),
        rounds_(std::move(rounds)),
        method_(std::move(method)),
        drivers_(cpus_of_drivers()),
        together_(static_cast<std::ptrdiff_t>(drivers_.size())) {}

  trial run(const run_request& request) override {
    std::vector<std::chrono::nanoseconds> elapsed(drivers_.size());
    std::vector<std::exception_ptr> failures(drivers_.size());
    std::atomic<bool> failed = false;
    rounds_->begin(request);
    method_->prepare(request);
    {
      const watchdog::guard watched(session_.watchdog(), what_, request.deadline - awake_clock::now(),
                                    [this] { return rounds_->progress_now(); });
      drivers_.run([&](unsigned thread) {
        try {
          elapsed[thread] = drive(thread, request.rounds, failed);
        } catch (...) {
          failures[thread] = std::current_exception();
          failed = true;
        }
      });
    }
    for (const auto& f : failures)
      if (f) std::rethrow_exception(f);
    // Where one thread issues for all, all members took as long.
    elapsed.resize(rounds_->gpus().size(), elapsed.front());
    return rounds_->finish(request, std::move(elapsed));
  }

 private:
  using clock = std::chrono::steady_clock;

  std::vector<int> cpus_of_drivers() const {
    auto cpus = round_loop::cpus_of(rounds_->gpus());
    cpus.resize(method_->threads());
    return cpus;
  }

  std::chrono::nanoseconds drive(unsigned thread, std::uint32_t count, std::atomic<bool>& failed) {
    const bool for_all = drivers_.size() == 1;
    const auto select = [&](unsigned local) {
      cuda::check(cudaSetDevice(rounds_->gpus()[local].ordinal), "selecting a GPU");
    };
    std::exception_ptr unready;
    try {
      select(thread);
    } catch (...) {
      unready = std::current_exception();
      failed = true;
    }
    together_.arrive_and_wait();
    if (unready) std::rethrow_exception(unready);
    const auto begin = clock::now();
    method_->issue(thread, count, failed);
    for (unsigned l = thread; l < (for_all ? rounds_->gpus().size() : thread + 1); ++l) {
      select(l);
      cuda::check(cudaStreamSynchronize(rounds_->stream(l)), "waiting for the last round");
    }
    return clock::now() - begin;
  }

  session& session_;
  std::string what_;
  std::unique_ptr<round_loop::launch_rounds> rounds_;
  std::unique_ptr<boundary_method> method_;
  worker_pool drivers_;      // one for all GPUs, or one for each
  std::barrier<> together_;  // where they start
};

std::string what_it_contains(const std::string& variant) {
  if (variant == "traditional" || variant == "cooperative")
    return variant + ": launches and events, one host thread";
  if (variant == "traditional-threads") return variant + ": launches and events, a host thread for every GPU";
  if (variant == "stream-memops")
    return variant + ": launches and batched operations on flags in GPU memory, a host thread "
                     "for every GPU";
  if (variant == "graph") return variant + ": every kernel after all of the round before";
  if (variant == "graph-join") return variant + ": every round after one null kernel on the first GPU";
  return variant + ": one driver call for all GPUs";
}

}  // namespace

std::unique_ptr<barrier> make_boundary(session& where, std::string variant,
                                       std::unique_ptr<round_loop::launch_rounds> rounds,
                                       std::unique_ptr<boundary_method> method) {
  return std::make_unique<kernel_boundary>(where, std::move(variant), std::move(rounds), std::move(method));
}

creation create_gpu_kernel_boundary(const topology::group& group, const configuration& asked,
                                    session& where) {
  auto rounds = round_loop::make_launch_rounds(group, asked, where);
  if (!rounds.rounds) return {nullptr, rounds.reason, {}, {}};
  auto method = make_boundary_method(asked.variant, *rounds.rounds);
  if (!method.method) return {nullptr, method.reason, {}, {}};
  return {make_boundary(where, asked.variant, std::move(rounds.rounds), std::move(method.method)),
          {},
          what_it_contains(asked.variant),
          {}};
}

}  // namespace mgsync
