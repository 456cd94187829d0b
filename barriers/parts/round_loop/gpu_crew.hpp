// The host side of in-kernel barriers: one pinned thread per local GPU launches the kernel of rounds and waits for it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "barriers/backend.hpp"
#include "barriers/parts/round_loop/device_run.hpp"
#include "barriers/parts/round_loop/start_line.hpp"
#include "barriers/parts/symmetric_memory/group_memory.hpp"
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

// The hardware threads of their host threads.
std::vector<int> cpus_of(const std::vector<gpu_member>&);

// Blocks per GPU of a shape: the least over all members' GPUs where it is given per SM. Collective over the session's
// ranks.
unsigned blocks_of(const configuration&, const std::vector<gpu_member>&, const session&);

// How many blocks of a kernel fit on an SM of the local-th GPU, which is the current one.
using resident_blocks = std::function<int(std::size_t local, const void* kernel, unsigned threads)>;
int runtime_resident_blocks(std::size_t local, const void* kernel, unsigned threads);

// Why blocks x threads of both kernels cannot all be resident at once on every local GPU; nothing when they can.
std::string why_not_resident(const round_kernels&, unsigned blocks, unsigned threads, const std::vector<gpu_member>&,
                             const resident_blocks&);

// Why no block of the load kernel fits on every SM beside `blocks` of the kernel; nothing when it does.
std::string why_no_room_for_load(const void* kernel, unsigned blocks, unsigned threads, const std::vector<gpu_member>&,
                                 const resident_blocks&);

// Why kernels of this group's GPUs must not wait for each other; nothing when they may. Collective.
std::string why_not_spin(const topology::group&, const session&);

// Adds one GPU's device_findings, the first of its `records`, to a checked run.
void add_findings(trial&, const cuda::memory& records, unsigned blocks);

// The memory that the members of an in-kernel barrier share besides its flags.
struct crew_memory {
  std::unique_ptr<group_memory> board;    // what checked runs publish; made for the first of them
  std::unique_ptr<pinned_parts> control;  // per member: abort word (the first member's counts), heartbeat, start, load
  std::unique_ptr<group_memory> scratch;  // what loaded runs write to; empty: they do not load
};

struct crew_allocation {
  crew_memory memory;
  std::string reason;
};

// All but the board. Collective over the session's ranks.
crew_allocation allocate_crew_memory(const topology::group&, load, std::string_view peer_memory, const session&);

// The board of a barrier with `blocks` per GPU. Throws api_error when it cannot be had. Collective.
std::unique_ptr<group_memory> allocate_board(const topology::group&, unsigned blocks, reach,
                                             std::string_view peer_memory, const session&);

class gpu_crew {
 public:
  struct settings {
    unsigned blocks = 1;
    unsigned threads = 32;
    bool bounded = true;
    std::string what;                      // for the watchdog: "multigrid (relay)"
    round_kernels kernels;
    bool preloaded = false;                // the kernels are no symbols of this program, and loaded
    std::string peer_memory;               // how processes are asked to share GPU memory
    std::vector<const void*> arguments;    // per local member: what the kernels' Pass takes
  };

  gpu_crew(const topology::group&, session&, crew_memory, settings);
  ~gpu_crew();

  // One launch on every local GPU. Collective over the session's ranks.
  trial run(const run_request&);

  // How kernels are launched, where not by cudaLaunchCooperativeKernel on each GPU by its thread.
  using launcher = std::function<void(unsigned local, const void* kernel, unsigned grid, unsigned threads, void** arguments,
                                      cudaStream_t)>;
  void launch_with(launcher how) { launch_ = std::move(how); }

 private:
  struct place {
    cuda::stream stream;
    cuda::memory records;  // device_findings, then `arrived` of every block
    cuda::stream load_stream;
  };

  device_run describe(const run_request&, unsigned local, std::uint64_t budget_ns) const;
  void launch_and_wait(const run_request&, unsigned local, bool& met, trial&);
  void start_load(const run_request&, unsigned local);
  void stop_load(unsigned local);
  void collect(trial&, bool checked);
  void add_arrivals(trial&);
  void give_up(std::uint32_t why);
  std::vector<progress> progress_now() const;
  std::uint32_t* control(unsigned member, unsigned line) const;
  std::uint32_t* abort_word() const { return control(0, 0); }
  std::uint32_t* heartbeat(unsigned member) const { return control(member, 1); }

  topology::group group_;
  session* session_;
  settings settings_;
  std::vector<gpu_member> gpus_;
  crew_memory memory_;
  start_line start_;
  std::vector<place> places_;
  launcher launch_;
  worker_pool pool_;
  std::uint32_t rounds_done_ = 0;
  std::uint32_t epoch_;
  outcome last_ = outcome::completed;   // after a run that was given up the counters no longer agree
};

}  // namespace mgsync::round_loop
