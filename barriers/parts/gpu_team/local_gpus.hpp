// The GPUs of a group that a rank runs, and what fits on them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "barriers/backend.hpp"
#include "src/base/cuda.hpp"
#include "src/base/session.hpp"

namespace mgsync::gpu_team {

// The kernels of one barrier, timed and checked, as addresses; both take (device_run, arguments), the checked
// one also the phase before the first. recorded, where there is one, takes the memory for what the blocks
// record instead.
struct round_kernels {
  const void* timed = nullptr;
  const void* checked = nullptr;
  const void* recorded = nullptr;
};

struct gpu_member {
  unsigned member = 0;  // index in the group
  int ordinal = 0;
  int cpu = -1;  // hardware thread of its host thread, -1: not pinned
};

// The GPUs of `group` that `rank` runs.
std::vector<gpu_member> gpus_of(const topology::group&, int rank);

// The hardware threads of their host threads.
std::vector<int> cpus_of(const std::vector<gpu_member>&);

// Blocks per GPU of a shape: the least over all members' GPUs where it is given per SM. Collective over the
// session's ranks.
unsigned blocks_of(const configuration&, const std::vector<gpu_member>&, const session&);

// How many blocks of a kernel fit on an SM of the local-th GPU, which is the current one.
using resident_blocks = std::function<int(std::size_t local, const void* kernel, unsigned threads)>;
int runtime_resident_blocks(std::size_t local, const void* kernel, unsigned threads);

// Why blocks x threads of both kernels cannot all be resident at once on every local GPU; nothing when they
// can.
std::string why_not_resident(const round_kernels&, unsigned blocks, unsigned threads,
                             const std::vector<gpu_member>&, const resident_blocks&);

// Why kernels of this group's GPUs must not wait for each other: some process has several of them, and runs
// their kernels one after the other. Nothing when they may. Collective.
std::string why_not_spin(const topology::group&, const session&);

}  // namespace mgsync::gpu_team
