#include "src/studies/library/sync_forms.hpp"

#include <type_traits>

#include <mgsync/multi_grid.cuh>

#include "barriers/parts/algorithm/cuda_policy.hpp"
#include "barriers/parts/algorithm/relay.hpp"
#include "barriers/parts/algorithm/spread_counter.hpp"
#include "barriers/parts/round_loop/device_rounds.hpp"

namespace mgsync::library {

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

// What a timed barrier has around it.
struct nothing {
  __device__ __forceinline__ explicit nothing(const multi_grid_handle&) {}
  __device__ __forceinline__ void before() const {}
  __device__ __forceinline__ void after() const {}
};

// What a checked barrier has around it. Plain loads and stores: the barrier orders them, or they are wrong.
class checks {
 public:
  __device__ checks(const multi_grid_handle& handle, const check_board& board)
      : board_(board),
        blocks_(handle.blocks),
        workers_(handle.gpus * handle.blocks),
        self_(handle.rank * handle.blocks + blockIdx.x),
        phase_(board.first_phase) {}
  __device__ ~checks() {
    atomicAdd(board_.compared, compared_);
    atomicAdd(board_.compared + 1, wrong_);
  }

  __device__ void before() {
    if (threadIdx.x == 0 && phase_ % workers_ == self_) round_loop::hold_ns(3000);
    if (!late()) publish();
  }
  __device__ void after() {
    if (late()) {
      if (threadIdx.x == 0) round_loop::hold_ns(20000);
      publish();
    }
    constexpr unsigned most = 256;
    const unsigned others = workers_ - 1 < most ? workers_ - 1 : most;
    for (unsigned i = threadIdx.x; i < others; i += blockDim.x) {
      const unsigned other = (self_ + 1 + (phase_ * most + i) % (workers_ - 1)) % workers_;
      ++compared_;
      if (round_loop::plain_load(word_of(other)) != phase_) ++wrong_;
    }
    ++phase_;
  }

 private:
  __device__ bool late() const { return board_.faulty != 0 && self_ == 0; }
  __device__ void publish() const {
    if (threadIdx.x == 0) round_loop::plain_store(word_of(self_), phase_);
  }
  // Two slots, so that the next round's store of a fast block is none of this round's.
  __device__ std::uint32_t* word_of(unsigned worker) const {
    return board_.words[worker / blocks_] + (phase_ & 1) * blocks_ + worker % blocks_;
  }

  const check_board& board_;
  unsigned blocks_, workers_, self_;
  std::uint32_t phase_;
  unsigned long long compared_ = 0, wrong_ = 0;
};

// `Sites` calls of sync() in every turn.
template <unsigned Sites, class Group, class Around>
__device__ __forceinline__ void turns_of(Group&& grids, unsigned turns, Around&& around) {
  const auto pass = [&] {
    around.before();
    const bool passed = grids.sync();
    around.after();
    return passed;
  };
  for (unsigned turn = 0; turn < turns; ++turn) {
    if (!pass()) return;
    if constexpr (Sites > 1)
      if (!pass()) return;
    if constexpr (Sites > 2)
      if (!pass()) return;
  }
}
template <unsigned Sites, class Policy, class Around>
__device__ __forceinline__ void library_turns(const multi_grid_handle& handle, unsigned turns,
                                              Around&& around) {
  if constexpr (std::is_same_v<typename Policy::verdict, algorithm::told_by_barrier>) {
    turns_of<Sites>(multi_grid_group_over<Policy>(handle), turns, around);
  } else {
    __shared__ std::uint32_t word;
    turns_of<Sites>(multi_grid_group_over<Policy>(handle, word), turns, around);
  }
}
template <unsigned Sites, class Policy>
__global__ void __launch_bounds__(1024, round_loop::resident_at_most_threads)
    timed_library(multi_grid_handle handle, unsigned turns) {
  library_turns<Sites, Policy>(handle, turns, nothing(handle));
}
template <unsigned Sites, class Policy>
__global__ void __launch_bounds__(1024, round_loop::resident_at_most_threads)
    checked_library(multi_grid_handle handle, unsigned turns, const __grid_constant__ check_board board) {
  library_turns<Sites, Policy>(handle, turns, checks(handle, board));
}

// What mgsync's own rounds run, over the same flags: the algorithm alone, its addresses kept in registers.
template <template <class> class Algorithm, scope Widest, class Shape, class Around>
__device__ __forceinline__ void algorithm_turns(const multi_grid_handle& handle, const Shape& shape,
                                                unsigned turns, Around&& around) {
  static_assert(offsetof(cuda_lines, parts) == 0);
  using policy = algorithm::cuda_policy<Widest>;
  Algorithm<policy> barrier(policy({handle.records[0].told, 10'000'000'000}),
                            reinterpret_cast<const cuda_lines&>(handle.parts),
                            algorithm::position{handle.rank, handle.gpus, blockIdx.x, handle.blocks}, shape);
  std::uint32_t epoch = handle.records[blockIdx.x].epoch;
  bool ok = true;
  while (ok && turns-- != 0) {
    around.before();
    ok = barrier.arrive_and_wait(++epoch) != 0;
    around.after();
  }
  if (threadIdx.x == 0) handle.records[blockIdx.x].epoch = epoch;
}
template <class Policy>
using relay_of = algorithm::relay<Policy, const cuda_lines>;
template <class Policy>
using counter_of = algorithm::spread_counter<Policy, const cuda_lines>;

__device__ __forceinline__ algorithm::spread_shape spread_shape_of(const multi_grid_handle& handle) {
  return {handle.counters, handle.copies,
          handle.sync_hold + (handle.counters == 1 ? handle.hold_less_at_one_counter : 0)};
}

template <scope Widest>
__global__ void __launch_bounds__(1024, round_loop::resident_at_most_threads)
    timed_relay(const __grid_constant__ multi_grid_handle handle, unsigned turns) {
  algorithm_turns<relay_of, Widest>(handle, algorithm::relay_shape{handle.counters, handle.copies}, turns,
                                    nothing(handle));
}
__global__ void __launch_bounds__(1024, round_loop::resident_at_most_threads)
    timed_counter(const __grid_constant__ multi_grid_handle handle, unsigned turns) {
  algorithm_turns<counter_of, scope::gpu>(handle, spread_shape_of(handle), turns, nothing(handle));
}
template <scope Widest>
__global__ void __launch_bounds__(1024, round_loop::resident_at_most_threads)
    checked_relay(const __grid_constant__ multi_grid_handle handle, unsigned turns,
                  const __grid_constant__ check_board board) {
  algorithm_turns<relay_of, Widest>(handle, algorithm::relay_shape{handle.counters, handle.copies}, turns,
                                    checks(handle, board));
}
__global__ void __launch_bounds__(1024, round_loop::resident_at_most_threads)
    checked_counter(const __grid_constant__ multi_grid_handle handle, unsigned turns,
                    const __grid_constant__ check_board board) {
  algorithm_turns<counter_of, scope::gpu>(handle, spread_shape_of(handle), turns, checks(handle, board));
}

using ships = algorithm::multi_grid_policy_with_word;

}  // namespace

turn_kernel timed_kernel(sync_form form, const multi_grid_handle& handle) {
  switch (form) {
  case sync_form::one: return timed_library<1, ships>;
  case sync_form::two: return timed_library<2, ships>;
  case sync_form::three: return timed_library<3, ships>;
  case sync_form::one_without_looks: return timed_library<1, without_looks>;
  case sync_form::one_without_a_word: return timed_library<1, algorithm::multi_grid_policy>;
  case sync_form::one_without_a_verdict: return timed_library<1, without_verdict>;
  case sync_form::algorithm: break;
  }
  if (handle.algorithm == multi_grid_handle::counter) return timed_counter;
  return handle.gpus == 1 ? timed_relay<scope::gpu> : timed_relay<scope::system>;
}

checked_kernel checking_kernel(sync_form form, const multi_grid_handle& handle) {
  switch (form) {
  case sync_form::one: return checked_library<1, ships>;
  case sync_form::two: return checked_library<2, ships>;
  case sync_form::three: return checked_library<3, ships>;
  case sync_form::one_without_looks: return checked_library<1, without_looks>;
  case sync_form::one_without_a_word: return checked_library<1, algorithm::multi_grid_policy>;
  case sync_form::one_without_a_verdict: return checked_library<1, without_verdict>;
  case sync_form::algorithm: break;
  }
  if (handle.algorithm == multi_grid_handle::counter) return checked_counter;
  return handle.gpus == 1 ? checked_relay<scope::gpu> : checked_relay<scope::system>;
}

}  // namespace mgsync::library
