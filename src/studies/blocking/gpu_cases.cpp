#include "src/studies/blocking/gpu_cases.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include "barriers/parts/algorithm/layout.hpp"
#include "barriers/parts/gpu_team/launch.hpp"
#include "src/base/cuda.hpp"
#include "src/studies/blocking/case_board.hpp"
#include "src/studies/blocking/gpu_case_kernels.hpp"
#include "src/studies/blocking/gpu_process.hpp"
#if MGSYNC_WITH_NCCL_DEVICE
#include "src/studies/blocking/nccl_case.hpp"
#endif
#if MGSYNC_WITH_VENDOR
#include "src/studies/blocking/vendor_case.hpp"
#endif

namespace mgsync::blocking {
namespace {

using steady = std::chrono::steady_clock;

constexpr unsigned blocks_per_gpu = 4;  // of a grid, and of each GPU of a multi-grid
constexpr unsigned threads_per_block = 64;

using gpu_team::launch_as;

// How the kernel of a level is launched on each GPU. The kernels of levels within a block or a cluster have
// one more, which is the guard; others have a guard that is a kernel of its own.
struct level_launch {
  std::string_view level;
  unsigned participants;  // on each GPU
  unsigned blocks, threads;
  launch_as as = launch_as::plain;
  bool has_own_guard = true;
};
constexpr level_launch level_launches[] = {
    {"lane", 32, 2, 32},
    {"warp", 4, 2, 128},
    {"cluster", blocks_per_gpu, 2 * blocks_per_gpu, threads_per_block, launch_as::clusters},
    {"grid", blocks_per_gpu, blocks_per_gpu, threads_per_block, launch_as::cooperative, false},
    {"multigrid-blocks", blocks_per_gpu, blocks_per_gpu, threads_per_block, launch_as::cooperative, false},
    {"multigrid-gpus", 1, blocks_per_gpu, threads_per_block, launch_as::cooperative, false},
    {"guard", 2, 1, 1, launch_as::plain, false}};

away how_of(absence how) {
  switch (how) {
  case absence::nobody: return away::nobody;
  case absence::exit_before: return away::exit_before;
  case absence::exit_late: return away::exit_late;
  case absence::spin: return away::spin;
  case absence::elsewhere: return away::elsewhere;
  case absence::late: return away::late;
  case absence::drop: return away::drop;
  }
  return away::nobody;
}

// Checks in a fresh process that the GPU still computes: the sum of 0 .. n - 1.
void check_that_it_computes(int gpu) {
  constexpr unsigned count = 1u << 20;
  auto sum = cuda::memory::on_gpu(gpu, sizeof(unsigned long long));
  auto* address = sum.as<unsigned long long>();
  unsigned numbers = count;
  void* arguments[] = {&address, &numbers};
  cuda::check(cudaLaunchKernel(kernel_that_sums(), dim3(64), dim3(256), arguments, 0, nullptr),
              "launching a sum");
  unsigned long long found = 0;
  cuda::check(cudaMemcpy(&found, address, sizeof found, cudaMemcpyDeviceToHost), "reading a sum");
  if (found != std::uint64_t{count} * (count - 1) / 2) {
    tell_found("error", fmt::format("GPU {} does not compute: a sum is {}", gpu, found));
    end_process();
  }
}

void open_peers(const std::vector<int>& gpus) {
  for (const int from : gpus)
    for (const int to : gpus) {
      if (from == to) continue;
      int may = 0, atomics = 0;
      cuda::check(cudaDeviceCanAccessPeer(&may, from, to), "asking whether GPUs reach each other");
      cuda::check(cudaDeviceGetP2PAttribute(&atomics, cudaDevP2PAttrNativeAtomicSupported, from, to),
                  "asking for atomics between GPUs");
      if (may == 0 || atomics == 0)
        waive(fmt::format("GPU {} cannot add to GPU {}'s memory atomically", from, to));
      const cuda::device_scope scope(from);
      cuda::check(cudaDeviceEnablePeerAccess(to, 0), "opening a GPU's memory to another");
    }
}

// The memory and streams of a case. They are never freed: the process ends with the case.
struct gpu_case {
  const blocking_case* asked;
  unsigned participants = 0;
  gpu_progress* places = nullptr;
  std::uint32_t* abort = nullptr;
  gpu_board board{};
  std::vector<flags_of_case> flags{};  // by GPU
  std::vector<cuda::memory> memory{};
  std::vector<cuda::stream> streams{};

  const level_launch& how() const {
    return *std::ranges::find(level_launches, std::string_view(asked->level), &level_launch::level);
  }
  bool whole_gpus() const { return how().participants == 1; }
  bool over_flags() const { return asked->method == "ours"; }
};

void allocate(gpu_case& g) {
  const auto& c = *g.asked;
  g.memory.push_back(cuda::memory::on_host(sizeof(gpu_progress) * g.participants + 128));
  g.places = g.memory.back().as<gpu_progress>();
  g.abort = reinterpret_cast<std::uint32_t*>(g.places + g.participants);
  g.memory.push_back(cuda::memory::on_gpu(c.gpus.front(), sizeof(gpu_counts)));
  g.board = {g.places,
             g.memory.back().as<gpu_counts>(),
             g.participants,
             how_of(c.how),
             c.who == "first"  ? chosen::first
             : c.who == "last" ? chosen::last
                               : chosen::half,
             std::uint64_t{c.bound_ms} * 1'000'000};
  if (!g.over_flags()) return;
  const auto gpus = static_cast<unsigned>(c.gpus.size());
  const std::size_t bytes = std::size_t{algorithm::layout{gpus}.lines()} * algorithm::line_bytes;
  flags_of_case all{};
  all.abort = g.abort;
  all.budget_ns = g.board.bound_ns / 2;
  all.gpus = gpus;
  for (unsigned i = 0; i < gpus; ++i) {
    g.memory.push_back(cuda::memory::on_gpu(c.gpus[i], 2 * bytes));
    all.here[i] = g.memory.back().as<std::uint32_t>();
    all.elsewhere[i] = all.here[i] + bytes / sizeof(std::uint32_t);
  }
  for (unsigned i = 0; i < gpus; ++i) {
    all.gpu = i;
    g.flags.push_back(all);
  }
}

cudaStream_t new_stream(gpu_case& g, int gpu) {
  const cuda::device_scope scope(gpu);
  g.streams.push_back(cuda::make_stream());
  return g.streams.back().get();
}

// Launches a guard on each GPU: one thread, in the same context, whose trap ends a case that hangs there.
// Launched before the case, so that it surely runs.
void launch_guards(gpu_case& g) {
  for (const int gpu : g.asked->gpus) {
    const auto stream = new_stream(g, gpu);
    const cuda::device_scope scope(gpu);
    void* arguments[] = {&g.board};
    cuda::check(cudaLaunchKernel(kernel_of_guard(), dim3(1), dim3(1), arguments, 0, stream),
                "launching the guard");
  }
}

// Launches the case. `kernel` is nullptr for the vendor's barrier, whose kernels are loaded already.
void launch(gpu_case& g, const void* kernel) {
  const auto& c = *g.asked;
  const auto& how = g.how();
  for (const int gpu : c.gpus) {
    const cuda::device_scope scope(gpu);
    if (kernel != nullptr) cuda::load(kernel, "a case");
    if (!how.has_own_guard) cuda::load(kernel_of_guard(), "the guard");
  }
  if (!how.has_own_guard) launch_guards(g);
  std::vector<cudaStream_t> streams;
  for (const int gpu : c.gpus) streams.push_back(new_stream(g, gpu));
  bool whole = g.whole_gpus();
#if MGSYNC_WITH_VENDOR
  if (kernel == nullptr) return launch_vendor(g.board, whole, how.blocks, how.threads, streams);
#endif
  for (unsigned i = 0; i < c.gpus.size(); ++i) {
    const cuda::device_scope scope(c.gpus[i]);
#if MGSYNC_WITH_NCCL_DEVICE
    if (c.method == "nccl-device") {
      launch_nccl(g.board, i, c.form == "predicated", how.threads, streams[i]);
      continue;
    }
#endif
    // Kernels without this project's barrier take the first alone.
    void* arguments[] = {&g.board, g.over_flags() ? &g.flags[i] : nullptr, &whole};
    gpu_team::launch({.kernel = kernel,
                      .blocks = how.blocks,
                      .threads = how.threads,
                      .as = how.as,
                      .cluster = blocks_per_gpu},
                     arguments, streams[i], "launching a case");
  }
}

// Waits until every stream has ended. Returns "itself" or "trap"; "bound" where neither the guard nor the
// kernel ended it in time.
std::string wait_for_the_end(const gpu_case& g) {
  const auto deadline =
      steady::now() + std::chrono::milliseconds(g.asked->bound_ms) + std::chrono::milliseconds(1500);
  bool trapped = false;
  // Any GPU may have trapped. No other CUDA calls are made from here on, since the error of a trap is sticky.
  for (const auto& stream : g.streams) {
    const auto status = gpu_team::end_of(stream.get(), deadline, std::chrono::microseconds(200));
    if (status == cudaErrorNotReady) return "bound";
    trapped = trapped || status != cudaSuccess;
  }
  return trapped ? "trap" : "itself";
}

bool timed_out(const gpu_case& g) {
  return g.over_flags() && *static_cast<volatile std::uint32_t*>(g.abort) == flags_of_case::timed_out;
}

// The stamps, which lie in host memory and can be read after a trap too; and who is named by a time-out.
case_seen seen_at_places(const gpu_case& g) {
  const auto stamp = [](std::uint64_t at) {
    return at == 0 ? std::nullopt : std::optional(static_cast<std::int64_t>(at));
  };
  case_seen seen;
  for (unsigned i = 0; i < g.participants; ++i) {
    const volatile gpu_progress& p = g.places[i];
    seen.participants.push_back({stamp(p.arrived), stamp(p.left), stamp(p.acted)});
    if (timed_out(g) && p.heartbeat == 0) seen.named.push_back(i);
  }
  return seen;
}

const void* kernel_of(const blocking_case& c) {
  const bool predicated = c.form == "predicated";
  if (c.level == "guard") return kernel_that_spins();
  if (c.method == "ours") return kernel_of_flags(predicated);
  if (c.level == "grid") return kernel_of_grid(predicated);
#if MGSYNC_WITH_NCCL_DEVICE
  if (c.method == "nccl-device") return kernel_of_nccl(predicated);
#endif
  return kernel_inside(c.level, c.method, predicated);
}

[[noreturn]] void run_once(const blocking_case& c) {
  const bool vendor = c.method == "vendor";
  if (vendor && !MGSYNC_WITH_VENDOR)
    waive("the vendor's multi-grid barrier needs kernels by an nvcc before 13, and none are built in "
          "(docs/vendor-barrier.md)");
  const void* kernel = vendor ? nullptr : kernel_of(c);
  if (kernel == nullptr && !vendor)
    waive(fmt::format("this build has no case of {} for {}", c.method, c.level));
  gpu_case g{&c};
  g.participants = g.how().participants * static_cast<unsigned>(c.gpus.size());
  if (c.gpus.size() > 1) open_peers(c.gpus);
  if (c.how == absence::nobody)
    for (const int gpu : c.gpus) {
      const cuda::device_scope scope(gpu);
      check_that_it_computes(gpu);
    }
#if MGSYNC_WITH_NCCL_DEVICE
  if (c.method == "nccl-device")
    if (const auto why = prepare_nccl(c.gpus); !why.empty()) waive(why);
#endif
  auto toolkit = toolkit_here(), architecture = vendor ? "" : architecture_of(kernel);
#if MGSYNC_WITH_VENDOR
  if (vendor) {
    if (const auto why = prepare_vendor(c.gpus, c.form == "predicated"); !why.empty()) waive(why);
    toolkit = what_vendor_has().toolkit;
    architecture = what_vendor_has().architecture;
  }
#endif
  say_what_it_ran_with(c, toolkit, architecture);
  allocate(g);
  launch(g, kernel);
  const auto ended = wait_for_the_end(g);
  auto seen = seen_at_places(g);
  seen.ended_by = timed_out(g) ? "time-out" : ended;
  tell(seen);
  end_process();
}

}  // namespace

void run_gpu_case(const blocking_case& c) {
  if (c.gpus.empty()) waive("no GPU was named");
  for (const int gpu : c.gpus) {
    const cuda::device_scope scope(gpu);
    cuda::check(cudaFree(nullptr), fmt::format("starting CUDA on GPU {}", gpu));
  }
  const cuda::device_scope scope(c.gpus.front());
  const int capability = capability_of(c.gpus.front());
  if (c.level == "cluster" && capability < 90) waive("clusters are there from compute capability 9.0 on");
  if (c.method == "redux" && capability < 80) waive("redux is there from compute capability 8.0 on");
  take_turn(c);
  if (c.rounds > 0) run_lane_rounds(c);
  run_once(c);
}

}  // namespace mgsync::blocking
