#include "src/studies/launch/kernels.cuh"

namespace mgsync::launch {
namespace {

__global__ void nothing() {}

__global__ void tells(told_round here) {
  const volatile unsigned* const before = here.before;
  for (unsigned k = 0; before != nullptr && k < here.kernels; ++k)
    if (before[k] == 0) *static_cast<volatile unsigned*>(here.too_early) = 1;
  for (const auto begin = global_timer_ns(); global_timer_ns() - begin < 2000;) {}
  *static_cast<volatile unsigned*>(here.mine) = 1;
}

}  // namespace

const void* empty_kernel() { return reinterpret_cast<const void*>(nothing); }
const void* telling_kernel() { return reinterpret_cast<const void*>(tells); }

}  // namespace mgsync::launch
