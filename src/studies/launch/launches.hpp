// Launches as subjects (paper 000, section IV; paper 004): a number of kernels, or of starts of host threads,
// one after the other, each of which waits for a number of units. The study measures what they cost in
// addition to the waiting.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/enum_words.hpp"
#include "src/harness/subject.hpp"

namespace mgsync::launch {

// GPU members. A launch on several GPUs is one launch on each, from one host thread.
enum class gpu_kind {
  traditional,
  cooperative,
  multi_device,        // cuLaunchCooperativeKernelMultiDevice: one call for all GPUs
  graph,               // nodes of a CUDA graph, each depending on the one before
  graph_programmatic,  // the same with programmatic edges
  programmatic,  // programmatic dependent launch: the next kernel starts early and waits for this one inside
  cluster,       // clusters of two blocks
  device_graph   // a graph that launches itself again from the device
};

// How the host waits for the end of a run.
enum class host_policy { synchronize, spin, yield, block };
// For host members: an OpenMP parallel region, or creating and joining a std::thread per member.
enum class host_kind { openmp_region, std_thread };

}  // namespace mgsync::launch

namespace mgsync {
template <>
struct enum_words<launch::gpu_kind> {
  using enum launch::gpu_kind;
  static constexpr std::pair<launch::gpu_kind, std::string_view> list[] = {
      {traditional, "traditional"},
      {cooperative, "cooperative"},
      {multi_device, "multi-device"},
      {graph, "graph"},
      {graph_programmatic, "graph-programmatic"},
      {programmatic, "programmatic"},
      {cluster, "cluster"},
      {device_graph, "device-graph"}};
};
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
  gpu_kind kind = gpu_kind::traditional;
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
