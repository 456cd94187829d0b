#include "barriers/parts/gpu_team/local_gpus.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "barriers/parts/symmetric_memory/group_memory.hpp"

namespace mgsync::gpu_team {

std::vector<gpu_member> gpus_of(const topology::group& group, int rank) {
  std::vector<gpu_member> mine;
  for (unsigned m = 0; m < group.members.size(); ++m) {
    const auto& member = group.members[m];
    if (member.rank == rank) mine.push_back({m, member.gpu, member.cpus.empty() ? -1 : member.cpus.front()});
  }
  return mine;
}

std::vector<int> cpus_of(const std::vector<gpu_member>& gpus) {
  std::vector<int> cpus;
  for (const auto& g : gpus) cpus.push_back(g.cpu);
  return cpus;
}

unsigned blocks_of(const configuration& shape, const std::vector<gpu_member>& gpus, const session& where) {
  if (shape.blocks) return *shape.blocks;
  int fewest = cuda::sm_count(gpus.front().ordinal);
  for (const auto& g : gpus) fewest = std::min(fewest, cuda::sm_count(g.ordinal));
  fewest = std::ranges::min(where.ranks().all_gather_values(fewest, "comparing the numbers of SMs"));
  return shape.blocks_per_sm.value_or(1) * static_cast<unsigned>(fewest);
}

int runtime_resident_blocks(std::size_t, const void* kernel, unsigned threads) {
  return cuda::resident_blocks(kernel, threads);
}

std::string why_not_resident(const round_kernels& kernels, unsigned blocks, unsigned threads,
                             const std::vector<gpu_member>& gpus, const resident_blocks& fit) {
  if (threads == 0 || threads % 32 != 0 || threads > 1024)
    return fmt::format("blocks of {} threads: mgsync's kernels take whole warps, 32 to 1024 threads",
                       threads);
  for (std::size_t l = 0; l < gpus.size(); ++l) {
    const auto& g = gpus[l];
    const cuda::device_scope scope(g.ordinal);
    for (const void* kernel : {kernels.timed, kernels.checked}) {
      const auto room = static_cast<unsigned>(fit(l, kernel, threads) * cuda::sm_count(g.ordinal));
      if (blocks > room)
        return fmt::format("{} blocks of {} threads are not resident at once on GPU {}: {} fit", blocks,
                           threads, g.ordinal, room);
    }
  }
  return {};
}

std::string why_not_spin(const topology::group& group, const session& where) {
  return first_complaint(where, cuda::reason_not_to_spin(gpus_of(group, where.rank()).size()).value_or(""));
}

}  // namespace mgsync::gpu_team
