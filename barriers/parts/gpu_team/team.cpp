#include "barriers/parts/gpu_team/team.hpp"

#include <fmt/format.h>

namespace mgsync::gpu_team {

team::team(const topology::group& group, int rank, std::size_t scratch_bytes) : gpus_(gpus_of(group, rank)) {
  for (const auto& g : gpus_) {
    const cuda::device_scope scope(g.ordinal);
    lanes_.push_back({cuda::make_stream(), cuda::memory::in_pool(g.ordinal, scratch_bytes)});
  }
}

void team::select(unsigned local) const {
  cuda::check(cudaSetDevice(gpus_[local].ordinal), fmt::format("selecting GPU {}", gpus_[local].ordinal));
}

progress team::progress_of(const topology::group& group, unsigned member, std::uint64_t count) {
  const auto& m = group.members[member];
  return {fmt::format("GPU {} (rank {} on {})", m.id, m.rank, m.host), count};
}

}  // namespace mgsync::gpu_team
