#include <cuda/pipeline>

#include <cooperative_groups.h>

#include <memory>

#include "src/base/cuda.hpp"
#include "src/studies/pipeline/semaphores.cuh"
#include "src/studies/pipeline/synthetic_kernel.hpp"

// The state of cuda::pipeline has a constructor that does nothing; make_pipeline() initializes it.
#pragma nv_diag_suppress 20054

namespace mgsync::pipeline {

namespace {

constexpr int most_stages_kept = 256;

struct setting_on_gpu {
  int producers, buffers, stages;
  int load_a, load_b, math;
  bool releases_early;
};

struct stamps {
  long long cycles;
  long long begin[3][2 * most_stages_kept];  // by agent; a single producer alternates A and B
  long long end[3][2 * most_stages_kept];
};

// Reads the low half of the SM's counter, which costs half as much as the whole; waits are far shorter than
// its 2^32 cycles. The compiler may move a clock read across a barrier unless the read depends on something
// that may not move: here on a word of shared memory, which is never equal to the constant.
__device__ inline unsigned clock_after(const unsigned* shared_word) {
  unsigned word, now;
  asm volatile("ld.volatile.shared.u32 %0, [%1];" : "=r"(word) : "r"(shared_address(shared_word)) : "memory");
  asm volatile("{ .reg .pred p; setp.ne.u32 p, %1, 0x5a5a5a5a; mov.u32 %0, 0; @p mov.u32 %0, %%clock; }"
               : "=r"(now)
               : "r"(word)
               : "memory");
  return now;
}
__device__ inline unsigned clock_now() {
  unsigned now;
  asm volatile("mov.u32 %0, %%clock;" : "=r"(now)::"memory");
  return now;
}

// Runs one timed wait of an agent, and records when if that is wanted.
struct recorder {
  stamps* out;
  bool keeps;
  int agent;
  unsigned start;
  const unsigned* shared_word;

  __device__ void item(int index, int cycles) const {
    const unsigned begin = clock_after(shared_word);
    while (static_cast<int>(clock_now() - begin) < cycles) {}
    if (keeps && index < 2 * most_stages_kept && threadIdx.x % 32 == 0) {
      out->begin[agent][index] = begin - start;
      out->end[agent][index] = clock_now() - start;
    }
  }
};

__device__ inline void load_stage(const setting_on_gpu& s, const recorder& notes, int producer, int stage) {
  if (s.producers == 1) {
    notes.item(2 * stage, s.load_a);
    notes.item(2 * stage + 1, s.load_b);
  } else {
    notes.item(stage, producer == 0 ? s.load_a : s.load_b);
  }
}

// Two of the hardware's named barriers per buffer: at one the producers arrive and the consumer waits, at the
// other the reverse.
struct named_barriers {
  static constexpr unsigned first = 1;  // 0 is that of __syncthreads()
  unsigned buffers, threads;

  __device__ named_barriers(const setting_on_gpu& s)
      : buffers(static_cast<unsigned>(s.buffers)), threads(32u * (s.producers + 1)) {}
  __device__ void wait(unsigned which) const {
    asm volatile("bar.sync %0, %1;" ::"r"(which), "r"(threads) : "memory");
  }
  __device__ void arrive(unsigned which) const {
    asm volatile("bar.arrive %0, %1;" ::"r"(which), "r"(threads) : "memory");
  }

  __device__ void producer_acquire(int stage) const {
    if (stage >= static_cast<int>(buffers)) wait(first + buffers + stage % buffers);
  }
  __device__ void producer_commit(int stage) const { arrive(first + stage % buffers); }
  __device__ void consumer_wait(int stage) const { wait(first + stage % buffers); }
  __device__ void consumer_release(int stage, int stages) const {
    if (stage + static_cast<int>(buffers) < stages) arrive(first + buffers + stage % buffers);
  }
};

// One lane arrives for its warp.
struct warp_speaks {
  __device__ void arrive(std::uint64_t& barrier) const {
    __syncwarp();
    if (threadIdx.x % 32 == 0) mbarrier_arrive(&barrier);
  }
  __device__ void wait(std::uint64_t& barrier, unsigned parity) const { mbarrier_wait(&barrier, parity); }
};
using mbarriers = ring_semaphores<std::uint64_t, warp_speaks>;

template <int Buffers>
struct library_pipeline {
  using state = ::cuda::pipeline_shared_state<::cuda::thread_scope_block, Buffers>;
  ::cuda::pipeline<::cuda::thread_scope_block> pipe;

  __device__ library_pipeline(state* shared, bool produces)
      : pipe(::cuda::make_pipeline(cooperative_groups::this_thread_block(), shared,
                                   produces ? ::cuda::pipeline_role::producer
                                            : ::cuda::pipeline_role::consumer)) {}
  __device__ void producer_acquire(int) { pipe.producer_acquire(); }
  __device__ void producer_commit(int) { pipe.producer_commit(); }
  __device__ void consumer_wait(int) { pipe.consumer_wait(); }
  __device__ void consumer_release(int, int) { pipe.consumer_release(); }
};

template <class Semaphores>
__device__ void run_agents(Semaphores& semaphores, const setting_on_gpu& s, stamps* out, bool keeps,
                           const unsigned* start) {
  const int warp = static_cast<int>(threadIdx.x) / 32;
  if (warp < s.producers) {
    const recorder notes{out, keeps, warp, *start, start};
    produce_stages(semaphores, s.stages, [&](int stage) { load_stage(s, notes, warp, stage); });
    return;
  }
  const recorder notes{out, keeps, 2, *start, start};
  if (s.releases_early) {
    for (int stage = 0; stage < s.stages; ++stage) {
      semaphores.consumer_wait(stage);
      semaphores.consumer_release(stage, s.stages);
      notes.item(stage, s.math);
    }
  } else {
    consume_stages(semaphores, s.stages, [&](int stage) { notes.item(stage, s.math); });
  }
  if (threadIdx.x % 32 == 0) out->cycles = clock_now() - *start;
}

// All warps start at the same time, which is stored in shared memory as the low half of the counter.
__device__ inline const unsigned* common_start() {
  __shared__ unsigned start;
  __syncthreads();
  if (threadIdx.x == 0) start = clock_now() + 500;
  __syncthreads();
  while (static_cast<int>(clock_now() - start) < 0) {}
  return &start;
}

__global__ void with_named_barriers(setting_on_gpu s, stamps* out, bool keeps) {
  named_barriers semaphores(s);
  run_agents(semaphores, s, out, keeps, common_start());
}

__global__ void with_mbarriers(setting_on_gpu s, stamps* out, bool keeps) {
  constexpr unsigned most = 8;
  __shared__ std::uint64_t full[most], empty[most];
  if (threadIdx.x == 0)
    for (int q = 0; q < s.buffers; ++q) {
      mbarrier_init(&full[q], static_cast<unsigned>(s.producers));
      mbarrier_init(&empty[q], 1);
    }
  mbarriers semaphores(full, empty, static_cast<unsigned>(s.buffers), {});
  run_agents(semaphores, s, out, keeps, common_start());
}

template <int Buffers>
__global__ void with_cuda_pipeline(setting_on_gpu s, stamps* out, bool keeps) {
  __shared__ typename library_pipeline<Buffers>::state state;
  library_pipeline<Buffers> semaphores(&state, static_cast<int>(threadIdx.x) / 32 < s.producers);
  run_agents(semaphores, s, out, keeps, common_start());
}

__global__ void with_block_barriers(setting_on_gpu s, stamps* out, bool keeps) {
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const bool produces = warp < s.producers;
  const unsigned* const start = common_start();
  const recorder notes{out, keeps, produces ? warp : 2, *start, start};
  for (int stage = 0; stage < s.stages; ++stage) {
    if (produces) load_stage(s, notes, warp, stage);
    __syncthreads();
    if (!produces && !s.releases_early) notes.item(stage, s.math);
    __syncthreads();
    if (!produces && s.releases_early) notes.item(stage, s.math);
  }
  if (!produces && threadIdx.x % 32 == 0) out->cycles = clock_now() - *start;
}

using kernel = void (*)(setting_on_gpu, stamps*, bool);

kernel kernel_of(const synthetic_setting& s) {
  switch (s.kind) {
  case semaphore::named_barrier: return with_named_barriers;
  case semaphore::mbarrier: return with_mbarriers;
  case semaphore::block_barrier: return with_block_barriers;
  case semaphore::cuda_pipeline: break;
  }
  constexpr kernel by_buffers[] = {with_cuda_pipeline<1>, with_cuda_pipeline<2>, with_cuda_pipeline<3>,
                                   with_cuda_pipeline<4>, with_cuda_pipeline<5>, with_cuda_pipeline<6>,
                                   with_cuda_pipeline<7>, with_cuda_pipeline<8>};
  return by_buffers[s.buffers - 1];
}

}  // namespace

const char* name_of(semaphore kind) {
  switch (kind) {
  case semaphore::named_barrier: return "named-barrier";
  case semaphore::mbarrier: return "mbarrier";
  case semaphore::cuda_pipeline: return "cuda-pipeline";
  case semaphore::block_barrier: return "block-barrier";
  }
  return "";
}

int most_buffers(semaphore kind) { return kind == semaphore::named_barrier ? 7 : 8; }

synthetic_run run_synthetic(const synthetic_setting& s, bool with_activities, cudaStream_t stream) {
  int device = 0;
  cuda::check(cudaGetDevice(&device), "asking for the current GPU");
  const cuda::memory room = cuda::memory::on_gpu(device, sizeof(stamps));
  auto* out = room.as<stamps>();
  setting_on_gpu on_gpu{s.producers,     s.buffers,     s.stages,        s.load_a_cycles,
                        s.load_b_cycles, s.math_cycles, s.releases_early};
  bool keeps = with_activities && s.stages <= most_stages_kept;
  void* pointers[] = {&on_gpu, &out, &keeps};
  cuda::check(cudaLaunchKernel(reinterpret_cast<const void*>(kernel_of(s)), dim3(1),
                               dim3(32u * static_cast<unsigned>(s.producers + 1)), pointers, 0, stream),
              "launching a synthetic pipeline");
  cuda::check(cudaStreamSynchronize(stream), "running a synthetic pipeline");
  const auto seen = std::make_unique<stamps>();
  cuda::check(cudaMemcpy(seen.get(), out, sizeof(stamps), cudaMemcpyDeviceToHost), "reading stamps");
  synthetic_run run;
  run.cycles = seen->cycles;
  if (!keeps) return run;
  for (int stage = 0; stage < s.stages; ++stage) {
    const auto add = [&](int agent, int index, char what) {
      run.activities.push_back({agent, stage, what, seen->begin[agent][index], seen->end[agent][index]});
    };
    add(0, s.producers == 1 ? 2 * stage : stage, 'a');
    add(s.producers - 1, s.producers == 1 ? 2 * stage + 1 : stage, 'b');
    add(2, stage, 'm');
  }
  return run;
}

}  // namespace mgsync::pipeline
