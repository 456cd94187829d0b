// Barriers of GPUs, as users write them: one that is right, and wrong ones, whose numbers stand in
// known_wrong.csv. -DONLY=NAME makes a file of one of them.
#include <mgsync/check.cuh>

namespace on_gpus {

using mgsync::check::position;
using mgsync::check::shape;
using word = unsigned;
constexpr unsigned words_of_a_line = 32;

// A counter in member 0's memory; the blocks' own counts of rounds stand behind it, in their members' memory.
struct of_a_counter {
  static std::size_t bytes(const shape& s) {
    return (1 + std::size_t{s.blocks}) * words_of_a_line * sizeof(word);
  }
  static void start(void* part, unsigned, const shape& s) {
    auto* const words = static_cast<word*>(part);
    for (unsigned line = 0; line <= s.blocks; ++line) words[line * words_of_a_line] = s.epoch;
    words[0] = s.epoch * s.workers;
  }
  __device__ explicit of_a_counter(const position& where) : at(where) {}
  __device__ word next() const {
    word& mine = at.part<word>(at.member)[(1 + at.block) * words_of_a_line];
    return mine = mine + 1;
  }
  __device__ static bool reached(word seen, word target) { return static_cast<int>(seen - target) >= 0; }
  position at;
};

struct counter : of_a_counter {
  static constexpr const char* name = "counter";
  using of_a_counter::of_a_counter;
  __device__ bool arrive_and_wait() {
    __syncthreads();
    bool ok = true;
    if (threadIdx.x == 0) {
      word* const all = at.part<word>(0);
      const word target = next() * at.workers;
      asm volatile("red.release.sys.global.add.u32 [%0], 1;" ::"l"(all) : "memory");
      for (word seen = target - 1; ok && !reached(seen, target); ok = reached(seen, target) || at.go_on())
        asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(seen) : "l"(all) : "memory");
    }
    return __syncthreads_and(ok) != 0;
  }
};

// 7. The epoch comes from the host as an argument, which a graph repeats.
struct epoch_of_the_launch : of_a_counter {
  static constexpr const char* name = "epoch-of-the-launch";
  using of_a_counter::of_a_counter;
  __device__ bool arrive_and_wait() {
    __syncthreads();
    bool ok = true;
    at.epoch += 1;
    if (threadIdx.x == 0) {
      word* const all = at.part<word>(0);
      const word target = at.epoch * at.workers;
      asm volatile("red.release.sys.global.add.u32 [%0], 1;" ::"l"(all) : "memory");
      for (word seen = target - 1; ok && !reached(seen, target); ok = reached(seen, target) || at.go_on())
        asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(seen) : "l"(all) : "memory");
    }
    return __syncthreads_and(ok) != 0;
  }
};

// 11. Ordered for one GPU, where the members are several.
struct gpu_scope_between_gpus : of_a_counter {
  static constexpr const char* name = "gpu-scope-between-gpus";
  using of_a_counter::of_a_counter;
  __device__ bool arrive_and_wait() {
    __syncthreads();
    bool ok = true;
    if (threadIdx.x == 0) {
      word* const all = at.part<word>(0);
      const word target = next() * at.workers;
      asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(all) : "memory");
      for (word seen = target - 1; ok && !reached(seen, target); ok = reached(seen, target) || at.go_on())
        asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(all) : "memory");
    }
    return __syncthreads_and(ok) != 0;
  }
};

// 22. Of the blocks of one grid. What tells a launch from the one before is the number of its grid, which a
// graph repeats.
struct grid_id_as_epoch {
  static constexpr const char* name = "grid-id-as-epoch";
  static bool takes(const shape& s) { return s.members == 1; }
  static std::size_t bytes(const shape& s) {
    return std::size_t{s.blocks} * words_of_a_line * sizeof(unsigned long long);
  }
  __device__ explicit grid_id_as_epoch(const position& where) : at(where) {
    asm volatile("mov.u64 %0, %%gridid;" : "=l"(epoch));
    epoch <<= 20;
  }
  __device__ bool arrive_and_wait() {
    ++epoch;
    __syncthreads();
    bool ok = true;
    auto* const flags = at.part<unsigned long long>(at.member);
    if (threadIdx.x == 0)
      asm volatile("st.release.gpu.global.u64 [%0], %1;" ::"l"(flags + at.block * words_of_a_line), "l"(epoch)
                   : "memory");
    for (unsigned from = threadIdx.x; ok && from < at.blocks; from += blockDim.x)
      for (unsigned long long seen = 0; ok && seen < epoch; ok = seen >= epoch || at.go_on())
        asm volatile("ld.acquire.gpu.global.u64 %0, [%1];"
                     : "=l"(seen)
                     : "l"(flags + from * words_of_a_line)
                     : "memory");
    return __syncthreads_and(ok) != 0;
  }
  position at;
  unsigned long long epoch;
};

}  // namespace on_gpus

#if defined(ONLY)
MGSYNC_CHECK_BARRIER(on_gpus::ONLY)
#else
MGSYNC_CHECK_BARRIER(on_gpus::counter, on_gpus::epoch_of_the_launch, on_gpus::gpu_scope_between_gpus,
                     on_gpus::grid_id_as_epoch)
#endif
