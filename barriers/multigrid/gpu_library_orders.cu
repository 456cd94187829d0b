// The library's barrier where it orders less than all memory, or each block has an order of its own.
#include "barriers/multigrid/library_pass.hpp"

namespace mgsync::gpu_multigrid {

namespace {

// In which blocks have orders of their own: none releases, one of all the GPUs' blocks in turn, or all.
enum class who_releases { none, one, all };
template <who_releases Who>
class mixed_pass : public group_pass<order::acq_rel> {
 public:
  __device__ __forceinline__ mixed_pass(const arguments& handle, const round_loop::device_run& run)
      : group_pass(handle, run),
        turn_(run.epoch % (run.members * run.blocks)),
        mine_(handle.rank * run.blocks + blockIdx.x),
        workers_(run.members * run.blocks) {}
  __device__ __forceinline__ bool operator()(std::uint32_t) {
    if (Who != who_releases::one)
      return grids_.sync_mixed(Who == who_releases::all ? order::acq_rel : order::acquire);
    turn_ = turn_ + 1 == workers_ ? 0 : turn_ + 1;
    return grids_.sync_mixed(turn_ == mine_ ? order::acq_rel : order::acquire);
  }

 private:
  std::uint32_t turn_, mine_, workers_;
};

// One that orders less than the check needs, between fences of every thread: the check then says whether all
// have come.
template <class Pass>
class fenced_pass : public Pass {
 public:
  using Pass::Pass;
  __device__ __forceinline__ bool operator()(std::uint32_t epoch) {
    __syncthreads();
    algorithm::ptx::fence_acq_rel<algorithm::ptx::scope::system>();
    const bool passed = Pass::operator()(epoch);
    algorithm::ptx::fence_acq_rel<algorithm::ptx::scope::system>();
    return passed;
  }
};
template <class Pass>
struct less_ordered_pass : Pass {
  using Pass::Pass;
  using checked_form = fenced_pass<Pass>;
};

}  // namespace

creation library_none(const topology::group& group, const configuration& wanted, session& where) {
  return make(group, wanted, where, make_library<less_ordered_pass<group_pass<order::none>>>);
}

creation library_acquire(const topology::group& group, const configuration& wanted, session& where) {
  return make(group, wanted, where, make_library<less_ordered_pass<group_pass<order::acquire>>>);
}

creation library_release(const topology::group& group, const configuration& wanted, session& where) {
  return make(group, wanted, where, make_library<less_ordered_pass<group_pass<order::release>>>);
}

creation library_mixed_none(const topology::group& group, const configuration& wanted, session& where) {
  return make(group, wanted, where, make_library<less_ordered_pass<mixed_pass<who_releases::none>>>);
}

creation library_mixed_one(const topology::group& group, const configuration& wanted, session& where) {
  return make(group, wanted, where, make_library<less_ordered_pass<mixed_pass<who_releases::one>>>);
}

creation library_mixed_all(const topology::group& group, const configuration& wanted, session& where) {
  return make(group, wanted, where, make_library<mixed_pass<who_releases::all>>);
}

}  // namespace mgsync::gpu_multigrid
