#include "barriers/openmp/gpu_openmp.hpp"

#include <barrier>
#include <string>

#include <omp.h>

#include "barriers/parts/round_loop/synchronized_rounds.hpp"
#include "src/base/errors.hpp"
#include "src/base/pinning.hpp"
#include "src/base/worker_pool.hpp"

namespace mgsync {

namespace {

using round_loop::launch_rounds;
using round_loop::synchronized_rounds;

class openmp_team final : public synchronized_rounds {
 public:
  openmp_team(session& where, std::unique_ptr<launch_rounds> rounds)
      : synchronized_rounds(where, "openmp (runtime)", std::move(rounds)), starter_({-1}) {}

 private:
  // As on hosts: the team belongs to a thread of its own and is dissolved after the run.
  void on_all(const member_work& work) override {
    starter_.run([&](unsigned) {
      omp_set_dynamic(0);
#pragma omp parallel num_threads(static_cast<int>(rounds_->gpus().size()))
      {
        const auto local = static_cast<unsigned>(omp_get_thread_num());
        const int cpu = rounds_->gpus()[local].cpu;
        const std::string refused = cpu >= 0 ? pin_calling_thread(cpu) : std::string();
        if (!refused.empty()) fail(local, std::make_exception_ptr(api_error("system", refused, "pinning a thread of OpenMP")));
        work(local, [] {
#pragma omp barrier
        });
      }
      omp_pause_resource_all(omp_pause_soft);
    });
  }

  worker_pool starter_;
};

class std_threads final : public synchronized_rounds {
 public:
  std_threads(session& where, std::unique_ptr<launch_rounds> rounds)
      : synchronized_rounds(where, "openmp (std-barrier)", std::move(rounds)),
        all_(static_cast<std::ptrdiff_t>(rounds_->gpus().size())), pool_(round_loop::cpus_of(rounds_->gpus())) {}

 private:
  void on_all(const member_work& work) override {
    pool_.run([&](unsigned local) { work(local, [&] { all_.arrive_and_wait(); }); });
  }

  std::barrier<> all_;
  worker_pool pool_;
};

}  // namespace

creation create_gpu_openmp(const topology::group& group, const configuration& asked, session& where) {
  auto made = round_loop::make_launch_rounds(group, asked, where);
  if (!made.rounds) return {nullptr, made.reason, {}, {}};
  if (asked.variant == "std-barrier")
    return {std::make_unique<std_threads>(where, std::move(made.rounds)), {}, "std-barrier", {}};
  return {std::make_unique<openmp_team>(where, std::move(made.rounds)), {}, "runtime", {}};
}

}  // namespace mgsync
