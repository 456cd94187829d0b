#include "barriers/openmp/gpu_openmp.hpp"

#include <barrier>
#include <string>

#include "barriers/openmp/team.hpp"
#include "barriers/parts/round_loop/synchronized_rounds.hpp"
#include "src/base/worker_pool.hpp"

namespace mgsync {

namespace {

using round_loop::launch_rounds;
using round_loop::synchronized_rounds;

class runtime_threads final : public synchronized_rounds {
 public:
  explicit runtime_threads(std::unique_ptr<launch_rounds> rounds)
      : synchronized_rounds("openmp (runtime)", std::move(rounds)),
        team_(gpu_team::cpus_of(rounds_->gpus())) {}

  std::string why_smaller() { return team_.why_smaller(); }

 private:
  void on_all(const member_work& work) override {
    team_.run([&](unsigned local) {
      work(local, [] {
#pragma omp barrier
      });
    });
  }

  openmp_team team_;
};

class std_threads final : public synchronized_rounds {
 public:
  explicit std_threads(std::unique_ptr<launch_rounds> rounds)
      : synchronized_rounds("openmp (std-barrier)", std::move(rounds)),
        all_(static_cast<std::ptrdiff_t>(rounds_->gpus().size())),
        pool_(gpu_team::cpus_of(rounds_->gpus())) {}

 private:
  void on_all(const member_work& work) override {
    pool_.run([&](unsigned local) { work(local, [&] { all_.arrive_and_wait(); }); });
  }

  std::barrier<> all_;
  worker_pool pool_;
};

}  // namespace

namespace gpu_openmp {

creation runtime(const topology::group& group, const configuration& wanted, session& where) {
  auto made = round_loop::make_launch_rounds(group, wanted, where);
  if (!made.rounds) return creation::none(made.reason);
  auto threads = std::make_unique<runtime_threads>(std::move(made.rounds));
  if (auto reason = threads->why_smaller(); !reason.empty()) return creation::none(std::move(reason));
  return {std::move(threads), {}, "runtime", {}};
}

creation std_barrier(const topology::group& group, const configuration& wanted, session& where) {
  auto made = round_loop::make_launch_rounds(group, wanted, where);
  if (!made.rounds) return creation::none(made.reason);
  return {std::make_unique<std_threads>(std::move(made.rounds)), {}, "std-barrier", {}};
}

}  // namespace gpu_openmp

}  // namespace mgsync
