#include "barriers/openmp/gpu_openmp.hpp"

#include <barrier>
#include <exception>
#include <functional>
#include <string>
#include <vector>

#include <omp.h>

#include "barriers/round_loop/launch_rounds.hpp"
#include "src/base/pinning.hpp"
#include "src/base/worker_pool.hpp"

namespace mgsync {

namespace {

using clock = std::chrono::steady_clock;

// One host thread per GPU, each with its own rounds of launch, synchronize, barrier.
class cpu_side_barrier : public barrier {
 public:
  cpu_side_barrier(session& where, std::string what, std::unique_ptr<round_loop::launch_rounds> rounds)
      : rounds_(std::move(rounds)), session_(where), what_(std::move(what)) {}

  trial run(const run_request& request) override {
    const auto gpus = rounds_->gpus().size();
    std::vector<std::chrono::nanoseconds> elapsed(gpus);
    std::vector<std::exception_ptr> failures(gpus);
    rounds_->begin(request);
    {
      const watchdog::guard watched(session_.watchdog(), what_, request.deadline - clock::now(),
                                    [this] { return rounds_->progress_now(); });
      on_all([&](unsigned local, const std::function<void()>& meet) {
        // A thread whose GPU failed still meets the others.
        attempt(failures[local], [&] { cuda::check(cudaSetDevice(rounds_->gpus()[local].ordinal), "selecting a GPU"); });
        meet();
        const auto begin = clock::now();
        for (std::uint32_t round = 0; round < request.rounds; ++round) {
          if (!failures[local]) attempt(failures[local], [&] { one(local, round); });
          meet();
        }
        elapsed[local] = clock::now() - begin;
      });
    }
    for (const auto& f : failures)
      if (f) std::rethrow_exception(f);
    return rounds_->finish(request, std::move(elapsed));
  }

 protected:
  using member_work = std::function<void(unsigned local, const std::function<void()>& meet)>;
  // Runs the work on one pinned thread per GPU; meet() is the barrier of these threads.
  virtual void on_all(const member_work&) = 0;

  std::unique_ptr<round_loop::launch_rounds> rounds_;

 private:
  void one(unsigned local, std::uint32_t round) {
    rounds_->launch(local, round, false);
    cuda::check(cudaStreamSynchronize(rounds_->stream(local)), "waiting for a kernel");
    rounds_->beat(local, round);
  }
  static void attempt(std::exception_ptr& failure, const std::function<void()>& what) {
    try {
      what();
    } catch (...) {
      failure = std::current_exception();
    }
  }

  session& session_;
  std::string what_;
};

class openmp_team final : public cpu_side_barrier {
 public:
  openmp_team(session& where, std::unique_ptr<round_loop::launch_rounds> rounds)
      : cpu_side_barrier(where, "openmp (runtime)", std::move(rounds)), starter_({-1}) {}

 private:
  // As on hosts: the team belongs to a thread of its own and is dissolved after the run.
  void on_all(const member_work& work) override {
    starter_.run([&](unsigned) {
      omp_set_dynamic(0);
#pragma omp parallel num_threads(static_cast<int>(rounds_->gpus().size()))
      {
        const auto local = static_cast<unsigned>(omp_get_thread_num());
        const int cpu = rounds_->gpus()[local].cpu;
        if (cpu >= 0) pin_calling_thread(cpu);
        work(local, [] {
#pragma omp barrier
        });
      }
      omp_pause_resource_all(omp_pause_soft);
    });
  }

  worker_pool starter_;
};

std::vector<int> cpus_of(const round_loop::launch_rounds& rounds) {
  std::vector<int> cpus;
  for (const auto& g : rounds.gpus()) cpus.push_back(g.cpu);
  return cpus;
}

class std_threads final : public cpu_side_barrier {
 public:
  std_threads(session& where, std::unique_ptr<round_loop::launch_rounds> rounds)
      : cpu_side_barrier(where, "openmp (std-barrier)", std::move(rounds)),
        all_(static_cast<std::ptrdiff_t>(rounds_->gpus().size())), pool_(cpus_of(*rounds_)) {}

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
