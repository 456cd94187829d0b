#include "src/studies/launch/kernels.cuh"

namespace mgsync::launch {
namespace {

__global__ void nothing() {}

__global__ void counts(counted_round here) {
  if (here.before != nullptr && atomicAdd_system(const_cast<unsigned*>(here.before), 0) != here.kernels)
    atomicAdd_system(here.wrong, 1);
  for (const auto begin = global_timer_ns(); global_timer_ns() - begin < 2000;) {}
  __threadfence_system();
  atomicAdd_system(here.mine, 1);
}

}  // namespace

const void* empty_kernel() { return reinterpret_cast<const void*>(nothing); }
const void* counting_kernel() { return reinterpret_cast<const void*>(counts); }

}  // namespace mgsync::launch
