#include <algorithm>

#include "barriers/library/multi_grid_state.hpp"

namespace mgsync {

namespace {

using algorithm::first_gpu_epoch;

const library::wait_traces& traces_of(const library::barrier_flags& flags, unsigned blocks) {
  if (!flags.has(blocks) || !flags.of(blocks).traces)
    throw usage_error(filled(
        "no trace of kernels with {} blocks: it takes group_options::trace, and a launch, prepare() or "
        "resize() with that number",
        blocks));
  return *flags.of(blocks).traces;
}

}  // namespace

std::vector<grid_lateness> multi_grid::lateness(unsigned blocks_per_gpu) const {
  const cuda::outside_of_captures apart;
  const auto& traces = traces_of(state_->flags, blocks_per_gpu);
  std::vector<grid_lateness> all(gpus());
  for (unsigned l = 0; l < local_gpus(); ++l) {
    const wait_trace seen = traces.counted(l);
    for (unsigned m = 0; m < gpus(); ++m) {
      auto& sum = all[m];
      sum.grid_rank = m;
      sum.times += seen.late[m].times;
      sum.by_power.resize(late_member::most_bits);
      for (unsigned k = 0; k < late_member::most_bits; ++k) sum.by_power[k] += seen.late[m].by[k];
      const std::chrono::nanoseconds worst(seen.late[m].worst_ns);
      if (seen.late[m].times == 0 || worst < sum.worst) continue;
      sum.worst = worst;
      sum.worst_round = seen.late[m].worst_epoch - first_gpu_epoch;
    }
  }
  return all;
}

std::vector<late_barrier> multi_grid::last_rounds(unsigned blocks_per_gpu, unsigned local) const {
  const cuda::outside_of_captures apart;
  const wait_trace seen = traces_of(state_->flags, blocks_per_gpu).counted(state_->known(local));
  std::vector<late_barrier> rounds;
  for (unsigned i = seen.rounds - std::min(seen.rounds, wait_trace::most_rounds); i != seen.rounds; ++i) {
    const late_round& r = seen.last[i % wait_trace::most_rounds];
    rounds.push_back({r.epoch - first_gpu_epoch, {}, std::chrono::nanoseconds(r.ns)});
    for (unsigned m = 0; m < gpus(); ++m)
      if ((r.members >> m & 1) != 0) rounds.back().grid_ranks.push_back(m);
  }
  return rounds;
}

}  // namespace mgsync
