// Producers and a consumer that only wait for given times and use real semaphores: what synchronization
// itself costs, and whether the model's equations describe it, without memory or tensor cores in the way. One
// block, one warp each.
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "src/models/pipeline/pipeline_model.hpp"

namespace mgsync::pipeline {

// How agents synchronize. block_barrier: the synchronous kernel, in which nothing overlaps.
enum class semaphore { named_barrier, mbarrier, cuda_pipeline, block_barrier };
inline constexpr std::array<semaphore, 4> all_semaphores = {
    semaphore::named_barrier, semaphore::mbarrier, semaphore::cuda_pipeline, semaphore::block_barrier};
const char* name_of(semaphore);
int most_buffers(semaphore);  // a block has 16 named barriers: two per buffer and one of its own

struct synthetic_setting {
  semaphore kind = semaphore::mbarrier;
  int producers = 1;  // 1: waits load_a, then load_b; 2: both side by side
  int buffers = 2;
  int stages = 1;
  int load_a_cycles = 0;
  int load_b_cycles = 0;
  int math_cycles = 0;
  bool releases_early = false;  // the planted fault: a buffer is given back before it is multiplied
};

// What an agent did when, in cycles of the SM since the common start.
struct activity_cycles {
  int agent = 0;  // 0, 1: producers; 2: the consumer
  int stage = 0;
  char what = 'm';  // 'a', 'b': loads; 'm': multiplying
  long long begin = 0;
  long long end = 0;
};

struct synthetic_run {
  long long cycles = 0;                     // from the common start to the end of the last multiplication
  std::vector<activity_cycles> activities;  // empty unless asked for
};

// Runs the kernel once on the calling thread's GPU. `with_activities` records when each agent began and ended
// each stage (at most 256 stages). Throws api_error.
synthetic_run run_synthetic(const synthetic_setting&, bool with_activities, cudaStream_t);

}  // namespace mgsync::pipeline
