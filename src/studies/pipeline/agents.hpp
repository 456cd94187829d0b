// What a producer and a consumer do, stage by stage, over any semaphores: the synthetic kernel runs this on a
// GPU, its twin on host threads under ThreadSanitizer. C++17.
#pragma once

#ifdef __CUDACC__
#define MGSYNC_HOST_DEVICE __host__ __device__
#else
#define MGSYNC_HOST_DEVICE
#endif

namespace mgsync::pipeline {

// skeleton >> ring
// The buffer that a stage uses, and the parity of how often the ring of buffers has been gone round.
struct ring_position {
  unsigned slot = 0;
  unsigned parity = 0;
  MGSYNC_HOST_DEVICE void advance(unsigned buffers) {
    if (++slot == buffers) {
      slot = 0;
      parity ^= 1;
    }
  }
};
// << skeleton

// Semaphores from one phase barrier (such as an mbarrier) `full` and one `empty` per buffer. A producer first
// waits for the phase before the first one, which counts as ended, since every buffer is free at the
// beginning.
template <class Barrier, class Policy>
class ring_semaphores {
 public:
  MGSYNC_HOST_DEVICE ring_semaphores(Barrier* full, Barrier* empty, unsigned buffers, Policy policy)
      : full_(full), empty_(empty), buffers_(buffers), policy_(policy) {}
  MGSYNC_HOST_DEVICE void producer_acquire(int) { policy_.wait(empty_[at_.slot], at_.parity ^ 1); }
  MGSYNC_HOST_DEVICE void producer_commit(int) { signal(full_[at_.slot]); }
  MGSYNC_HOST_DEVICE void consumer_wait(int) { policy_.wait(full_[at_.slot], at_.parity); }
  MGSYNC_HOST_DEVICE void consumer_release(int, int) { signal(empty_[at_.slot]); }
  MGSYNC_HOST_DEVICE unsigned slot() const { return at_.slot; }

 private:
  MGSYNC_HOST_DEVICE void signal(Barrier& barrier) {
    policy_.arrive(barrier);
    at_.advance(buffers_);
  }

  Barrier* full_;
  Barrier* empty_;
  unsigned buffers_;
  Policy policy_;
  ring_position at_;
};

#ifdef __CUDACC__
#pragma nv_exec_check_disable
#endif
template <class Semaphores, class Load>
MGSYNC_HOST_DEVICE void produce_stages(Semaphores& semaphores, int stages, Load load) {
  for (int stage = 0; stage < stages; ++stage) {
    semaphores.producer_acquire(stage);
    load(stage);
    semaphores.producer_commit(stage);
  }
}

#ifdef __CUDACC__
#pragma nv_exec_check_disable
#endif
template <class Semaphores, class Multiply>
MGSYNC_HOST_DEVICE void consume_stages(Semaphores& semaphores, int stages, Multiply multiply) {
  for (int stage = 0; stage < stages; ++stage) {
    semaphores.consumer_wait(stage);
    multiply(stage);
    semaphores.consumer_release(stage, stages);
  }
}

}  // namespace mgsync::pipeline
