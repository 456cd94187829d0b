// Probes of memory: chases through shared memory, the neighbour's shared memory, L1, L2 and DRAM, one load
// per link; and atomics whose result is the next one's operand.
#include "src/probes/probe_kernels.hpp"

namespace {

using namespace mgsync::probes;

// A ring of words per lane with a stride of 32 words, so that there are no bank conflicts. A word holds the
// address of the next one, or its index.
constexpr int ring = 64;
__device__ __forceinline__ std::uint32_t* make_ring(bool addresses) {
  __shared__ std::uint32_t words[ring * 32];
  const auto first = in_shared(words);
  const std::uint32_t lane = threadIdx.x % 32;
  for (std::uint32_t k = threadIdx.x / 32; k < ring; k += (blockDim.x + 31) / 32) {
    const std::uint32_t next = ((k + 1) % ring) * 32 + lane;
    words[k * 32 + lane] = addresses ? first + next * 4 : next;
  }
  __syncthreads();
  return words;
}

// One LDS per link: the loaded word is the next address.
struct shared_chase {
  std::uint32_t at;
  __device__ explicit shared_chase(const arguments&) { at = in_shared(make_ring(true) + threadIdx.x % 32); }
  __device__ void step() { asm volatile("ld.shared.u32 %0, [%0];" : "+r"(at)::"memory"); }
  __device__ std::uint32_t value() const { return at; }
};

// The usual chase in programs: the loaded word is an index, from which the address is computed.
struct shared_chase_index {
  volatile std::uint32_t* words;
  std::uint32_t at;
  __device__ explicit shared_chase_index(const arguments&) : words(make_ring(false)), at(threadIdx.x % 32) {}
  __device__ void step() { at = words[at]; }
  __device__ std::uint32_t value() const { return at; }
};

// A ring of 64-bit pointers in global memory. a.memory[a.words + block] is where that block begins.
struct global_start {
  std::uint64_t at;
  __device__ explicit global_start(const arguments& a) : at(a.memory[a.words + blockIdx.x]) {}
  __device__ std::uint32_t value() const { return static_cast<std::uint32_t>(at); }
};
struct l1_chase : global_start {
  using global_start::global_start;
  __device__ void step() { asm volatile("ld.global.ca.u64 %0, [%0];" : "+l"(at)::"memory"); }
};
// A chase that bypasses L1. Whether it is served by L2 or DRAM depends on the ring.
struct l2_chase : global_start {
  using global_start::global_start;
  __device__ void step() { asm volatile("ld.global.cg.u64 %0, [%0];" : "+l"(at)::"memory"); }
};

struct shared_atomic : shared_chase {
  std::uint32_t v;
  __device__ explicit shared_atomic(const arguments& a) : shared_chase(a), v(a.input[threadIdx.x]) {}
  __device__ void step() { asm volatile("atom.shared.add.u32 %0, [%1], %0;" : "+r"(v) : "r"(at) : "memory"); }
  __device__ std::uint32_t value() const { return v; }
};
struct global_atomic {
  std::uint32_t v;
  std::uint32_t* word;
  __device__ explicit global_atomic(const arguments& a)
      : v(a.input[threadIdx.x]), word(reinterpret_cast<std::uint32_t*>(a.memory) + a.words + threadIdx.x) {}
  __device__ void step() {
    asm volatile("atom.global.add.u32 %0, [%1], %0;" : "+r"(v) : "l"(word) : "memory");
  }
  __device__ std::uint32_t value() const { return v; }
};

#if __CUDA_ARCH__ >= 900
// The same chase through the shared memory of the other block of a cluster of two.
struct remote_shared_chase : shared_chase {
  __device__ explicit remote_shared_chase(const arguments& a) : shared_chase(a) {
    std::uint32_t rank;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    // The distance from an address in this block to the same place in the other block's shared memory.
    std::uint32_t mapped;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(mapped) : "r"(at), "r"(rank ^ 1));
    const std::uint32_t distance = mapped - at;
    for (std::uint32_t k = threadIdx.x / 32; k < ring; k += (blockDim.x + 31) / 32) {
      const std::uint32_t word = at + k * 128;
      // The other block loads this word and must be led back to this block, so the distance from this block's
      // addresses to those by which the cluster knows them is added.
      std::uint32_t here, next;
      asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(here) : "r"(word), "r"(rank));
      asm volatile("ld.shared.u32 %0, [%1];" : "=r"(next) : "r"(word) : "memory");
      asm volatile("st.shared.u32 [%0], %1;" ::"r"(word), "r"(next + (here - word)) : "memory");
    }
    at += distance;
    asm volatile("barrier.cluster.arrive.release.aligned;\n barrier.cluster.wait.acquire.aligned;" ::
                     : "memory");
  }
  __device__ void step() { asm volatile("ld.shared::cluster.u32 %0, [%0];" : "+r"(at)::"memory"); }
};
#endif

}  // namespace

#include "src/probes/catalogue/memory.inc"
