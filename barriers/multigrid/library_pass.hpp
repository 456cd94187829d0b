// What measures the library's group: the pass of a block by sync<Order>(), and the barrier of any such pass.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

#include "barriers/library/choice.hpp"
#include "barriers/library/include/mgsync/multi_grid.cuh"
#include "barriers/library/include/mgsync/traced.cuh"
#include "barriers/multigrid/gpu_multigrid.hpp"
#include "barriers/parts/round_loop/cuda_passes.hpp"
#include "barriers/parts/round_loop/flag_barrier.hpp"
#include "src/base/cuda.hpp"

namespace mgsync::gpu_multigrid {

// What a user's kernel does: sync<Order>() of the library's group. The blocks' records lie behind the flags.
template <order Order, class Group = multi_grid_group_with_word>
class group_pass {
 public:
  static constexpr bool bounded = true;
  static constexpr bool carries_sum = false;
  static constexpr bool traces = std::is_same_v<Group, multi_grid_group_traced_with_word>;
  using arguments = multi_grid_handle;

  __device__ __forceinline__ group_pass(const arguments& handle, const round_loop::device_run& run)
      : grids_(bound(handle, run), word()) {
    if (threadIdx.x == 0) handle.records[blockIdx.x].watched = run.abort;
  }
  __device__ __forceinline__ bool operator()(std::uint32_t) { return grids_.template sync<Order>(); }

  // Stores the bounds of the waits, which are known only at the launch, in the block's record.
  __device__ __forceinline__ static const arguments& bound(const arguments& handle,
                                                           const round_loop::device_run& run) {
    if (threadIdx.x == 0) {
      multi_grid_block& mine = handle.records[blockIdx.x];
      mine.told = run.abort;
      // The group looks there as it is made, and 4,224 blocks that read a word of the host take 4.5 ms.
      mine.watched = nullptr;
      mine.patience = mine.first_patience = static_cast<std::uint32_t>(run.budget_ns >> 20) + 1;
    }
    return handle;  // the group's constructor has a barrier of those who take part after this
  }

 protected:
  __device__ __forceinline__ static std::uint32_t& word() {
    __shared__ std::uint32_t of_the_block;
    return of_the_block;
  }

  Group grids_;
};

// The memory of a traced group: its trace, a note of each block, and what it tells others of each member.
inline std::size_t words_of_trace(unsigned members, unsigned blocks) {
  return (sizeof(wait_trace) + blocks * sizeof(wait_note) + members * sizeof(late_member)) /
         sizeof(std::uint32_t);
}
inline void put_trace(std::uint32_t* words, const multi_grid_handle& handle) {
  wait_trace trace{};
  auto* const at = reinterpret_cast<wait_trace*>(words);
  trace.notes = reinterpret_cast<wait_note*>(at + 1);
  trace.told = reinterpret_cast<late_member*>(trace.notes + handle.blocks);
  trace.members = handle.gpus;
  constexpr const char* action = "telling a GPU where it notes its waits";
  cuda::check(cudaMemcpy(at, &trace, sizeof trace, cudaMemcpyDefault), action);
  const std::vector<wait_trace*> of_each(handle.blocks, at);
  cuda::check(cudaMemcpy2D(&handle.records->trace, sizeof *handle.records, of_each.data(), sizeof at,
                           sizeof at, handle.blocks, cudaMemcpyDefault),
              action);
}

template <class Pass>
creation make_library(const round_loop::flag_barrier_request& w) {
  const auto choice = choose_multigrid(w.members(), w.blocks, w.sms);
  auto image = image_of(choice, w.blocks);
  const auto records_at = image.size();
  const auto record = fresh_block();
  std::uint32_t words[sizeof record / sizeof(std::uint32_t)];
  std::memcpy(words, &record, sizeof record);
  for (unsigned b = 0; b < w.blocks; ++b) image.insert(image.end(), std::begin(words), std::end(words));
  const auto table_at = image.size();
  const bool needs_table = w.members() > multi_grid_handle::gpus_inside;
  if (needs_table) image.resize(table_at + w.members() * sizeof(std::uint32_t*) / sizeof(std::uint32_t));
  const auto trace_at = image.size();
  if (Pass::traces) image.resize(trace_at + words_of_trace(w.members(), w.blocks));
  std::size_t local = 0;
  return round_loop::make_flag_barrier<Pass>(w, choice.why, image, [&](const algorithm::cuda_lines& lines) {
    const unsigned rank = w.gpus.at(local++).member;
    multi_grid_handle handle = describe(choice, lines.parts, rank, w.members(), w.blocks);
    handle.records = reinterpret_cast<multi_grid_block*>(handle.own + records_at);
    if (needs_table) {
      cuda::check(cudaMemcpy(handle.own + table_at, lines.parts, w.members() * sizeof lines.parts[0],
                             cudaMemcpyDefault),
                  "telling a GPU where all flags are");
      handle.table = reinterpret_cast<std::uint32_t* const*>(handle.own + table_at);
    }
    if (Pass::traces) put_trace(handle.own + trace_at, handle);
    return handle;
  });
}

}  // namespace mgsync::gpu_multigrid
