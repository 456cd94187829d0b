// One round of the relay, sound and weakened: what the test of the machine code's order looks at. Never run.
#include "barriers/parts/algorithm/cuda_policy.hpp"
#include "barriers/parts/algorithm/relay.hpp"

namespace {

using namespace mgsync::algorithm;
using sound_policy = cuda_policy<ptx::scope::system>;

struct without_release : sound_policy {
  using sound_policy::sound_policy;
  __device__ void fence_release_system() const {}
};
struct with_narrow_release : sound_policy {
  using sound_policy::sound_policy;
  __device__ void fence_release_system() const { ptx::fence_acq_rel<ptx::scope::gpu>(); }
};
struct without_acquire : sound_policy {
  using sound_policy::sound_policy;
  __device__ void fence_polled_system() const {}
};

template <class Policy>
__device__ __forceinline__ void one_round(const cuda_lines& lines, std::uint32_t epoch, cuda_limits limits) {
  relay<Policy, const cuda_lines> barrier(Policy(limits), lines, {0, 4, blockIdx.x, gridDim.x}, {1, 1});
  barrier.arrive_and_wait(epoch);
}

}  // namespace

extern "C" __global__ void sound(const __grid_constant__ cuda_lines lines, std::uint32_t epoch, cuda_limits limits) {
  one_round<sound_policy>(lines, epoch, limits);
}
extern "C" __global__ void no_release(const __grid_constant__ cuda_lines lines, std::uint32_t epoch, cuda_limits limits) {
  one_round<without_release>(lines, epoch, limits);
}
extern "C" __global__ void narrow_release(const __grid_constant__ cuda_lines lines, std::uint32_t epoch,
                                          cuda_limits limits) {
  one_round<with_narrow_release>(lines, epoch, limits);
}
extern "C" __global__ void no_acquire(const __grid_constant__ cuda_lines lines, std::uint32_t epoch, cuda_limits limits) {
  one_round<without_acquire>(lines, epoch, limits);
}
