// Barriers of GPUs, as users write them: right ones, and wrong ones, whose numbers stand in
// known_wrong.csv. -DONLY=NAME makes a file of one of them.
#include <mgsync/check.cuh>

namespace on_gpus {

using mgsync::check::position;
using mgsync::check::shape;
using word = unsigned;
constexpr unsigned words_of_a_line = 32;

// A counter in member 0's memory; the blocks' own counts of rounds stand behind it, in their members' memory.
// Each of the streams has lines of its own.
struct of_a_counter {
  static std::size_t bytes(const shape& s) {
    return (1 + std::size_t{s.blocks}) * s.streams * words_of_a_line * sizeof(word);
  }
  static void start(void* part, unsigned, const shape& s) {
    auto* const words = static_cast<word*>(part);
    for (unsigned line = 0; line < (1 + s.blocks) * s.streams; ++line)
      words[line * words_of_a_line] = line < s.streams ? s.epoch * s.workers : s.epoch;
  }
  __device__ explicit of_a_counter(const position& where) : at(where) {}
  __device__ word& line(unsigned member, unsigned which) const {
    return at.part<word>(member)[(which * at.streams + at.stream) * words_of_a_line];
  }
  // Of this block, which has one thread to count them.
  __device__ word next() const { return threadIdx.x == 0 ? ++line(at.member, 1 + at.block) : 0; }
  __device__ static bool reached(word seen, word target) { return static_cast<int>(seen - target) >= 0; }

  template <bool OfOneGpu = false>
  __device__ bool meet(word target) const {
    __syncthreads();
    bool ok = true;
    if (threadIdx.x == 0) {
      word* const all = &line(0, 0);
      if constexpr (OfOneGpu) asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(all) : "memory");
      else asm volatile("red.release.sys.global.add.u32 [%0], 1;" ::"l"(all) : "memory");
      for (word seen = target - 1; ok && !reached(seen, target); ok = reached(seen, target) || at.go_on())
        if constexpr (OfOneGpu)
          asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(all) : "memory");
        else asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(seen) : "l"(all) : "memory");
    }
    return __syncthreads_and(ok) != 0;
  }
  position at;
};

// Counts workers, whatever the sizes of the grids are.
struct counter : of_a_counter {
  static constexpr const char* name = "counter";
  static bool takes(const shape&) { return true; }
  using of_a_counter::of_a_counter;
  __device__ bool arrive_and_wait() { return meet(next() * at.workers); }
};

struct counter_of_each_stream : counter {
  static constexpr const char* name = "counter-of-each-stream";
  static constexpr unsigned streams = 2;
  using counter::counter;
};

// Member 0 lets all go on without who is not there after 50 ms.
struct gives_up_waiting : of_a_counter {
  static constexpr const char* name = "gives-up-waiting";
  static bool takes(const shape& s) { return s.workers == s.members; }
  using of_a_counter::of_a_counter;
  __device__ static unsigned long long ns() {
    unsigned long long now;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
    return now;
  }
  __device__ bool arrive_and_wait() {
    const word target = next() * at.workers;
    if (at.member == 0 && threadIdx.x == 0) {
      word* const all = &line(0, 0);
      word seen = target - at.workers;
      const auto end = ns() + 50'000'000;
      while (!reached(seen, target - 1) && ns() < end)
        asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(seen) : "l"(all) : "memory");
      if (!reached(seen, target - 1)) atomicAdd_system(all, target - 1 - seen);
    }
    return meet(target);
  }
};

// 7. The epoch comes from the host as an argument, which a graph repeats.
struct epoch_of_the_launch : of_a_counter {
  static constexpr const char* name = "epoch-of-the-launch";
  using of_a_counter::of_a_counter;
  __device__ bool arrive_and_wait() { return meet(++at.epoch * at.workers); }
};

// 11. Ordered for one GPU, where the members are several.
struct gpu_scope_between_gpus : of_a_counter {
  static constexpr const char* name = "gpu-scope-between-gpus";
  using of_a_counter::of_a_counter;
  __device__ bool arrive_and_wait() { return meet<true>(next() * at.workers); }
};

// 12. Counts on grids of one size: it waits for as many of everybody's blocks as it has itself.
struct same_grid_everywhere : of_a_counter {
  static constexpr const char* name = "same-grid-everywhere";
  static bool takes(const shape&) { return true; }
  using of_a_counter::of_a_counter;
  __device__ bool arrive_and_wait() { return meet(next() * at.members * at.blocks); }
};

// 13. May run in two streams at once, and has one counter.
struct one_workspace : of_a_counter {
  static constexpr const char* name = "one-workspace";
  static constexpr unsigned streams = 2;
  __device__ explicit one_workspace(const position& where) : of_a_counter(where) { at.stream = 0; }
  __device__ bool arrive_and_wait() { return meet(next() * at.workers); }
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
MGSYNC_CHECK_BARRIER(on_gpus::counter, on_gpus::counter_of_each_stream, on_gpus::epoch_of_the_launch,
                     on_gpus::gpu_scope_between_gpus, on_gpus::same_grid_everywhere, on_gpus::one_workspace,
                     on_gpus::grid_id_as_epoch, on_gpus::gives_up_waiting)
#endif
