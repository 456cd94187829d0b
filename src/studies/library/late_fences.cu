// Fences of one thread beside grids that wait in sync() for the last GPU.
#include <algorithm>
#include <chrono>
#include <numeric>
#include <thread>
#include <vector>

#include <mgsync/multi_grid.cuh>
#include <mgsync/multi_grid.hpp>

#include "src/base/cuda.hpp"
#include "src/base/errors.hpp"
#include "src/studies/library/library_subjects.hpp"

namespace mgsync::library {
namespace {

constexpr unsigned fences = 30'000, late_ns = 5'000'000,
                   late_rounds = 60;  // some 30 ms of fences in 300 ms of rounds

__device__ unsigned long long now_ns() {
  unsigned long long now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

__global__ void wait_for_the_last(multi_grid_handle handle, unsigned* passed) {
  auto grids = this_multi_grid(handle);
  for (unsigned round = 0; round < late_rounds; ++round) {
    if (grids.grid_rank() + 1 == grids.num_grids())
      for (const auto begin = now_ns(); now_ns() - begin < late_ns;) __nanosleep(10'000);
    if (!grids.sync()) return;
    if (grids.thread_rank() == 0) *static_cast<volatile unsigned*>(passed) = round + 1;
  }
}

__global__ void fence_and_fence(volatile unsigned* peer, unsigned* cycles) {
  for (unsigned i = 0; i < fences; ++i) {
    *peer = i;
    const auto begin = clock64();
    __threadfence_system();
    cycles[i] = static_cast<unsigned>(clock64() - begin);
  }
}

class late_fences final : public subject {
 public:
  late_fences(const grid_shape& on, unsigned blocks)
      : grids_(on.gpus),
        blocks_(blocks),
        threads_(on.threads),
        memory_(grids_.allocate(fences * sizeof(unsigned))),
        passed_(cuda::memory::on_host(sizeof(unsigned))),
        first_(on.gpus.front()) {
    const cuda::device_scope scope(first_);
    beside_ = cuda::make_stream();
    // Beside a kernel that leaves the most shared memory every other one starts.
    cuda::check(cudaFuncSetAttribute(wait_for_the_last, cudaFuncAttributePreferredSharedMemoryCarveout,
                                     cudaSharedmemCarveoutMaxShared),
                "leaving room");
    if (waits()) grids_.prepare(wait_for_the_last, blocks_, threads_);
  }

  seen run(const run_order& asked) override {
    seen came{.done = asked};
    try {
      fence(came);
    } catch (const timeout_error& error) {
      came.ended = ending::stuck;
      came.reason = error.what();
      grids_.reset();
    }
    return came;
  }

 private:
  bool waits() const { return threads_ != 0; }
  unsigned passed() const { return *const_cast<const volatile unsigned*>(passed_.as<unsigned>()); }

  void fence(seen& came) {
    const cuda::device_scope scope(first_);
    *passed_.as<unsigned>() = 0;
    if (waits()) {
      grids_.launch(wait_for_the_last, blocks_, threads_, 0, {}, passed_.as<unsigned>());
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    const unsigned before = passed();
    auto* const peer = memory_.part_as<unsigned>(grids_.gpus() - 1);
    auto* const cycles = memory_.part_as<unsigned>(0);
    fence_and_fence<<<1, 1, 0, beside_.get()>>>(peer, cycles);
    cuda::check(cudaStreamSynchronize(beside_.get()), "running the fences");
    const unsigned rounds = passed() - before;
    if (waits()) grids_.wait();
    std::vector<unsigned> all(fences);
    unsigned last = 0;
    cuda::check(cudaMemcpy(all.data(), cycles, fences * sizeof(unsigned), cudaMemcpyDeviceToHost),
                "reading the cycles");
    cuda::check(cudaMemcpy(&last, peer, sizeof last, cudaMemcpyDeviceToHost), "reading the last store");
    std::sort(all.begin(), all.end());
    came.values["mean_cycles"] = {std::accumulate(all.begin(), all.end(), 0.0) / fences};
    came.values["p99_cycles"] = {static_cast<double>(all[fences / 100 * 99])};
    came.values["most_cycles"] = {static_cast<double>(all.back())};
    // The last store has arrived, and all rounds were passed, some of them beside the fences.
    const bool right = last == fences - 1 && (!waits() || (passed() == late_rounds && rounds > 0));
    came.checked = check_counts{.rounds = 1, .compared = 1, .wrong = right ? 0u : 1u};
    if (right) return;
    came.ended = ending::wrong;
    came.reason = "the last store did not arrive, or the GPUs did not wait beside the fences";
  }

  multi_grid grids_;
  unsigned blocks_, threads_;
  multi_grid_memory memory_;
  cuda::memory passed_;
  cuda::stream beside_;
  int first_;
};

}  // namespace

creation make_fences(const grid_shape& on) {
  if (const auto reason = cuda::reason_not_to_spin(on.gpus.size())) return {nullptr, *reason};
  const unsigned blocks =
      on.blocks != 0 ? on.blocks : on.blocks_per_sm * static_cast<unsigned>(cuda::sm_count(on.gpus.front()));
  try {
    return {std::make_unique<late_fences>(on, blocks)};
  } catch (const usage_error& error) {  // a grid that does not fit
    return {nullptr, error.what()};
  }
}

}  // namespace mgsync::library
