#include "barriers/parts/round_loop/kernel_barrier.hpp"

#include "barriers/parts/round_loop/device_run.hpp"
#include "barriers/parts/round_loop/load_maker.hpp"

namespace mgsync::round_loop {

group_allocation allocate_flags(const topology::group& group, const flag_image& image,
                                std::string_view peer_memory, const session& where) {
  const std::size_t bytes = image.size() * sizeof(std::uint32_t);
  auto made = allocate_group_memory(group, bytes, reach::group, peer_memory, where);
  if (!made.memory) return made;
  const auto gpus = gpu_team::gpus_of(group, where.rank());
  for (unsigned l = 0; l < gpus.size(); ++l) {
    const cuda::device_scope scope(gpus[l].ordinal);
    cuda::check(cudaMemcpy(made.memory->part(gpus[l].member, l), image.data(), bytes, cudaMemcpyHostToDevice),
                "setting the flags of a barrier");
    cuda::check(cudaDeviceSynchronize(), "setting the flags of a barrier");
  }
  where.ranks().barrier("setting the flags of a barrier");
  return made;
}

flag_barrier_request request_of(const topology::group& group, const configuration& asked, session& where,
                                std::string backend) {
  auto gpus = gpu_team::gpus_of(group, where.rank());
  const unsigned one_per_sm = gpu_team::blocks_of({}, gpus, where);
  const unsigned blocks = asked.blocks ? *asked.blocks : asked.blocks_per_sm.value_or(1) * one_per_sm;
  return {group,      where,      std::move(backend), blocks,         asked.threads_per_block.value_or(32),
          one_per_sm, asked.load, asked.peer_memory,  std::move(gpus)};
}

std::string why_no_room(const flag_barrier_request& w, const gpu_team::round_kernels& kernels,
                        const gpu_team::resident_blocks& fit) {
  auto mine = gpu_team::why_not_resident(kernels, w.blocks, w.threads, w.gpus, fit);
  if (mine.empty() && !w.load.idle())
    mine = why_no_room_for_load(w.load, kernels.timed, w.blocks, w.threads, w.members(), w.gpus, fit);
  return first_complaint(w.where, mine);
}

}  // namespace mgsync::round_loop
