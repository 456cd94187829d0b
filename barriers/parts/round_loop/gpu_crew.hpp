// The host side of in-kernel barriers: one pinned thread per local GPU launches the kernel of rounds and
// waits for it.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "barriers/backend.hpp"
#include "barriers/parts/round_loop/device_run.hpp"
#include "barriers/parts/round_loop/load_maker.hpp"
#include "barriers/parts/round_loop/local_gpus.hpp"
#include "barriers/parts/round_loop/start_line.hpp"
#include "barriers/parts/symmetric_memory/group_memory.hpp"
#include "src/base/cuda.hpp"
#include "src/base/session.hpp"
#include "src/base/worker_pool.hpp"

namespace mgsync::round_loop {

// Throws api_error unless the last kernel, whose findings are the first in `records`, ran with this shape, so
// that no value is reported for another shape than was asked for.
void must_be_launched_as_asked(const cuda::memory& records, unsigned blocks, unsigned threads,
                               const std::string& what);

// Adds one GPU's device_findings, the first of its `records`, to a checked run.
void add_findings(trial&, const cuda::memory& records, unsigned blocks);

// The memory that the members of an in-kernel barrier share besides its flags.
struct crew_memory {
  std::unique_ptr<group_memory> board;  // what checked runs publish; made for the first of them
  std::unique_ptr<pinned_parts>
      control;  // per member: abort word (only the first member's is used), heartbeat, start
  std::unique_ptr<load_maker> load;  // what makes load beside timed runs; empty: nothing does
};

struct crew_allocation {
  crew_memory memory;
  std::string reason;
};

// All but the board, for a barrier with `blocks` per GPU. Collective over the session's ranks.
crew_allocation allocate_crew_memory(const topology::group&, const load&, unsigned blocks,
                                     std::string_view peer_memory, const session&);

// The board of a barrier with `blocks` per GPU. Throws api_error when it cannot be had. Collective.
std::unique_ptr<group_memory> allocate_board(const topology::group&, unsigned blocks, reach,
                                             std::string_view peer_memory, const session&);

class gpu_crew {
 public:
  struct settings {
    unsigned blocks = 1;
    unsigned threads = 32;
    bool bounded = true;
    std::string what;  // for the watchdog: "multigrid (relay)"
    round_kernels kernels;
    bool preloaded = false;              // the kernels are not symbols of this program, and already loaded
    std::string peer_memory;             // how processes are asked to share GPU memory
    std::vector<const void*> arguments;  // per local member: what the kernels' Pass takes
  };

  gpu_crew(const topology::group&, session&, crew_memory, settings);
  ~gpu_crew();

  // One launch on every local GPU. Collective over the session's ranks.
  trial run(const run_request&);

  // Replaces the cooperative launch that the thread of each GPU makes otherwise.
  using launcher = std::function<void(unsigned local, const void* kernel, unsigned grid, unsigned threads,
                                      void** arguments, cudaStream_t)>;
  void launch_with(launcher how) { launch_ = std::move(how); }

 private:
  struct gpu_state {
    cuda::stream stream;
    cuda::memory records;  // device_findings, then `arrived` of every block, then `sms`
    cuda::memory events;   // block_events of every block; made for the first recorded run
  };

  device_run describe(const run_request&, unsigned local, std::uint64_t budget_ns) const;
  void end_load(unsigned local, std::exception_ptr& failure);
  void launch_and_wait(const run_request&, unsigned local, bool& met, trial&);
  std::uint32_t* arrived(unsigned local) const;
  std::uint32_t* sms(unsigned local) const { return arrived(local) + settings_.blocks; }
  load_seen load_beside(unsigned local) const;
  void collect(trial&, bool checked);
  bool prepare_recording();
  void add_records(trial&, const run_request&) const;
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
  std::vector<gpu_state> states_;
  launcher launch_;
  worker_pool pool_;
  std::uint32_t rounds_done_ = 0;
  std::uint32_t epoch_;
  outcome last_ = outcome::completed;  // after a run that was given up the counters no longer agree
};

}  // namespace mgsync::round_loop
