// The host side of in-kernel barriers: one pinned thread per local GPU launches the kernel of rounds and waits for it.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "barriers/backend.hpp"
#include "barriers/round_loop/device_run.hpp"
#include "barriers/symmetric_memory/symmetric_memory.hpp"
#include "src/base/cuda.hpp"
#include "src/base/session.hpp"
#include "src/base/worker_pool.hpp"

namespace mgsync::round_loop {

// The kernels of one barrier, timed and checked, as addresses; both take (device_run, arguments), the checked one also
// the phase before the first.
struct round_kernels {
  const void* timed = nullptr;
  const void* checked = nullptr;
};

struct gpu_member {
  unsigned member = 0;  // index in the group
  int ordinal = 0;
  int cpu = -1;         // hardware thread of its host thread, -1: not pinned
};

// The GPUs of `group` that `rank` runs.
std::vector<gpu_member> gpus_of(const topology::group&, int rank);

// Blocks per GPU of a shape: the least over the given GPUs where it is given per SM.
unsigned blocks_of(const configuration&, const std::vector<gpu_member>&);

// Why blocks x threads of both kernels cannot all be resident at once on every local GPU; nothing when they can.
std::string why_not_resident(const round_kernels&, unsigned blocks, unsigned threads, const std::vector<gpu_member>&);

// How many blocks that make load fit beside `blocks` of the kernel on every given GPU: at most one per SM.
unsigned room_for_load(const void* kernel, unsigned blocks, unsigned threads, const std::vector<gpu_member>&);

// Adds one GPU's device_findings, the first of its `records`, to a checked run.
void add_findings(trial&, const cuda::memory& records, unsigned blocks);

class gpu_crew {
 public:
  struct settings {
    unsigned blocks = 1;
    unsigned threads = 32;
    bool bounded = true;
    std::string what;                      // for the watchdog: "multigrid (relay)"
    round_kernels kernels;
    mgsync::load load = mgsync::load::idle;
    bool preloaded = false;                // the kernels are no symbols of this program, and loaded
    std::vector<const void*> arguments;    // per local member: what the kernels' Pass takes
  };

  // `board`: device_board::bytes(blocks) per member, addressable by every local GPU.
  gpu_crew(const topology::group&, session&, std::unique_ptr<symmetric_memory> board, settings);
  ~gpu_crew();

  // One launch on every local GPU. Collective over the session's ranks.
  trial run(const run_request&);

  // How kernels are launched, where not by cudaLaunchCooperativeKernel on each GPU by its thread.
  using launcher = std::function<void(unsigned local, const void* kernel, unsigned grid, unsigned threads, void** arguments,
                                      cudaStream_t)>;
  void launch_with(launcher how) { launch_ = std::move(how); }

  const std::vector<gpu_member>& gpus() const { return gpus_; }
  worker_pool& threads() { return pool_; }
  cudaStream_t stream(unsigned local) const { return places_[local].stream.get(); }
  std::uint32_t* abort_word() const { return control_.as<std::uint32_t>(); }

 private:
  struct place {
    cuda::stream stream;
    cuda::memory records;  // device_findings, then `arrived` of every block
    cuda::memory scratch;  // loaded runs
  };

  device_run describe(const run_request&, unsigned local, std::uint64_t budget_ns) const;
  void launch_and_wait(const run_request&, unsigned local, std::atomic<unsigned>& ready, trial&);
  void collect(trial&, bool checked);
  void name_missing(trial&);
  std::vector<progress> progress_now() const;
  unsigned load_blocks() const;
  std::uint32_t* heartbeat(unsigned local) const { return control_.as<std::uint32_t>() + 32 * (local + 1); }

  topology::group group_;
  session* session_;
  settings settings_;
  std::vector<gpu_member> gpus_;
  std::unique_ptr<symmetric_memory> board_;
  cuda::memory control_;  // host: the abort word, then a heartbeat per local member
  std::vector<place> places_;
  launcher launch_;
  worker_pool pool_;
  std::uint32_t rounds_done_ = 0;
  std::uint32_t epoch_;
  bool broken_ = false;   // a run was given up: the counters no longer agree
};

}  // namespace mgsync::round_loop
