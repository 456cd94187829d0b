// Who else is busy where something is measured: runnable threads, the hypervisor, other processes on the
// GPUs, what holds their clocks down. Seen between timed runs, when the members sleep, and told as doubts
// (docs/method.md, "When a figure means little"). What a machine does not tell is not said.
//
//   bystanders beside(job, {{0, "GPU-8dcb..."}});
//   beside.look(seen, 2);                       // before each timed run
//   for (const doubt& d : doubts_of(seen)) ...
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/communicator.hpp"
#include "src/results/doubt.hpp"
#include "src/results/point.hpp"
#include "topology/sources/gpu_state.hpp"

namespace mgsync {

// CPU time of a machine since it started, of all its hardware threads together, in seconds.
struct cpu_time {
  double used = 0;    // by programs and the kernel
  double stolen = 0;  // wanted, and given to others by the hypervisor
};

// What one GPU did over several looks.
struct gpu_beside {
  std::size_t looks = 0, slowed = 0;     // of these: its clocks were held down
  unsigned long long reasons = 0;        // for that, as NVML has them
  unsigned least_mhz = 0, most_mhz = 0;  // of its SM clock; 0: not told
  std::size_t others = 0;                // processes on it that are not this job's, at most
};

// What was seen beside the timed runs of a point; numbers alone.
struct seen_beside {
  std::size_t looks = 0;
  std::size_t crowded =
      0;  // of these: somebody else was runnable, and there were too few hardware threads for all
  double runnable = 0;                     // on average over these: others, and the members' threads
  int hardware_threads = 0;                // of the machine
  cpu_time spent;                          // from the first look to the last
  std::size_t timed = 0;                   // runs of which it is known what others took from the members
  std::size_t switched = 0;                // of these: more than much_taken from some member
  std::map<std::string, gpu_beside> gpus;  // by UUID
};

// A hundredth of a run, what a figure is to be precise to: less is what a kernel's own threads take, for
// microseconds.
inline constexpr double much_taken = 0.01;

// Pure.
std::vector<doubt> doubts_of(const seen_beside&);

// From the text of /proc/loadavg: threads that are running or want to. From /proc/stat. Nothing where it is
// not told.
std::optional<int> runnable_threads(std::string_view loadavg);
std::optional<cpu_time> cpu_time_of(std::string_view stat, double ticks_per_second);

class bystanders {
 public:
  // Collective over the job. `gpus`: the UUIDs of this process's GPUs by their ids.
  bystanders(const communicator& job, std::map<int, std::string> gpus);

  // The threads that the point's members will run on this host.
  int threads_here(const point&) const;
  // Before a timed run, while the members sleep. Some microseconds; a tenth of a millisecond where it looks
  // crowded.
  void look(seen_beside&, int threads_here) const;
  std::optional<cpu_time> cpu_time_now() const;
  // Some milliseconds; nothing for host members, or without NVML.
  void look_at_gpus(std::map<std::string, gpu_beside>&, const point&);

 private:
  int ranks_ = 1, ranks_here_ = 1;  // of the job: in all, on this host
  bool one_host_ = true;
  std::set<unsigned> processes_here_;  // the job's
  std::map<int, std::string> uuids_;
  std::unique_ptr<topology::gpu_watch> gpus_;  // once a GPU is looked at
};

}  // namespace mgsync
