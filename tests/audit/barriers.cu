// Barriers between the GPUs of one node, each a kernel: sound ones, and the order faults that others'
// barriers had. make_code.sh compiles them to barriers_90.ptx and barriers_90.cubin, which audit_test.cpp
// reads. A round publishes a payload in each GPU's own memory, meets the others and reads what a peer
// published.
#include <cuda/atomic>

using word = unsigned;

struct group {
  word* flags[8];    // of each GPU: a word for each of the others
  word* payload[8];  // of each GPU: a word for each thread
  word gpus, self;
};

__device__ void store_release(word* at, word v) {
  asm volatile("st.release.sys.global.u32 [%0], %1;" ::"l"(at), "r"(v) : "memory");
}
__device__ void store_relaxed(word* at, word v) {
  asm volatile("st.relaxed.sys.global.u32 [%0], %1;" ::"l"(at), "r"(v) : "memory");
}
__device__ word load_acquire(const word* at) {
  word v;
  asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(v) : "l"(at) : "memory");
  return v;
}
__device__ word load_relaxed(const word* at) {
  word v;
  asm volatile("ld.relaxed.sys.global.u32 %0, [%1];" : "=r"(v) : "l"(at) : "memory");
  return v;
}
__device__ bool reached(word seen, word wanted) { return static_cast<int>(seen - wanted) >= 0; }

// What each GPU publishes before a barrier, and what is read behind it.
template <class Barrier>
__device__ void rounds(const group& g, word n, Barrier barrier) {
  for (word round = 1; round <= n; ++round) {
    g.payload[g.self][threadIdx.x] = round;
    barrier(round);
    g.payload[g.self][threadIdx.x + 1024] += g.payload[(g.self + 1) % g.gpus][threadIdx.x];
    barrier(round + n);
  }
}

// --- sound

extern "C" __global__ void sound_release_acquire(group g, word n) {
  rounds(g, n, [&](word round) {
    __syncthreads();
    if (threadIdx.x < g.gpus) {
      store_release(g.flags[threadIdx.x] + g.self, round);
      while (!reached(load_acquire(g.flags[g.self] + threadIdx.x), round)) {}
    }
    __syncthreads();
  });
}

extern "C" __global__ void sound_fences(group g, word n) {
  rounds(g, n, [&](word round) {
    __syncthreads();
    if (threadIdx.x < g.gpus) {
      __threadfence_system();
      store_relaxed(g.flags[threadIdx.x] + g.self, round);
      while (!reached(load_relaxed(g.flags[g.self] + threadIdx.x), round)) __nanosleep(20);
      __threadfence_system();
    }
    __syncthreads();
  });
}

extern "C" __global__ void sound_volatile(group g, word n) {
  rounds(g, n, [&](word round) {
    __syncthreads();
    if (threadIdx.x < g.gpus) {
      __threadfence_system();
      *static_cast<volatile word*>(g.flags[threadIdx.x] + g.self) = round;
      while (!reached(*static_cast<volatile word*>(g.flags[g.self] + threadIdx.x), round)) {}
      __threadfence_system();
    }
    __syncthreads();
  });
}

// A counter of one GPU's blocks: right there, and not known to be right elsewhere.
extern "C" __global__ void sound_grid(word* counter, word* payload, word n) {
  for (word round = 1; round <= n; ++round) {
    payload[blockIdx.x * blockDim.x + threadIdx.x] = round;
    __syncthreads();
    if (threadIdx.x == 0) {
      __threadfence();
      atomicAdd(counter, 1);
      while (!reached(*static_cast<volatile word*>(counter), round * gridDim.x)) {}
      __threadfence();
    }
    __syncthreads();
    payload[(blockIdx.x + gridDim.x) * blockDim.x + threadIdx.x] +=
        payload[(blockIdx.x + 1) % gridDim.x * blockDim.x + threadIdx.x];
  }
}

// Takes each flag back as it sees it, so that nobody else's can be passed unnoticed.
extern "C" __global__ void sound_taken(group g, word n) {
  rounds(g, n, [&](word) {
    __syncthreads();
    if (threadIdx.x < g.gpus) {
      cuda::atomic_ref<word, cuda::thread_scope_system> to(*(g.flags[threadIdx.x] + g.self));
      cuda::atomic_ref<word, cuda::thread_scope_system> from(*(g.flags[g.self] + threadIdx.x));
      for (word old = 0;
           !to.compare_exchange_strong(old, 1, cuda::memory_order_release, cuda::memory_order_relaxed);)
        old = 0;
      for (word old = 1;
           !from.compare_exchange_strong(old, 0, cuda::memory_order_acquire, cuda::memory_order_relaxed);)
        old = 1;
    }
    __syncthreads();
  });
}

// --- order faults, by their number among the known-wrong forms

// 9: flags without a release. What was written before, by the block's others or by an earlier kernel, may
// come later.
extern "C" __global__ void wrong_relaxed_start(group g, word* out) {
  if (threadIdx.x < g.gpus) {
    store_relaxed(g.flags[threadIdx.x] + g.self, 1);
    while (!reached(load_acquire(g.flags[g.self] + threadIdx.x), 1)) {}
  }
  __syncthreads();
  out[threadIdx.x] = g.payload[(g.self + 1) % g.gpus][threadIdx.x];
}
extern "C" __global__ void wrong_relaxed_rounds(group g, word n) {
  rounds(g, n, [&](word round) {
    __syncthreads();
    if (threadIdx.x < g.gpus) {
      store_relaxed(g.flags[threadIdx.x] + g.self, round);
      while (!reached(load_acquire(g.flags[g.self] + threadIdx.x), round)) {}
    }
    __syncthreads();
  });
}
// The fence is there, in threads that do not speak, and on the far side of the block's barrier.
extern "C" __global__ void wrong_fence_elsewhere(group g, word n) {
  rounds(g, n, [&](word round) {
    __threadfence_system();
    __syncthreads();
    if (threadIdx.x < g.gpus) {
      store_relaxed(g.flags[threadIdx.x] + g.self, round);
      while (!reached(load_acquire(g.flags[g.self] + threadIdx.x), round)) {}
    }
    __syncthreads();
  });
}

// 10: one block acquires what the other GPUs wrote; the GPU's other blocks only see that it has gone on.
extern "C" __global__ void wrong_only_the_poller_acquires(group g, word* gone_on, word n) {
  rounds(g, n, [&](word round) {
    __syncthreads();
    if (blockIdx.x == 0) {
      if (threadIdx.x < g.gpus) {
        store_release(g.flags[threadIdx.x] + g.self, round);
        while (!reached(load_acquire(g.flags[g.self] + threadIdx.x), round)) {}
      }
      __syncthreads();
      if (threadIdx.x == 0) store_release(gone_on, round);
    } else if (threadIdx.x == 0) {
      while (!reached(load_relaxed(gone_on), round)) {}
    }
    __syncthreads();
  });
}
// The same inside a block: who polls acquires, and nothing holds the others.
extern "C" __global__ void wrong_nobody_waits_for_the_poller(group g, word n) {
  rounds(g, n, [&](word round) {
    __syncthreads();
    if (threadIdx.x < g.gpus) {
      store_release(g.flags[threadIdx.x] + g.self, round);
      while (!reached(load_acquire(g.flags[g.self] + threadIdx.x), round)) {}
    }
  });
}
// And nothing holds the thread that speaks until the others have written: in the first case by a branch, in
// the second by a predicate.
extern "C" __global__ void wrong_nobody_waits_for_the_others(group g, word n) {
  rounds(g, n, [&](word round) {
    if (threadIdx.x < g.gpus) {
      store_release(g.flags[threadIdx.x] + g.self, round);
      while (!reached(load_acquire(g.flags[g.self] + threadIdx.x), round)) {}
    }
    __syncthreads();
  });
}
extern "C" __global__ void wrong_flag_beside_the_others(word* payload, word* theirs, const word* mine,
                                                        word* out, word n) {
  for (word i = threadIdx.x; i < n; i += blockDim.x) payload[i] = n;
  if (threadIdx.x == 0) store_release(theirs, n);
  while (!reached(load_acquire(mine), n)) {}
  out[threadIdx.x] = payload[n + threadIdx.x];
}
// What one thread alone wrote it may release by itself.
extern "C" __global__ void sound_speaks_for_itself(word* payload, word* theirs, const word* mine, word* out,
                                                   word n) {
  if (threadIdx.x == 0) payload[0] = n;
  const word before = load_relaxed(theirs);
  if (threadIdx.x == 0) store_release(theirs, before + n);
  while (!reached(load_acquire(mine), n)) {}
  out[threadIdx.x] = payload[1];
}
// A block meets at a barrier in shared memory in place of __syncthreads().
struct shared_barrier {
  word at;
  __device__ void arrive_and_wait() {
    asm volatile("{.reg .b64 t; mbarrier.arrive.shared.b64 t, [%0];}" ::"r"(at) : "memory");
    for (word come = 0; come == 0;)
      asm volatile("{.reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], 0; selp.u32 %0, 1, 0, p;}"
                   : "=r"(come)
                   : "r"(at)
                   : "memory");
  }
};
__device__ shared_barrier barrier_of(unsigned long long* place) {
  const shared_barrier made{static_cast<word>(__cvta_generic_to_shared(place))};
  if (threadIdx.x == 0)
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(made.at), "r"(blockDim.x) : "memory");
  __syncthreads();
  return made;
}
extern "C" __global__ void sound_shared_barrier(const word* some, word* flag, word* data, word* out,
                                                word round) {
  __shared__ unsigned long long place;
  auto all = barrier_of(&place);
  const word old = some[threadIdx.x];
  if (old > 7) data[0] = old;
  if (threadIdx.x == 0)
    while (!reached(load_acquire(flag), round)) {}
  all.arrive_and_wait();
  out[threadIdx.x] = data[threadIdx.x];
}
// Other threads read behind a barrier that the poller came to without an acquire.
extern "C" __global__ void wrong_shared_barrier(word* flag, word* data, word* out, word round) {
  __shared__ unsigned long long place;
  auto all = barrier_of(&place);
  if (threadIdx.x == 0)
    while (!reached(load_relaxed(flag), round)) {}
  all.arrive_and_wait();
  __threadfence_system();
  out[threadIdx.x] = data[threadIdx.x];
}
// A lock without an order, taken by a swap of zero.
extern "C" __global__ void wrong_lock(word* lock, word* data) {
  if (threadIdx.x != 0) return;
  while (atomicCAS(lock, 0, 1) != 0) {}
  data[0] += 1;
  atomicExch(lock, 0);
}
// The acquire stands behind the block's barrier, in threads that have polled nothing.
extern "C" __global__ void wrong_acquire_elsewhere(group g, word n) {
  rounds(g, n, [&](word round) {
    __syncthreads();
    if (threadIdx.x < g.gpus) {
      store_release(g.flags[threadIdx.x] + g.self, round);
      while (!reached(load_relaxed(g.flags[g.self] + threadIdx.x), round)) {}
    }
    __syncthreads();
    __threadfence_system();
  });
}

// 11: flags between GPUs that reach no farther than their own.
extern "C" __global__ void wrong_gpu_scope(group g, word n) {
  rounds(g, n, [&](word round) {
    __syncthreads();
    if (threadIdx.x < g.gpus) {
      __threadfence();
      atomicAdd(g.flags[threadIdx.x], 1);
      while (!reached(*static_cast<volatile word*>(g.flags[g.self]), round * g.gpus)) {}
      __threadfence();
    }
    __syncthreads();
  });
}
// One of two halves is too narrow, which the other's scope gives away.
extern "C" __global__ void wrong_narrow_fence(group g, word n) {
  rounds(g, n, [&](word round) {
    __syncthreads();
    if (threadIdx.x < g.gpus) {
      __threadfence();
      store_relaxed(g.flags[threadIdx.x] + g.self, round);
      while (!reached(load_acquire(g.flags[g.self] + threadIdx.x), round)) {}
    }
    __syncthreads();
  });
}

// 19: instructions of its own, neither volatile nor with "memory" among what they clobber: the compiler
// carries the poll out of its loop. (With volatile nvcc 13.0 carries nothing past them.)
__device__ word load_without_clobber(const word* at) {
  word v;
  asm("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(v) : "l"(at));
  return v;
}
extern "C" __global__ void wrong_missing_clobber(word* theirs, word* mine, const word* payload, word* out,
                                                 word n) {
  word sum = 0;
  for (word round = 1; round <= n; ++round) {
    store_release(theirs, round);
    while (!reached(load_without_clobber(mine), round)) {}
    sum += *payload;
  }
  *out = sum;
}

// A plain loop: the compiler reads once ahead of it, and leaves it empty.
extern "C" __global__ void wrong_plain_poll(const word* mine, const word* payload, word* out, word epoch) {
  if (threadIdx.x == 0) {
    while (*mine != epoch) {}
    __threadfence_system();
  }
  __syncthreads();
  out[threadIdx.x] = payload[threadIdx.x];
}

// --- what may be meant

// Leaves at one value alone: right if nothing can make it pass by.
extern "C" __global__ void doubtful_equality(group g, word n) {
  rounds(g, n, [&](word round) {
    __syncthreads();
    if (threadIdx.x < g.gpus) {
      store_release(g.flags[threadIdx.x] + g.self, round);
      while (load_acquire(g.flags[g.self] + threadIdx.x) != round) {}
    }
    __syncthreads();
  });
}

// An ordinary load, kept in its loop by what stands beside it.
extern "C" __global__ void wrong_ordinary_poll(group g, word* out) {
  if (threadIdx.x == 0) {
    store_release(g.flags[1 - g.self], 1);
    while (*g.flags[g.self] == 0) asm volatile("nanosleep.u32 20;" ::: "memory");
    __threadfence_system();
  }
  __syncthreads();
  out[threadIdx.x] = g.payload[1 - g.self][threadIdx.x];
}

// --- nothing that waits

extern "C" __global__ void work_queue(word* next, word* data, word n) {
  for (;;) {
    const word mine = atomicAdd(next, 1);
    if (mine >= n) return;
    data[mine] *= 2;
  }
}
extern "C" __global__ void largest_of(float* most, const float* data) {
  auto* bits = reinterpret_cast<int*>(most);
  const float mine = data[blockIdx.x * blockDim.x + threadIdx.x];
  int old = *bits, seen = 0;
  do {
    seen = old;
    if (__int_as_float(seen) >= mine) return;
    old = atomicCAS(bits, seen, __float_as_int(mine));
  } while (old != seen);
}
extern "C" __global__ void walks_a_list(word** head, word* out) {
  word** at = head;
  word count = 0;
  while (at != nullptr) {
    at = reinterpret_cast<word**>(*static_cast<word* volatile*>(at));
    ++count;
  }
  *out = count;
}

// What it counts to was read once, and is compared with in two halves.
extern "C" __global__ void counts_far(const long long* n, long long* out) {
  const long long last = *n;
#pragma unroll 1
  for (word i = threadIdx.x; i < last; i += blockDim.x) out[i] = i;
}

// --- clocks

extern "C" __global__ void clocks_around_a_load(const word* data, long long* out, word* kept) {
  const long long begin = clock64();
  const word v = *static_cast<const volatile word*>(data);
  const long long end = clock64();
  *kept = v;
  *out = end - begin;
}
extern "C" __global__ void clocks_around_a_barrier(long long* out) {
  const long long begin = clock64();
  __syncthreads();
  const long long end = clock64();
  out[threadIdx.x] = end - begin;
}
extern "C" __global__ void clocks_around_arithmetic(const float* data, float* kept, long long* out) {
  float v = *data;
  const long long begin = clock64();
  for (int i = 0; i < 8; ++i) v = v * 1.5f + 0.25f;
  const long long end = clock64();
  *kept = v;
  *out = end - begin;
}

// --- what others do besides barriers

// A queue: a place in it is drawn, and the words there are published by the doorbell alone. The fence of the
// block ahead of them is for something else.
extern "C" __global__ void queue_of_descriptors(word* drawn, const word* done, volatile word* ring,
                                                word* doorbell, word places) {
  const word place = atomicAdd(drawn, 1);
  while (!reached(load_acquire(done), place - places)) {}
  __threadfence_block();
  volatile word* const words = ring + place % places * 4;
  words[0] = places;
  words[1] = 7;
  words[2] = blockIdx.x + 1;
  __threadfence_system();
  store_relaxed(doorbell, place + 1);
}

// Another's progress is passed on, for whoever looks at it; the flag is released.
extern "C" __global__ void tells_the_largest(const word* done, word* largest, word* flag, word n) {
  while (!reached(load_acquire(done), n)) {}
  atomicMax(largest, n + 5);
  store_release(flag, 1);
}
extern "C" __global__ void wrong_largest_for_who_waits(word* largest, word* flag, word n) {
  atomicMax(largest, n);
  while (!reached(load_acquire(largest), 2 * n)) {}
  store_release(flag, 1);
}

// Whoever waits tells its warp by a shuffle, which holds the others and orders nothing.
extern "C" __global__ void doubtful_shuffle(const word* flag, const word* payload, word* out, word n) {
  word place = 0;
  if (threadIdx.x % 32 == 0) {
    while (!reached(load_acquire(flag), n)) {}
    place = load_relaxed(flag + 1);
  }
  out[threadIdx.x] = payload[__shfl_sync(~0U, place, 0) + threadIdx.x];
}

// Right if the block's own threads write the flag: a volatile access does not say whom it is for.
extern "C" __global__ void doubtful_fence_of_a_block(const volatile word* flag, const word* payload,
                                                     word* out, word n) {
  while (!reached(*flag, n)) {}
  __threadfence_block();
  out[threadIdx.x] = payload[threadIdx.x];
}

// Each 16 bytes say themselves that they are there.
extern "C" __global__ void data_with_its_flag(word* theirs, const word* mine, word* out, word n) {
  word* const at = theirs + 4 * threadIdx.x;
  asm volatile("st.volatile.global.v4.u32 [%0], {%1, %2, %3, %2};" ::"l"(at), "r"(out[0]), "r"(n), "r"(out[1])
               : "memory");
  word a, b, first, second;
  do {
    asm volatile("ld.volatile.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(a), "=r"(first), "=r"(b), "=r"(second)
                 : "l"(mine + 4 * threadIdx.x)
                 : "memory");
  } while (first != n || second != n);
  out[threadIdx.x] = a + b;
}

// Some do more ahead of the loop; all wait in it.
extern "C" __global__ void who_prepares_waits_too(word* mine, const word* flag, const word* payload,
                                                  word* out, word n) {
  if (threadIdx.x == 0) mine[blockIdx.x] = n;
  while (!reached(load_acquire(flag), n)) {}
  out[threadIdx.x] = payload[threadIdx.x];
}

// --- what is read in the loop besides the flag

// The flags' addresses are in memory, and read in each turn.
template <class Poll>
__device__ void flags_in_memory(word* const* flags, word self, word gpus, word epoch, word* mine,
                                const word* theirs, Poll poll) {
  mine[threadIdx.x] = epoch;
  __syncthreads();
  if (threadIdx.x < gpus) {
    store_release(flags[threadIdx.x] + self, epoch);
    while (!reached(poll(flags[self] + threadIdx.x), epoch)) {}
  }
  __syncthreads();
  mine[threadIdx.x + 1024] = theirs[threadIdx.x];
}
extern "C" __global__ void sound_flags_in_memory(word** flags, word self, word gpus, word epoch, word* mine,
                                                 const word* theirs) {
  flags_in_memory(flags, self, gpus, epoch, mine, theirs, load_acquire);
}
extern "C" __global__ void wrong_flags_in_memory(word** flags, word self, word gpus, word epoch, word* mine,
                                                 const word* theirs) {
  flags_in_memory(flags, self, gpus, epoch, mine, theirs, load_relaxed);
}

// What is waited for is in memory, too; and what the block has added up is told behind the barrier.
extern "C" __global__ void sound_bound_in_memory(word* count, const word* epoch_and_gpus, word* payload,
                                                 word* sum) {
  __shared__ word of_block;
  of_block = payload[0];
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence_system();
    atomicAdd_system(count, 1);
    while (load_relaxed(count) < epoch_and_gpus[0] * epoch_and_gpus[1]) {}
    __threadfence_system();
  }
  __syncthreads();
  atomicAdd(&of_block, payload[threadIdx.x + 1]);
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd(sum, of_block);
}

// Gives up after some turns: machine code leaves the loop by two predicates in one branch.
extern "C" __global__ void sound_gives_up(const word* flag, const word* payload, word* out, word n) {
  word seen = 0;
  for (int i = 0; i < 1'000'000 && seen < n; ++i) seen = load_acquire(flag);
  out[threadIdx.x] = payload[threadIdx.x];
}
