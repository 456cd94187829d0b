// The barrier of an OpenMP team, and std::barrier for comparison, over host threads of one process.
#include <barrier>
#include <cstddef>

#include <fmt/format.h>

#include "barriers/backend.hpp"
#include "barriers/openmp/gpu_openmp.hpp"
#include "barriers/openmp/team.hpp"
#include "barriers/parts/round_loop/host_crew.hpp"
#include "src/base/loaded_libraries.hpp"
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

std::string standard_library() {
#ifdef __GLIBCXX__
  return fmt::format("libstdc++ ({})", __GLIBCXX__);
#else
  return fmt::format("libc++ ({})", _LIBCPP_VERSION);
#endif
}

class runtime_barrier final : public barrier {
 public:
  runtime_barrier(const topology::group& group, unsigned blocks, session& where,
                  std::unique_ptr<symmetric_memory> board)
      : crew_(group, blocks, where, std::move(board), false, "openmp (runtime)"),
        passes_(crew_.workers().size()),
        team_(crew_.cpus()) {}

  std::string why_smaller() { return team_.why_smaller(); }

  trial run(const run_request& request) override {
    return crew_.run(request, passes_, [this](const auto& work) { team_.run(work); });
  }

 private:
  round_loop::host_crew crew_;
  std::vector<runtime_pass> passes_;
  openmp_team team_;
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
  std_barrier(const topology::group& group, unsigned blocks, session& where,
              std::unique_ptr<symmetric_memory> board)
      : crew_(group, blocks, where, std::move(board), false, "openmp (std-barrier)"),
        shared_(static_cast<std::ptrdiff_t>(crew_.workers().size())),
        passes_(crew_.workers().size(), {&shared_}),
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

// The workers' board, which a checked run compares on.
auto board_of(const topology::group& group, unsigned blocks, session& where) {
  return allocate_host_memory(group, round_loop::host_crew::board_bytes(blocks), reach::group, where);
}

creation make_std_barrier(const topology::group& group, const configuration& wanted, session& where) {
  const unsigned blocks = wanted.blocks_per_sm.value_or(1);
  auto board = board_of(group, blocks, where);
  if (!board.memory) return creation::none(board.reason);
  return {
      std::make_unique<std_barrier>(group, blocks, where, std::move(board.memory)), {}, "std-barrier", {}};
}

creation make_runtime_barrier(const topology::group& group, const configuration& wanted, session& where) {
  const unsigned blocks = wanted.blocks_per_sm.value_or(1);
  auto board = board_of(group, blocks, where);
  if (!board.memory) return creation::none(board.reason);
  auto made = std::make_unique<runtime_barrier>(group, blocks, where, std::move(board.memory));
  if (auto reason = made->why_smaller(); !reason.empty()) return creation::none(std::move(reason));
  return {std::move(made), {}, "runtime", {}};
}

constexpr facts of_the_run_time{.origin = fact::origin::runtime,
                                .driver = fact::driver::host,
                                .scope = fact::scope::node,
                                .extent = fact::extent::everything,
                                .order = fact::order::both};

constexpr barrier_variant variants[] = {
    {.name = "runtime",
     .summary = "the barrier of an OpenMP team",
     .facts = of_the_run_time,
     .make = makers::of_both(make_runtime_barrier, built<MGSYNC_WITH_CUDA, gpu_openmp::runtime>),
     .call = {.maker = "OpenMP",
              .call = "cudaStreamSynchronize(), then #pragma omp barrier",
              .needs = "-fopenmp, a thread for each GPU",
              .least_members = 2},
     .host_call = {.maker = "OpenMP", .call = "#pragma omp barrier", .needs = "-fopenmp"},
     .library = openmp_runtime},
    {.name = "std-barrier",
     .summary = "std::barrier of C++20, for comparison",
     .facts = of_the_run_time,
     .make = makers::of_both(make_std_barrier, built<MGSYNC_WITH_CUDA, gpu_openmp::std_barrier>),
     .call = {.maker = "C++",
              .call = "cudaStreamSynchronize(), then std::barrier::arrive_and_wait()",
              .needs = "#include <barrier>, C++20, a thread for each GPU",
              .least_members = 2},
     .host_call = {.maker = "C++",
                   .call = "std::barrier::arrive_and_wait()",
                   .needs = "#include <barrier>, C++20"},
     .library = standard_library}};

support can_run(const topology::machine&, const topology::group& group, const configuration& wanted) {
  if (!wanted.load.idle()) return support::never("load is made beside in-kernel barriers only");
  for (const auto& m : group.members)
    if (m.rank != group.members.front().rank)
      return support::never("an OpenMP team is one process, and these members are in several ranks");
  return support::yes();
}

}  // namespace

extern const backend openmp_backend;
const backend openmp_backend{.name = "openmp",
                             .summary = "the barrier of an OpenMP team of pinned threads",
                             .variants = variants,
                             .can_run = can_run};

}  // namespace mgsync
