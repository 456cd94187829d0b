#include "barriers/parts/round_loop/load_kernel.hpp"

#include "barriers/parts/algorithm/ptx.hpp"

namespace mgsync::round_loop {

namespace {

__global__ void __launch_bounds__(load_threads) stream_to_peers(const __grid_constant__ load_run run) {
  const std::uint64_t begin = algorithm::ptx::global_time_ns();
  const auto told_to_stop = [&] {
    return *static_cast<const volatile std::uint32_t*>(run.stop) == run.turn ||
           *static_cast<const volatile std::uint32_t*>(run.abort) != 0 ||
           algorithm::ptx::global_time_ns() - begin > run.budget_ns;
  };
  if (blockIdx.x == 0 && threadIdx.x == 0) *static_cast<volatile std::uint32_t*>(run.running) = run.turn;
  const std::size_t words = run.bytes / sizeof(uint4);
  const std::size_t first = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  const unsigned peers = run.members > 1 ? run.members - 1 : 1;
  for (unsigned pass = 0; __syncthreads_or(threadIdx.x == 0 && told_to_stop()) == 0; ++pass) {
    auto* const target = reinterpret_cast<uint4*>(run.targets[(run.member + 1 + pass % peers) % run.members]);
    for (std::size_t i = first; i < words; i += stride) target[i] = make_uint4(pass, pass, pass, pass);
  }
}

}  // namespace

const void* load_kernel() { return reinterpret_cast<const void*>(stream_to_peers); }

}  // namespace mgsync::round_loop
