// The barrier of an OpenMP team, and std::barrier for comparison, over host threads of one process.
#include <barrier>
#include <cstddef>

#include <omp.h>

#include "barriers/backend.hpp"
#include "barriers/openmp/gpu_openmp.hpp"
#include "barriers/parts/round_loop/host_crew.hpp"
#include "src/base/errors.hpp"
#include "src/base/pinning.hpp"
#include "src/base/worker_pool.hpp"

namespace mgsync {

namespace {

struct runtime_pass {
  void begin(const algorithm::host_limits&) {}
  bool operator()() const {
#pragma omp barrier
    return true;
  }
};

class runtime_barrier final : public barrier {
 public:
  runtime_barrier(const topology::group& group, unsigned blocks, session& where,
                  std::unique_ptr<symmetric_memory> board)
      : crew_(group, blocks, where, std::move(board), false, "openmp (runtime)"), passes_(crew_.workers().size()),
        starter_({-1}) {}

  trial run(const run_request& request) override {
    const auto seen =
        crew_.run(request, passes_, [this](const auto& work) { starter_.run([&](unsigned) { fork(work); }); });
    if (!failure_.empty()) throw api_error("system", failure_, "pinning the threads of an OpenMP team");
    return seen;
  }

 private:
  // The team belongs to a thread of its own, and is dissolved after the run: idle OpenMP threads would spin on the
  // cores of whichever backend is measured next.
  void fork(const std::function<void(unsigned)>& work) {
    const int threads = static_cast<int>(passes_.size());
    omp_set_dynamic(0);
#pragma omp parallel num_threads(threads)
    {
      const int cpu = crew_.workers()[static_cast<std::size_t>(omp_get_thread_num())].cpu;
      if (const auto refused = cpu < 0 ? std::string() : pin_calling_thread(cpu); !refused.empty()) {
#pragma omp critical
        failure_ = refused;
      }
#pragma omp barrier
      if (failure_.empty()) work(static_cast<unsigned>(omp_get_thread_num()));
    }
    omp_pause_resource_all(omp_pause_soft);
  }

  round_loop::host_crew crew_;
  std::vector<runtime_pass> passes_;
  worker_pool starter_;
  std::string failure_;
};

struct std_pass {
  std::barrier<>* shared;
  void begin(const algorithm::host_limits&) {}
  bool operator()() const {
    shared->arrive_and_wait();
    return true;
  }
};

class std_barrier final : public barrier {
 public:
  std_barrier(const topology::group& group, unsigned blocks, session& where, std::unique_ptr<symmetric_memory> board)
      : crew_(group, blocks, where, std::move(board), false, "openmp (std-barrier)"),
        shared_(static_cast<std::ptrdiff_t>(crew_.workers().size())), passes_(crew_.workers().size(), {&shared_}),
        pool_(crew_.cpus()) {}

  trial run(const run_request& request) override {
    return crew_.run(request, passes_, [this](const auto& work) { pool_.run(work); });
  }

 private:
  round_loop::host_crew crew_;
  std::barrier<> shared_;
  std::vector<std_pass> passes_;
  worker_pool pool_;
};

constexpr std::string_view variants[] = {"runtime", "std-barrier"};

support can_run(const topology::machine&, const topology::group& group, const configuration& wanted) {
  if (!wanted.load.idle()) return support::no("load is made beside in-kernel barriers only");
  for (const auto& m : group.members)
    if (m.rank != group.members.front().rank)
      return support::no("an OpenMP team is one process, and these members are in several ranks");
  return support::yes();
}

creation create(const topology::group& group, const configuration& wanted, session& where) {
  if (group.device == topology::device::gpu) return create_gpu_openmp(group, wanted, where);
  const unsigned blocks = wanted.blocks_per_sm.value_or(1);
  auto board = allocate_host_memory(group, round_loop::host_crew::board_bytes(blocks), reach::group, where);
  if (!board.memory) return {nullptr, board.reason, {}, {}};
  if (wanted.variant == "std-barrier")
    return {std::make_unique<std_barrier>(group, blocks, where, std::move(board.memory)), {}, "std-barrier", {}};
  return {std::make_unique<runtime_barrier>(group, blocks, where, std::move(board.memory)), {}, "runtime", {}};
}

}  // namespace

extern const backend openmp_backend;
const backend openmp_backend{"openmp", "the barrier of an OpenMP team of pinned threads", variants, level::group,
                             false, can_run, create};

}  // namespace mgsync
