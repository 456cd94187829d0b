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
  kernel_boundary(const std::string& variant, std::unique_ptr<round_loop::launch_rounds> rounds,
                  std::unique_ptr<boundary_method> method)
      : what_("kernel-boundary (" + variant + ")"),
        rounds_(std::move(rounds)),
        method_(std::move(method)),
        drivers_(cpus_of_drivers()),
        together_(static_cast<std::ptrdiff_t>(drivers_.size())) {}

  trial run(const run_request& request) override {
    return rounds_->run(request, what_, [&](std::vector<std::chrono::nanoseconds>& elapsed) {
      std::atomic<bool> failed = false;
      method_->prepare(request);
      drivers_.run([&](unsigned thread) {
        try {
          elapsed[thread] = drive(thread, request.rounds, failed);
        } catch (...) {
          failed = true;
          throw;
        }
      });
      // Where one thread issues for all GPUs, its time is that of every member.
      for (unsigned l = drivers_.size(); l < elapsed.size(); ++l) elapsed[l] = elapsed.front();
    });
  }

 private:
  using clock = std::chrono::steady_clock;

  std::vector<int> cpus_of_drivers() const {
    auto cpus = gpu_team::cpus_of(rounds_->gpus());
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

  std::string what_;
  std::unique_ptr<round_loop::launch_rounds> rounds_;
  std::unique_ptr<boundary_method> method_;
  worker_pool drivers_;      // one for all GPUs, or one for each
  std::barrier<> together_;  // where they start
};

}  // namespace

std::unique_ptr<barrier> make_boundary(const std::string& variant,
                                       std::unique_ptr<round_loop::launch_rounds> rounds,
                                       std::unique_ptr<boundary_method> method) {
  return std::make_unique<kernel_boundary>(variant, std::move(rounds), std::move(method));
}

}  // namespace mgsync
