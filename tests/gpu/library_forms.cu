// Kernels of nothing but a form of the library's barrier each: what docs/library_forms.py asks the compiler
// of. A kernel is called as its form is, with _ for all that is no letter or digit.
#include <mgsync/many_gpus.cuh>
#include <mgsync/traced.cuh>

using namespace mgsync;

// In a loop, so that what a group keeps between rounds counts.
template <class Pass>
__device__ __forceinline__ void in_rounds(unsigned rounds, Pass pass) {
  for (unsigned round = 0; round < rounds; ++round)
    if (!pass(round)) return;
}
#define MGSYNC_FORM(NAME, MAKE, PASS)                                                                        \
  extern "C" __global__ void NAME(const __grid_constant__ multi_grid_handle handle, unsigned rounds,         \
                                  unsigned* data) {                                                          \
    auto grids = MAKE;                                                                                       \
    in_rounds(rounds, [&]([[maybe_unused]] unsigned round) -> bool { PASS; });                               \
  }
#define MGSYNC_CALL(NAME, CALL) MGSYNC_FORM(NAME, this_multi_grid(handle), return grids.CALL)

MGSYNC_CALL(sync, sync())
MGSYNC_FORM(sync_twice, this_multi_grid(handle), return grids.sync() && grids.sync())
MGSYNC_FORM(sync_three_times, this_multi_grid(handle), return grids.sync() && grids.sync() && grids.sync())
MGSYNC_CALL(sync_none, sync<order::none>())
MGSYNC_CALL(sync_acquire, sync<order::acquire>())
MGSYNC_CALL(sync_release, sync<order::release>())
MGSYNC_FORM(sync_async, this_multi_grid(handle), return (grids.sync<order::acq_rel, proxy::async>()))
MGSYNC_CALL(sync_mixed, sync_mixed(round % 2 == 0 ? order::acq_rel : order::none))
MGSYNC_CALL(arrive_and_wait, barrier_wait(grids.barrier_arrive()))
MGSYNC_FORM(arrive_and_look, this_multi_grid(handle), {
  auto token = grids.barrier_arrive();
  for (;;) {
    const waited now = grids.barrier_try_wait(token);
    if (now != waited::pending) return now == waited::passed;
  }
})
MGSYNC_FORM(sync_ballot, this_multi_grid(handle), {
  const auto all = grids.sync_ballot(round % 3 == 0);
  *data = static_cast<unsigned>(all.value);
  return all.passed;
})
template <class T, class Group>
__device__ __forceinline__ bool reduce(Group& grids, unsigned round, unsigned* data) {
  const auto sum = grids.sync_reduce(static_cast<T>(round), by_sum{});
  *reinterpret_cast<T*>(data) = sum.value;
  return sum.passed;
}
MGSYNC_FORM(sync_reduce_32, this_multi_grid(handle), return reduce<std::uint32_t>(grids, round, data))
MGSYNC_FORM(sync_reduce_64, this_multi_grid(handle), return reduce<std::uint64_t>(grids, round, data))
MGSYNC_FORM(one_warp_sync, this_multi_grid(handle, one_warp{}), return grids.sync())
MGSYNC_FORM(some_warps_sync, (this_multi_grid(handle, some_warps<1, 32, 64>{})), return grids.sync())
MGSYNC_FORM(one_warp_reduce_32, this_multi_grid(handle, one_warp{}),
            return reduce<std::uint32_t>(grids, round, data))
MGSYNC_FORM(traced_sync, this_traced_multi_grid(handle), return grids.sync())
MGSYNC_FORM(many_gpus_sync, this_multi_grid_of_many(handle), return grids.sync())
extern "C" __global__ void sync_with_a_word(const __grid_constant__ multi_grid_handle handle,
                                            unsigned rounds) {
  __shared__ std::uint32_t word;
  auto grids = this_multi_grid(handle, word);
  in_rounds(rounds, [&](unsigned) { return grids.sync(); });
}
// Of a handle that is no __grid_constant__; and of a group that a function is passed which is not inlined.
extern "C" __global__ void sync_of_a_copy(multi_grid_handle handle, unsigned rounds) {
  auto grids = this_multi_grid(handle);
  in_rounds(rounds, [&](unsigned) { return grids.sync(); });
}
__device__ __noinline__ bool step(multi_grid_group& grids) { return grids.sync(); }
extern "C" __global__ void sync_by_reference(const __grid_constant__ multi_grid_handle handle,
                                             unsigned rounds) {
  auto grids = this_multi_grid(handle);
  in_rounds(rounds, [&](unsigned) { return step(grids); });
}
extern "C" __global__ void sync_of_a_copy_by_reference(multi_grid_handle handle, unsigned rounds) {
  auto grids = this_multi_grid(handle);
  in_rounds(rounds, [&](unsigned) { return step(grids); });
}
