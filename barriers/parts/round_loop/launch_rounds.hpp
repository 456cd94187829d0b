// Rounds of barriers that lie between kernels: one launch per GPU and round. The kernel is empty, or works
// for a while, or does its part of the check (docs/method.md, "Is it a barrier?"): it reads what the kernels
// of the round before published, then publishes.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "barriers/parts/round_loop/gpu_rounds.hpp"

namespace mgsync::round_loop {

// The arguments of one launch of the kernel.
struct launch_arguments {
  device_run run;
  std::uint32_t round = 0;
  std::uint32_t first_phase = 0;
  std::uint32_t checked = 0;
  void* pointers[4] = {};  // for a launch; valid as long as this object stays where it is
};
const void* launch_kernel();

// How a checked round's kernel ends. Its end alone orders its stores into other GPUs' memory only where
// whatever follows it does so; otherwise it ends with a system fence.
enum class kernel_end { as_it_is, system_fence };

class launch_rounds final : private gpu_rounds {
 public:
  using gpu_rounds::settings;
  launch_rounds(const topology::group&, session&, settings, kernel_end);

  const std::vector<gpu_team::gpu_member>& gpus() const { return team_.gpus(); }
  unsigned blocks() const { return settings_.blocks; }
  unsigned threads() const { return settings_.threads; }
  cudaStream_t stream(unsigned local) const { return team_.stream(local); }

  // Does a run: clears what the last one found; `drive` issues all rounds, waits for them and stores how long
  // each local GPU took, while the watchdog of `what` looks on; then gathers what a checked run found.
  // Collective over the session's ranks.
  using driver = std::function<void(std::vector<std::chrono::nanoseconds>& elapsed)>;
  trial run(const run_request&, const std::string& what, const driver& drive);

  // To be called by a driver. One launch on local GPU `local`, which is the calling thread's; `cooperative`:
  // as a cooperative launch.
  void launch(unsigned local, std::uint32_t round, bool cooperative) const;
  // The arguments of that round's launch, for a graph or another call. The pointers point into `into`. They
  // are the same for all runs that same_launches() finds alike.
  void fill(launch_arguments& into, unsigned local, std::uint32_t round) const;
  // Tells the watchdog that round `round` has been launched on local GPU `local`.
  void beat(unsigned local, std::uint32_t round);

 private:
  void begin(const run_request&);
  std::vector<progress> progress_now() const;
  trial finish(const run_request&, std::vector<std::chrono::nanoseconds> elapsed);

  kernel_end end_;
  std::vector<std::uint64_t> beats_;
  run_request request_;
};

// Whether a graph of the launches of one run can be replayed for the other.
bool same_launches(const run_request&, const run_request&);

// The board and the rounds, or why they cannot be had.
struct launch_rounds_creation {
  std::unique_ptr<launch_rounds> rounds;
  std::string reason;
};
// Collective over the session's ranks. Members may be on several hosts: a worker's check then reads only what
// members of its own host wrote.
launch_rounds_creation make_launch_rounds(const topology::group&, const configuration&, session&,
                                          kernel_end = kernel_end::as_it_is);

}  // namespace mgsync::round_loop
