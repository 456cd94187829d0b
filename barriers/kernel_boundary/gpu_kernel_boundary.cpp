#include "barriers/kernel_boundary/gpu_kernel_boundary.hpp"

#include <exception>
#include <string>

#include "barriers/kernel_boundary/boundary_methods.hpp"
#include "src/base/worker_pool.hpp"

namespace mgsync {

namespace {

class kernel_boundary final : public barrier {
 public:
  kernel_boundary(session& where, std::string variant, std::unique_ptr<round_loop::launch_rounds> rounds,
                  std::unique_ptr<boundary_method> method)
      : session_(where), what_("kernel-boundary (" + variant + ")"), rounds_(std::move(rounds)),
        method_(std::move(method)), driver_({rounds_->gpus().front().cpu}) {}

  trial run(const run_request& request) override {
    using clock = std::chrono::steady_clock;
    std::chrono::nanoseconds elapsed{};
    std::exception_ptr failure;
    const watchdog::guard watched(session_.watchdog(), what_, request.deadline - clock::now(),
                                  [this] { return rounds_->progress_now(); });
    driver_.run([&](unsigned) {
      try {
        rounds_->begin(request);
        method_->prepare(request);
        const auto begin = clock::now();
        method_->issue(request.rounds);
        wait();
        elapsed = clock::now() - begin;
      } catch (...) {
        failure = std::current_exception();
      }
    });
    if (failure) std::rethrow_exception(failure);
    // One thread issues for all, so all members took as long.
    return rounds_->finish(request, std::vector<std::chrono::nanoseconds>(rounds_->gpus().size(), elapsed));
  }

 private:
  void wait() const {
    for (unsigned l = 0; l < rounds_->gpus().size(); ++l) {
      cuda::check(cudaSetDevice(rounds_->gpus()[l].ordinal), "selecting a GPU");
      cuda::check(cudaStreamSynchronize(rounds_->stream(l)), "waiting for the last round");
    }
  }

  session& session_;
  std::string what_;
  std::unique_ptr<round_loop::launch_rounds> rounds_;
  std::unique_ptr<boundary_method> method_;
  worker_pool driver_;
};

}  // namespace

creation create_gpu_kernel_boundary(const topology::group& group, const configuration& asked, session& where) {
  auto rounds = round_loop::make_launch_rounds(group, asked, where);
  if (!rounds.rounds) return {nullptr, rounds.reason, {}, {}};
  auto method = make_boundary_method(asked.variant, *rounds.rounds);
  if (!method.method) return {nullptr, method.reason, {}, {}};
  return {std::make_unique<kernel_boundary>(where, asked.variant, std::move(rounds.rounds), std::move(method.method)),
          {}, asked.variant, {}};
}

}  // namespace mgsync
