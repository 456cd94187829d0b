#include "tests/gpu/sync_cost.hpp"

#include <type_traits>

#include <mgsync/multi_grid.cuh>

#include "barriers/parts/algorithm/cuda_policy.hpp"
#include "barriers/parts/algorithm/relay.hpp"
#include "barriers/parts/algorithm/spread_counter.hpp"
#include "barriers/parts/round_loop/device_rounds.hpp"

namespace mgsync::test {

namespace {

using algorithm::cuda_lines;
using algorithm::ptx::scope;

// The price of being safe: what ships, less one thing each. Not for use: the first waits almost for ever, and
// the other lets only the first warp of a block know.
class without_looks : public algorithm::multi_grid_policy_with_word {
 public:
  using multi_grid_policy_with_word::multi_grid_policy_with_word;
  __device__ __forceinline__ unsigned await(word* polled, word target, word) const {
#pragma unroll 1
    for (unsigned polls = 0; polls < 1u << 24; ++polls)
      if (all_reached<algorithm::polling::inbox, 1>([&](unsigned) {
            return algorithm::polled_word<word>{polled, target};
          }))
        return 0;
    return 1;
  }
};
class unheard_word : public algorithm::told_in_word {
 public:
  using told_in_word::told_in_word;
  __device__ __forceinline__ std::uint32_t sync_and_ask(unsigned, std::uint32_t known) const {
    __syncthreads();
    return known;
  }
};
class without_verdict : public algorithm::multi_grid_policy_with_word {
 public:
  using multi_grid_policy_with_word::multi_grid_policy_with_word;
  using verdict = unheard_word;
};

// `Sites` calls of sync() in every turn.
template <unsigned Sites, class Group>
__device__ __forceinline__ void turns_of(Group&& grids, unsigned turns) {
  for (unsigned turn = 0; turn < turns; ++turn) {
    if (!grids.sync()) return;
    if constexpr (Sites > 1)
      if (!grids.sync()) return;
    if constexpr (Sites > 2)
      if (!grids.sync()) return;
  }
}
template <unsigned Sites, class Policy>
__global__ void __launch_bounds__(1024, round_loop::resident_at_most_threads)
    library_turns(multi_grid_handle handle, unsigned turns) {
  if constexpr (std::is_same_v<typename Policy::verdict, algorithm::told_by_barrier>) {
    turns_of<Sites>(multi_grid_group_over<Policy>(handle), turns);
  } else {
    __shared__ std::uint32_t word;
    turns_of<Sites>(multi_grid_group_over<Policy>(handle, word), turns);
  }
}

// What mgsync's own rounds run, over the same flags: the algorithm alone, its addresses kept in registers.
template <template <class> class Algorithm, scope Widest, class Shape>
__device__ __forceinline__ void algorithm_turns(const multi_grid_handle& handle, const Shape& shape,
                                                unsigned turns) {
  static_assert(offsetof(multi_grid_handle, parts) == offsetof(cuda_lines, parts));
  using policy = algorithm::cuda_policy<Widest>;
  Algorithm<policy> barrier(policy({handle.records[0].told, 10'000'000'000}),
                            reinterpret_cast<const cuda_lines&>(handle),
                            algorithm::position{handle.rank, handle.gpus, blockIdx.x, handle.blocks}, shape);
  std::uint32_t epoch = handle.records[blockIdx.x].epoch;
  bool ok = true;
  while (ok && turns-- != 0) ok = barrier.arrive_and_wait(++epoch) != 0;
  if (threadIdx.x == 0) handle.records[blockIdx.x].epoch = epoch;
}
template <class Policy>
using relay_of = algorithm::relay<Policy, const cuda_lines>;
template <class Policy>
using counter_of = algorithm::spread_counter<Policy, const cuda_lines>;

template <scope Widest>
__global__ void __launch_bounds__(1024, round_loop::resident_at_most_threads)
    relay_turns(const __grid_constant__ multi_grid_handle handle, unsigned turns) {
  algorithm_turns<relay_of, Widest>(handle, algorithm::relay_shape{handle.counters, handle.copies}, turns);
}
__global__ void __launch_bounds__(1024, round_loop::resident_at_most_threads)
    counter_turns(const __grid_constant__ multi_grid_handle handle, unsigned turns) {
  algorithm_turns<counter_of, scope::gpu>(
      handle, algorithm::spread_shape{handle.counters, handle.copies, handle.hold}, turns);
}

}  // namespace

turn_kernel library_kernel(unsigned sites) {
  using ships = algorithm::multi_grid_policy_with_word;
  return sites == 1   ? library_turns<1, ships>
         : sites == 2 ? library_turns<2, ships>
                      : library_turns<3, ships>;
}
turn_kernel altered_kernel(alteration what) {
  switch (what) {
  case alteration::without_looks: return library_turns<1, without_looks>;
  case alteration::without_a_word: return library_turns<1, algorithm::multi_grid_policy>;
  case alteration::without_verdict: break;
  }
  return library_turns<1, without_verdict>;
}
turn_kernel algorithm_kernel(const multi_grid_handle& handle) {
  if (handle.algorithm == multi_grid_handle::counter) return counter_turns;
  return handle.gpus == 1 ? relay_turns<scope::gpu> : relay_turns<scope::system>;
}

}  // namespace mgsync::test
