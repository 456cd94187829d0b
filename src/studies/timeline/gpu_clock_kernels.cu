#include "src/studies/timeline/gpu_clock_kernels.hpp"

#include "barriers/parts/algorithm/ptx.hpp"

namespace mgsync::timelines {

namespace {

namespace ptx = algorithm::ptx;

constexpr std::uint64_t budget_ns = 1'000'000'000;

// Polls until the word is `wanted`; false where the time since `since` exceeds the budget.
__device__ bool wait_for(const std::uint32_t* word, std::uint32_t wanted, std::uint64_t since) {
  while (ptx::load_acquire<ptx::scope::system>(word) != wanted)
    if (ptx::global_time_ns() - since > budget_ns) return false;
  return true;
}

// Runs with one thread on each of two GPUs: each polls `mine` and writes `theirs`. One of them asks, the
// other answers.
__global__ void exchange_messages(std::uint32_t* mine, std::uint32_t* theirs, bool asks, exchange* out,
                                  std::uint32_t* done) {
  const std::uint64_t since = ptx::global_time_ns();
  for (std::uint32_t k = 1; k <= messages_between_gpus; ++k) {
    if (asks) {
      out[k - 1].asked = ptx::global_time_ns();
      ptx::store_relaxed<ptx::scope::system>(theirs, k);
    }
    if (!wait_for(mine, k, since)) return;
    const std::uint64_t now = ptx::global_time_ns();
    (asks ? out[k - 1].heard : out[k - 1].answered) = now;
    if (!asks) ptx::store_relaxed<ptx::scope::system>(theirs, k);
  }
  *done = 1;
}

__global__ void step_of_timer(std::uint64_t* out) {
  std::uint64_t last = ptx::global_time_ns(), least = ~std::uint64_t{0};
  for (int i = 0; i < 10000; ++i) {
    const std::uint64_t now = ptx::global_time_ns();
    if (now != last && now - last < least) least = now - last;
    last = now;
  }
  *out = least;
}

}  // namespace

void launch_messages(std::uint32_t* mine, std::uint32_t* theirs, bool asks, exchange* out,
                     std::uint32_t* done, cudaStream_t stream) {
  exchange_messages<<<1, 1, 0, stream>>>(mine, theirs, asks, out, done);
}

void launch_timer_step(std::uint64_t* out, cudaStream_t stream) { step_of_timer<<<1, 1, 0, stream>>>(out); }

}  // namespace mgsync::timelines
