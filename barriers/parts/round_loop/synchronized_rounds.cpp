#include "barriers/parts/round_loop/synchronized_rounds.hpp"

namespace mgsync::round_loop {

using clock = std::chrono::steady_clock;

synchronized_rounds::synchronized_rounds(std::string what, std::unique_ptr<launch_rounds> rounds)
    : rounds_(std::move(rounds)), what_(std::move(what)) {}

trial synchronized_rounds::run(const run_request& request) {
  failures_.assign(rounds_->gpus().size(), nullptr);
  return rounds_->run(request, what_, [&](std::vector<std::chrono::nanoseconds>& elapsed) {
    on_all([&](unsigned local, const std::function<void()>& meet) {
      // A thread whose GPU failed still meets the others.
      attempt(local, [&] { cuda::check(cudaSetDevice(rounds_->gpus()[local].ordinal), "selecting a GPU"); });
      meet();
      const auto begin = clock::now();
      for (std::uint32_t round = 0; round < request.rounds; ++round) {
        attempt(local, [&] { one(local, round); });
        meet();
      }
      elapsed[local] = clock::now() - begin;
    });
    for (const auto& f : failures_)
      if (f) std::rethrow_exception(f);
  });
}

void synchronized_rounds::one(unsigned local, std::uint32_t round) {
  rounds_->launch(local, round, false);
  cuda::check(cudaStreamSynchronize(rounds_->stream(local)), "waiting for a kernel");
  rounds_->beat(local, round);
}

void synchronized_rounds::attempt(unsigned local, const std::function<void()>& what) {
  if (failures_[local]) return;
  try {
    what();
  } catch (...) { failures_[local] = std::current_exception(); }
}

}  // namespace mgsync::round_loop
