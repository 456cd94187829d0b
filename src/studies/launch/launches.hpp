// Launches as subjects (paper 000, section IV; paper 004): a number of kernels, or of starts of host threads,
// one after the other, each of which waits for a number of units. The study measures what they cost in
// addition to the waiting.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "barriers/parts/gpu_team/launch_as.hpp"
#include "src/base/enum_words.hpp"
#include "src/harness/subject.hpp"
#include "src/studies/launch/kernels.hpp"

namespace mgsync::launch {

struct gpu_launch;
class launched;

// One way of issuing the launches of a run.
class launching {
 public:
  virtual ~launching() = default;
  // Makes what must exist before the clock starts for `count` launches of `what`, which issue() launches
  // next.
  virtual void prepare(std::uint64_t, const waiting&) {}
  virtual void issue(std::uint64_t count, const waiting& what) = 0;
};
using make_launching = std::unique_ptr<launching>(launched&);
make_launching launch_one_by_one, launch_by_one_call, launch_a_graph, launch_from_the_device;

// A kind of launch of GPU members. A launch on several GPUs is one on each, from one host thread.
struct gpu_kind {
  std::string_view name;
  gpu_team::launch_as as = gpu_team::launch_as::plain;
  make_launching* make = gpu_team::only_with<MGSYNC_WITH_CUDA, launch_one_by_one>();
  bool at_once = false;        // all blocks of a kernel must be resident
  bool by_one_call = false;    // needs the driver's call for all GPUs
  bool by_the_device = false;  // only on one GPU; its arguments are given once
};
inline constexpr gpu_kind gpu_kinds[] = {
    {.name = "traditional"},
    {.name = "cooperative", .as = gpu_team::launch_as::cooperative, .at_once = true},
    // cuLaunchCooperativeKernelMultiDevice
    {.name = "multi-device",
     .make = gpu_team::only_with<MGSYNC_WITH_CUDA, launch_by_one_call>(),
     .at_once = true,
     .by_one_call = true},
    // Nodes of a CUDA graph, each depending on the one before; then the same with programmatic edges.
    {.name = "graph", .make = gpu_team::only_with<MGSYNC_WITH_CUDA, launch_a_graph>()},
    {.name = "graph-programmatic",
     .as = gpu_team::launch_as::early,
     .make = gpu_team::only_with<MGSYNC_WITH_CUDA, launch_a_graph>()},
    // The next kernel starts early and waits for this one inside.
    {.name = "programmatic", .as = gpu_team::launch_as::early},
    {.name = "cluster", .as = gpu_team::launch_as::clusters},  // of two blocks
    // A graph that launches itself again.
    {.name = "device-graph",
     .make = gpu_team::only_with<MGSYNC_WITH_CUDA, launch_from_the_device>(),
     .by_the_device = true}};

// How the host waits for the end of a run.
enum class host_policy { synchronize, spin, yield, block };
// For host members: an OpenMP parallel region, or creating and joining a std::thread per member.
enum class host_kind { openmp_region, std_thread };

}  // namespace mgsync::launch

namespace mgsync {
template <>
struct enum_words<launch::host_policy> {
  using enum launch::host_policy;
  static constexpr std::pair<launch::host_policy, std::string_view> list[] = {
      {synchronize, "synchronize"}, {spin, "spin"}, {yield, "yield"}, {block, "block"}};
};
template <>
struct enum_words<launch::host_kind> {
  using enum launch::host_kind;
  static constexpr std::pair<launch::host_kind, std::string_view> list[] = {{openmp_region, "openmp-region"},
                                                                            {std_thread, "std-thread"}};
};
}  // namespace mgsync

namespace mgsync::launch {

struct gpu_launch {
  const gpu_kind* kind = gpu_kinds;
  std::vector<int> gpus = {0};  // CUDA ordinals
  unsigned blocks_per_sm = 1;
  unsigned threads = 32;        // of a block
  unsigned argument_bytes = 0;  // of a kernel that does not wait: 0, 8, 128 or 4096
  host_policy policy = host_policy::synchronize;
};

// A subject, or the reason why there is none.
struct creation {
  std::unique_ptr<mgsync::subject> subject;
  std::string reason;
};

// A run of `count` launches yields, in us by the monotonic clock: "total_us", from before the first launch
// call until the host has seen the last kernel's end; "call_us", until the last launch call has returned; and
// "sync_us", the time of synchronizing when nothing is left to wait for. It also yields "waited_us", the
// waiting by the device's own timer. That is measured in a second run of the same launches, since storing it
// would delay the end of the timed kernels.
creation make_gpu_launches(const gpu_launch&);

// `cpus`: the hardware thread of each member; empty: wherever the system puts them. Yields "total_us",
// "call_us" (equal to it: a host start returns when its members are done) and "waited_us".
creation make_host_launches(host_kind, unsigned members, const std::vector<int>& cpus);

}  // namespace mgsync::launch
