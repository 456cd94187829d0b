// The host side of load beside an in-kernel barrier: memory for it, its start before a timed run and its end
// after, and what it really was: the GB/s that it reached while the barrier ran, and whether it ran where it
// was asked to.
#pragma once

#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "barriers/backend.hpp"
#include "barriers/parts/gpu_team/local_gpus.hpp"
#include "barriers/parts/symmetric_memory/group_memory.hpp"
#include "src/base/cuda.hpp"

namespace mgsync::round_loop {

// How many blocks make the load on a GPU of `sms` SMs beside `blocks` of the barrier; or why they cannot.
struct load_blocks {
  unsigned blocks = 0;
  std::string reason;
};
load_blocks blocks_of_load(const load&, unsigned blocks, unsigned sms);

// Why the blocks that make the load do not fit beside `blocks` of the kernel; nothing when they do.
std::string why_no_room_for_load(const load&, const void* kernel, unsigned blocks, unsigned threads,
                                 unsigned members, const std::vector<gpu_team::gpu_member>&,
                                 const gpu_team::resident_blocks&);

class load_maker;

struct load_creation {
  std::unique_ptr<load_maker> maker;
  std::string reason;
};

// For a barrier of `blocks` blocks per GPU, which has room for the load (why_no_room). Collective over the
// session's ranks.
load_creation make_load_maker(const topology::group&, const load&, unsigned blocks,
                              std::string_view peer_memory, const session&);

class load_maker {
 public:
  load_maker(const load&, const std::vector<gpu_team::gpu_member>&, unsigned barrier_blocks,
             std::unique_ptr<group_memory> scratch, unsigned members);
  ~load_maker();

  // Starts it on the calling thread's GPU, the local-th, and returns once it runs and has settled, or at the
  // deadline.
  void start(unsigned local, awake_clock::time_point deadline);
  // Begins to count the traffic; the barrier is launched next.
  void count(unsigned local);
  // Ends the load after the barrier has ended, and waits for it. Also to be called after a failure.
  void stop(unsigned local);
  // The last run's load; `barrier_sms`: the SMs that held blocks of the barrier.
  load_seen seen(unsigned local, std::span<const std::uint32_t> barrier_sms) const;

 private:
  struct gpu_state {
    int ordinal = 0;
    unsigned blocks = 0;
    int shared_bytes = 0;
    std::vector<std::byte*> targets;
    cuda::stream stream, copies;
    cuda::memory device;  // phase, running, a record per block
    cuda::memory host;    // pinned: the words that are copied there, and back; what host reads read
    bool runs = false;
  };
  void tell(gpu_state&, std::uint32_t phase) const;
  int fixed_shared_bytes() const;

  load load_;
  std::unique_ptr<group_memory> scratch_;
  std::vector<gpu_state> states_;
};

}  // namespace mgsync::round_loop
