// Rounds of barriers that lie between kernels: one launch per GPU and round. The kernel is empty, or works
// for a while, or does its part of the check (docs/method.md, "Is it a barrier?"): it reads what the kernels
// of the round before published, then publishes.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "barriers/backend.hpp"
#include "barriers/parts/round_loop/gpu_crew.hpp"

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

class launch_rounds {
 public:
  launch_rounds(const topology::group&, session&, std::string peer_memory, unsigned blocks, unsigned threads,
                kernel_end);

  const std::vector<gpu_member>& gpus() const { return gpus_; }
  unsigned blocks() const { return blocks_; }
  unsigned threads() const { return threads_; }
  cudaStream_t stream(unsigned local) const { return states_[local].stream.get(); }

  // Before the first launch of a run: clears what the last one found. Collective over the session's ranks.
  void begin(const run_request&);
  // One launch on local GPU `local`, which is the calling thread's; `cooperative`: as a cooperative launch.
  void launch(unsigned local, std::uint32_t round, bool cooperative) const;
  // The arguments of that round's launch, for a graph or another call. The pointers point into `into`. They
  // are the same for all runs that same_launches() finds alike.
  void fill(launch_arguments& into, unsigned local, std::uint32_t round) const;
  // Tells the watchdog that round `round` has been launched on local GPU `local`.
  void beat(unsigned local, std::uint32_t round);
  std::vector<progress> progress_now() const;

  // The result of a run whose launches have all finished, with what a checked run found. `elapsed`: per local
  // GPU.
  trial finish(const run_request&, std::vector<std::chrono::nanoseconds> elapsed);

 private:
  struct gpu_state {
    cuda::stream stream;
    cuda::memory records;  // device_findings, then the rounds before this run
  };
  std::uint32_t* rounds_before(unsigned local) const;

  topology::group group_;
  std::vector<gpu_member> gpus_;
  session& session_;
  std::string peer_memory_;
  std::unique_ptr<group_memory> board_;  // made for the first checked run
  unsigned blocks_;
  unsigned threads_;
  kernel_end end_;
  std::vector<gpu_state> states_;
  std::vector<std::uint64_t> beats_;
  run_request request_;
  std::uint32_t rounds_done_ = 0;
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
