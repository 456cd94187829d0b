#include "tests/gpu/virtual_kernels.hpp"

#include <type_traits>

#include <mgsync/many_gpus.cuh>
#include <mgsync/traced.cuh>

namespace mgsync::test {

namespace {

// `Blocks` blocks of the grid in a row are one GPU's.
template <unsigned Blocks>
struct slice {
  __device__ __forceinline__ static unsigned block() { return blockIdx.x % Blocks; }
  __device__ __forceinline__ static unsigned blocks() { return Blocks; }
  __device__ __forceinline__ static unsigned gpu() { return blockIdx.x / Blocks; }
};

template <class Slice>
using traced_slice = algorithm::traced_policy<algorithm::multi_grid_policy_at<Slice>>;

// Notes when a block speaks for its GPU: the fences and counters on the way there, which take as long as a
// round and not equally long on all SMs, are behind it then, and all that follows is what other GPUs see.
template <class Base>
class told_time_policy : public Base {
 public:
  using word = std::uint32_t;
  using Base::Base;

  // Where the GPU's times of all rounds go, each `step` further: set once by the block's threads.
  struct place {
    std::uint64_t* first;
    unsigned step;
  };
  __device__ __forceinline__ static place& times() {
    __shared__ place its;
    return its;
  }

  // The time is read ahead of the store and written behind it, so that the store is not held up.
  __device__ __forceinline__ void store_fenced_system(word& w, word epoch) const {
    const std::uint64_t now = algorithm::ptx::global_time_ns();
    Base::store_fenced_system(w, epoch);
    if (this->is_first_lane()) times().first[(epoch - algorithm::first_gpu_epoch - 1) * times().step] = now;
  }
};

__global__ void late_rounds(const multi_grid_handle* handles, const late_plan* plan, unsigned rounds,
                            std::uint64_t* came, std::uint64_t* told) {
  using here = slice<blocks_of_late_rounds>;
  using policy = told_time_policy<traced_slice<here>>;
  if (threadIdx.x == 0) policy::times() = {told + here::gpu(), gridDim.x / here::blocks()};
  multi_grid_group_over<policy> grids(handles[here::gpu()]);
  for (unsigned round = 0; round < rounds; ++round) {
    const late_plan& late = plan[round];
    if (late.gpu == here::gpu() && late.block == here::block()) {
      if (late.never != 0) return;
      const std::uint64_t begin = algorithm::ptx::global_time_ns();
      while (algorithm::ptx::global_time_ns() - begin < late.ns) {}
    }
    __syncthreads();
    if (threadIdx.x == 0) came[round * gridDim.x + blockIdx.x] = algorithm::ptx::global_time_ns();
    if (!grids.sync()) return;
  }
}

template <unsigned Blocks, bool Traced>
__global__ void bare_rounds(const multi_grid_handle* handles, unsigned rounds) {
  using here = slice<Blocks>;
  using policy = std::conditional_t<Traced, traced_slice<here>, algorithm::multi_grid_policy_at<here>>;
  multi_grid_group_over<policy> grids(handles[here::gpu()]);
  for (unsigned round = 0; round < rounds; ++round)
    if (!grids.sync()) return;
}

__global__ void traced_rounds(const __grid_constant__ multi_grid_handle handle, unsigned block,
                              unsigned rounds) {
  auto grids = this_traced_multi_grid(handle);
  for (unsigned round = 1; round <= rounds; ++round)
    if ((round == rounds && blockIdx.x == block) || !grids.sync()) return;
}

template <unsigned Blocks>
__global__ void carried_rounds(const multi_grid_handle* handles, unsigned first, unsigned rounds,
                               unsigned* words, carried_findings* found) {
  using here = slice<Blocks>;
  multi_grid_group_over<algorithm::multi_grid_policy_at<here>> grids(handles[here::gpu()]);
  const auto all = static_cast<unsigned>(grids.size()), self = static_cast<unsigned>(grids.thread_rank());
  const unsigned workers = gridDim.x;
  for (unsigned round = first; round != first + rounds; ++round) {
    if (threadIdx.x == blockDim.x - 1) words[blockIdx.x] = round;
    const auto sum = grids.sync_reduce(std::uint64_t{self} * round, by_sum{});
    bool passed = sum.passed;
    if (passed && sum.value != std::uint64_t{all} * (all - 1) / 2 * round) atomicAdd(&found->wrong_sums, 1u);
    const unsigned other = (blockIdx.x * 7 + round + threadIdx.x) % workers;
    const unsigned seen = words[other];  // of this round, or of the next
    if (passed && seen != round && seen != round + 1) atomicAdd(&found->wrong_words, 1u);
    if (passed && round % 3 == 0) {
      const auto rounded = grids.sync_reduce(1.0f / static_cast<float>(self + round), by_sum{});
      const auto bits = __float_as_uint(rounded.value);
      const auto least = grids.sync_reduce(bits, by_min{}), most = grids.sync_reduce(bits, by_max{});
      passed = rounded.passed && least.passed && most.passed;
      if (passed && (least.value != bits || most.value != bits)) atomicAdd(&found->wrong_bits, 1u);
    }
    if (passed && round % 4 == 0) passed = grids.sync();
    if (!passed) {
      if (threadIdx.x == 0) atomicAdd(&found->given_up, 1u);
      return;
    }
    if (threadIdx.x == 0) atomicAdd(&found->passed, 1u);
  }
}

__global__ void team_rounds(const three_teams teams, const unsigned* steps, unsigned count,
                            const unsigned* known, unsigned* words, unsigned* found) {
  using here = slice<blocks_of_team_rounds>;
  using group = multi_grid_group_over<algorithm::multi_grid_policy_at<here>>;
  const unsigned gpus = gridDim.x / blocks_of_team_rounds;
  group one(teams.of[0][here::gpu()]), two(teams.of[1][here::gpu()]), three(teams.of[2][here::gpu()]);
  for (unsigned s = 0; s < count; ++s) {
    if (teams.of[steps[s]][here::gpu()].gpus == 0) continue;
    if (threadIdx.x == blockDim.x - 1) words[blockIdx.x * count + s] = s + 1;
    const bool passed = steps[s] == 0 ? one.sync() : steps[s] == 1 ? two.sync() : three.sync();
    if (!passed) {
      if (threadIdx.x == 0) atomicAdd(found + 1, 1u);
      return;
    }
    for (unsigned b = threadIdx.x; b < gridDim.x; b += blockDim.x) {
      const unsigned last = known[(s * gpus + here::gpu()) * gpus + b / blocks_of_team_rounds];
      if (last != ~0u && words[b * count + last] != last + 1) atomicAdd(found, 1u);
    }
  }
}

__global__ void team_of_group_rounds(const __grid_constant__ multi_grid_handle handle,
                                     const __grid_constant__ multi_grid_handle some, unsigned rounds,
                                     unsigned* passed) {
  auto grids = this_multi_grid(handle);
  auto team = this_multi_grid(some);
  for (unsigned round = 0; round < rounds; ++round) {
    if (!grids.sync()) return;
    if (some.gpus == 0) continue;
    if (!team.sync()) return;
    atomicAdd(passed, 1u);
  }
}

// A GPU meets the one before it, then the one behind it, then all. Each block looks at what another block of
// these wrote in this round, which nobody writes again ahead of the barrier of all.
__global__ void pairs_of_group_rounds(const __grid_constant__ multi_grid_handle handle,
                                      const __grid_constant__ multi_grid_handle with_before,
                                      const __grid_constant__ multi_grid_handle with_behind, unsigned rounds,
                                      unsigned* mine, const unsigned* before, const unsigned* behind,
                                      unsigned* findings) {
  auto grids = this_multi_grid(handle);
  auto first = this_multi_grid(with_before);
  auto second = this_multi_grid(with_behind);
  const unsigned other = (blockIdx.x + 5) % gridDim.x;
  for (unsigned round = 1; round <= rounds; ++round) {
    if (threadIdx.x == 0) mine[blockIdx.x] = round;
    if (with_before.gpus != 0) {
      if (!first.sync()) return;
      if (before[other] != round) atomicAdd(&findings[1], 1u);
    }
    if (with_behind.gpus != 0) {
      if (!second.sync()) return;
      if (behind[other] != round) atomicAdd(&findings[1], 1u);
    }
    if (!grids.sync()) return;
    atomicAdd(&findings[0], 1u);
  }
}

template <class Group>
__device__ bool pass(Group& grids, many_way how) {
  if (how == many_way::less)
    return grids.template sync<order::none>() && grids.template sync<order::acquire>() && grids.sync();
  if (how == many_way::unlike)
    return grids.sync_mixed(blockIdx.x % 3 == 0 ? order::acq_rel : order::none) &&
           grids.sync_mixed(order::acq_rel);
  if (how == many_way::whole) return grids.sync();
  auto token = grids.barrier_arrive();
  for (;;) {
    const waited now = grids.barrier_try_wait(token);
    if (now != waited::pending) return now == waited::passed;
  }
}

// Every block publishes the round in its word, passes, and reads all.
template <unsigned Blocks, bool OfMany>
__global__ void many_rounds(const multi_grid_handle* handles, many_way how, unsigned first, unsigned rounds,
                            unsigned* words, unsigned* found) {
  using here = slice<Blocks>;
  using few = algorithm::multi_grid_policy_at<here>;
  multi_grid_group_over<std::conditional_t<OfMany, algorithm::many_gpus_policy<few>, few>> grids(
      handles[here::gpu()]);
  if (!grids.is_valid() && threadIdx.x == 0) atomicAdd(found + 2, 1u);
  for (unsigned round = first; round != first + rounds; ++round) {
    unsigned* const slot = words + round % 2 * gridDim.x;
    if (threadIdx.x == blockDim.x - 1) slot[blockIdx.x] = round;
    if (!pass(grids, how)) {
      if (threadIdx.x == 0) atomicAdd(found + 1, 1u);
      return;
    }
    for (unsigned b = threadIdx.x; b < gridDim.x; b += blockDim.x)
      if (slot[b] != round) atomicAdd(found, 1u);
  }
}

}  // namespace

many_kernel many_rounds_kernel(unsigned blocks, bool of_many) {
  if (blocks == 1) return of_many ? many_rounds<1, true> : many_rounds<1, false>;
  return of_many ? many_rounds<4, true> : many_rounds<4, false>;
}
team_kernel team_rounds_kernel() { return team_rounds; }
team_of_group_kernel team_of_group_rounds_kernel() { return team_of_group_rounds; }
pairs_kernel pairs_of_group_rounds_kernel() { return pairs_of_group_rounds; }
bare_kernel bare_rounds_kernel(unsigned blocks, bool traced) {
  if (blocks == 1) return traced ? bare_rounds<1, true> : bare_rounds<1, false>;
  if (blocks == 8) return traced ? bare_rounds<8, true> : bare_rounds<8, false>;
  return traced ? bare_rounds<64, true> : bare_rounds<64, false>;
}
carried_kernel carried_rounds_kernel(unsigned blocks) {
  switch (blocks) {
  case 1: return carried_rounds<1>;
  case 8: return carried_rounds<8>;
  case 64: return carried_rounds<64>;
  default: return carried_rounds<352>;
  }
}
traced_kernel traced_rounds_kernel() { return traced_rounds; }
late_kernel late_rounds_kernel() { return late_rounds; }

}  // namespace mgsync::test
