// Who else is busy where something is measured: runnable threads, the hypervisor, other processes on the
// GPUs, what lowers their clocks. Observed between timed runs, when the members sleep, and reported as doubts
// (docs/method.md, "When a value means little"). What a machine does not report is left out.
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

#include "src/base/attached_tool.hpp"
#include "src/base/communicator.hpp"
#include "src/results/values/doubt.hpp"
#include "src/results/values/point.hpp"
#include "topology/sources/gpu_state.hpp"

namespace mgsync {

// CPU time of a machine since it started, of all its hardware threads together, in seconds.
struct cpu_time {
  double used = 0;    // by programs and the kernel
  double stolen = 0;  // the steal time, given to others by the hypervisor
};

// The state of one GPU over several looks.
struct gpu_beside {
  std::size_t looks = 0, slowed = 0;     // all looks, and those at which its clocks were lowered
  unsigned long long reasons = 0;        // why they were lowered, as NVML's bits
  unsigned least_mhz = 0, most_mhz = 0;  // of its SM clock; 0: not told
  std::size_t others = 0;  // the largest number of processes on it that do not belong to this job
};

// What was observed beside the timed runs of a point.
struct seen_beside {
  std::size_t looks = 0;
  std::size_t crowded =
      0;  // looks at which other threads were runnable and there were too few hardware threads for all
  double runnable = 0;                     // runnable threads on average over these, the members' included
  int hardware_threads = 0;                // of the machine
  cpu_time spent;                          // from the first look to the last
  std::size_t timed = 0;                   // runs for which it is known how long the members were preempted
  std::size_t switched = 0;                // runs in which some member was preempted for more than much_taken
  std::map<std::string, gpu_beside> gpus;  // by UUID
  std::string tool{};  // the variable of a sanitizer or profiler that is attached; only of GPU members
};

// A share of a run, equal to the default precision of a value. The kernel's own threads, which run for
// microseconds, take less.
inline constexpr double much_taken = 0.01;

// Pure.
std::vector<doubt> doubts_of(const seen_beside&);

// The number of runnable threads from the text of /proc/loadavg, and the CPU time from that of /proc/stat.
// Nothing where the text does not contain it.
std::optional<int> runnable_threads(std::string_view loadavg);
std::optional<cpu_time> cpu_time_of(std::string_view stat, double ticks_per_second);

class bystanders {
 public:
  // Collective over the job. `gpus`: the UUIDs of this process's GPUs by their ids.
  bystanders(const communicator& job, std::map<int, std::string> gpus);

  // How many threads the point's members run on this host.
  int threads_here(const point&) const;
  // Called before each timed run, while the members sleep. Takes some microseconds; a tenth of a millisecond
  // where too many threads seem to be runnable.
  void look(seen_beside&, int threads_here) const;
  std::optional<cpu_time> cpu_time_now() const;
  // Takes some milliseconds; does nothing for host members, or without NVML.
  void look_at_gpus(std::map<std::string, gpu_beside>&, const point&);
  // The variable of a sanitizer or profiler that is attached; empty: none is, or the members are the host's.
  std::string tool_at(const point&) const;

 private:
  std::optional<attached_tool> tool_ = attached_tool_here();
  int ranks_ = 1, ranks_here_ = 1;  // of the job: all, and those on this host
  bool one_host_ = true;
  std::set<unsigned> processes_here_;  // the job's
  std::map<int, std::string> uuids_;
  std::unique_ptr<topology::gpu_watch> gpus_;  // created at the first look at a GPU
};

}  // namespace mgsync
