// The forms of the library's barrier that order all memory.
#include "barriers/multigrid/library_pass.hpp"

namespace mgsync::gpu_multigrid {

namespace {

// That counts who comes last.
struct traced_pass : group_pass<order::acq_rel, multi_grid_group_traced_with_word>,
                     round_loop::takes_registers {
  using group_pass::group_pass;
};

// In two calls, and work between them.
class split_pass : public group_pass<order::acq_rel> {
 public:
  using group_pass::group_pass;
  __device__ __forceinline__ bool operator()(std::uint32_t) {
    return grids_.barrier_wait(grids_.barrier_arrive());
  }
  template <class Work>
  __device__ __forceinline__ bool operator()(std::uint32_t, Work work) {
    const auto token = grids_.barrier_arrive();
    if (threadIdx.x < 32) work();
    return grids_.barrier_wait(token);
  }
};
// That carries a value of every thread, whose sum is known in every round.
class reduce_pass : public group_pass<order::acq_rel>, public round_loop::takes_registers {
 public:
  static constexpr bool carries_sum = true;

  __device__ __forceinline__ reduce_pass(const arguments& handle, const round_loop::device_run& run)
      : group_pass(handle, run), first_(handle.rank * run.blocks + blockIdx.x), run_(run) {}
  __device__ __forceinline__ bool operator()(std::uint32_t epoch) {
    const auto found = grids_.sync_reduce(first_ + 3 * epoch, by_sum{});
    total_ = found.value;
    return found.passed;
  }
  __device__ bool wrong_sum(std::uint32_t epoch, std::uint32_t& expected, std::uint32_t& seen) const {
    const std::uint32_t workers = run_.members * run_.blocks;
    const auto of_workers = static_cast<std::uint32_t>(std::uint64_t{workers} * (workers - 1) / 2);
    expected = blockDim.x * (of_workers + 3 * epoch * workers);
    seen = total_;
    return seen != expected;
  }

 private:
  std::uint32_t first_, total_ = 0;
  const round_loop::device_run& run_;
};
// By one warp of each block. The others, if there are any, wait for it at the block's barrier; the second
// warp does the work before it waits there.
class one_warp_pass {
 public:
  static constexpr bool bounded = true;
  static constexpr bool carries_sum = false;
  static constexpr bool traces = false;
  using arguments = multi_grid_handle;

  __device__ __forceinline__ one_warp_pass(const arguments& handle, const round_loop::device_run& run) {
    if (threadIdx.x < 32) new (&grids_) group(group_pass<order::acq_rel>::bound(handle, run));
    if (threadIdx.x == 0) handle.records[blockIdx.x].watched = run.abort;
  }
  one_warp_pass(const one_warp_pass&) = delete;
  one_warp_pass& operator=(const one_warp_pass&) = delete;
  __device__ __forceinline__ ~one_warp_pass() {
    if (threadIdx.x < 32) grids_.~group();
  }
  __device__ __forceinline__ bool operator()(std::uint32_t epoch) {
    return operator()(epoch, [] {});
  }
  template <class Work>
  __device__ __forceinline__ bool operator()(std::uint32_t, Work work) {
    if (blockDim.x == 32) {
      work();
      return grids_.sync();
    }
    __syncthreads();
    if (threadIdx.x / 32 == 1) work();
    const bool passed = threadIdx.x >= 32 || grids_.sync();
    return __syncthreads_and(passed) != 0;
  }

 private:
  using group = multi_grid_group_of<one_warp>;
  union {
    group grids_;  // in the first warp only
  };
};

}  // namespace

creation library(const topology::group& group, const configuration& wanted, session& where) {
  return make(group, wanted, where, make_library<group_pass<order::acq_rel>>);
}

creation library_split(const topology::group& group, const configuration& wanted, session& where) {
  return make(group, wanted, where, make_library<split_pass>);
}

creation library_traced(const topology::group& group, const configuration& wanted, session& where) {
  return make(group, wanted, where, make_library<traced_pass>);
}

creation library_one_warp(const topology::group& group, const configuration& wanted, session& where) {
  return make(group, wanted, where, make_library<one_warp_pass>);
}

creation library_reduce(const topology::group& group, const configuration& wanted, session& where) {
  return make(group, wanted, where, make_library<reduce_pass>);
}

}  // namespace mgsync::gpu_multigrid
