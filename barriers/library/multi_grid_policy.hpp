// The policy (policy.hpp) over which the algorithms run in the library's kernels. Device code, C++17; a part
// of the public header mgsync/multi_grid.cuh.
#pragma once

#include <mgsync/multi_grid_handle.hpp>

#include "barriers/library/multi_grid_addresses.hpp"
#include "barriers/parts/algorithm/cuda_operations.hpp"

namespace mgsync { inline namespace v1 { namespace algorithm {

// Called by a block that cannot synchronize: the first such block of a GPU writes the report for the host of
// this process, and each tells the kernels of all processes to give up. All accesses are volatile, so that
// the compiler does not read early and hold the values in registers that the kernel's own work could use.
__device__ __forceinline__ void report_and_stop(const multi_grid_handle& handle,
                                                volatile multi_grid_block& mine, std::uint32_t what,
                                                std::uint32_t launched) {
  if (atomicCAS(&handle.records[0].claimed, 0u, 1u) == 0) {
    volatile multi_grid_report* const report = mine.report;
    // An earlier kernel with another grid, and so with other records, may have written the report already.
    if (report != nullptr && report->what == multi_grid_report::none) {
      report->rank = handle.rank;
      report->launched = launched;
      report->made_for = handle.blocks;
      report->what = what;
    }
  }
  *static_cast<volatile std::uint32_t*>(mine.told) = 1;
#pragma unroll 1
  for (unsigned m = 0; m < mine.stop_count; ++m) *static_cast<volatile std::uint32_t*>(mine.stops[m]) = 1;
}

// Tells the host that the kernel cannot use a handle of another version. What has no version is no handle;
// those of version 1 began with an address, whose low byte is 0.
__device__ __forceinline__ void refuse(const multi_grid_handle& handle) {
  const std::uint32_t kind =
      (handle.version ^ multi_grid_handle::this_version) & ~multi_grid_handle::many_bit;
  if (kind >> 16 != 0 || (handle.version & 0xffu) <= 1 || handle.refused == nullptr) return;
  *static_cast<volatile std::uint32_t*>(handle.refused) = multi_grid_handle::this_version;
}

// How the threads of a block that do not wait themselves learn what its team found. This one uses the last
// barrier of those that take part, which takes no shared memory: a kernel may need all of it.
template <class Who>
class told_among {
  using word = std::uint32_t;

 public:
  __device__ __forceinline__ void begin(bool) const {}
  __device__ __forceinline__ void tell() const {}
  __device__ __forceinline__ unsigned asks_where() const { return 0; }
  __device__ __forceinline__ word sync_and_ask(unsigned, word known) const { return sync_and_tell(known); }
  // That barrier; returns not 0 if any of its threads passed in not 0.
  __device__ __forceinline__ static word sync_and_tell(word said) { return Who::sync_and_tell(said); }
};

struct whole_block {
  __device__ __forceinline__ static std::uint32_t sync_and_tell(std::uint32_t said) {
    return static_cast<std::uint32_t>(__syncthreads_or(static_cast<int>(said)));
  }
};
using told_by_barrier = told_among<whole_block>;

// This one uses a word of shared memory that the kernel provides. It is written only when the team gives up,
// and reading it is faster than a barrier with a result.
class told_in_word {
  using word = std::uint32_t;

 public:
  __device__ __forceinline__ explicit told_in_word(word& place) : word_(&place) {}

  __device__ __forceinline__ void begin(bool first) const {
    __syncthreads();  // an earlier group of the kernel may still read the same word
    if (first) *word_ = 0;
  }
  __device__ __forceinline__ void tell() const { *word_ = 1; }
  __device__ __forceinline__ static word sync_and_tell(word said) {
    return told_by_barrier::sync_and_tell(said);
  }
  // The address of the word in shared memory, computed while others wait. The lowest bit is set to tell it
  // from 0 (do not read), since shared memory may begin at address 0.
  __device__ __forceinline__ unsigned asks_where() const {
    unsigned where = static_cast<unsigned>(__cvta_generic_to_shared(word_)) | 1u;
    asm volatile("" : "+r"(where));
    return where;
  }
  // The block's barrier. Returns the word's value after it, or `known` without reading where `where` is 0. In
  // assembly so that all warps execute one and the same barrier instruction (compute-sanitizer requires it)
  // and nothing has to be computed after it.
  __device__ __forceinline__ word sync_and_ask(unsigned where, word known) const {
    asm volatile("{\n\t"
                 ".reg .pred asks;\n\t"
                 "setp.ne.u32 asks, %1, 0;\n\t"
                 "bar.sync 0;\n\t"
                 "@asks ld.shared.u32 %0, [%1+-1];\n\t"
                 "}"
                 : "+r"(known)
                 : "r"(where)
                 : "memory");
    return known;
  }

 private:
  word* word_;
};

// The number of the calling block among those of its GPU, and how many these are: the whole grid. Tests cut
// grids into slices that stand for GPUs.
struct whole_grid {
  __device__ __forceinline__ static unsigned block() {
    return blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  }
  __device__ __forceinline__ static unsigned blocks() { return gridDim.x * gridDim.y * gridDim.z; }
};

// The policy of a user's kernel: blocks may have any dimensions but at least one whole warp; the scope is the
// system, or the GPU if the group has only one; every wait has a time-out of its own.
template <class Place>
class multi_grid_policy_at : public cuda_operations<ptx::scope::system>, public Place {
  using operations = cuda_operations<ptx::scope::system>;

 public:
  using word = operations::word;
  static constexpr unsigned polls_per_look = 4096;
  static constexpr bool observes = false;  // keeps what it sees of the waits in the group's addresses

  __device__ __forceinline__ multi_grid_policy_at(std::uint32_t state, const multi_grid_handle& handle)
      : state_(state), handle_(handle) {}

  __device__ __forceinline__ std::uint32_t state() const { return state_; }
  __device__ __forceinline__ bool leader() const {
    return (state_ & (multi_grid_state::asks | multi_grid_state::tells)) != 0;
  }

  // Also used for blocks of one warp: the barrier of 32 threads takes 14 cycles, and a branch around it would
  // take more.
  __device__ __forceinline__ void sync() const { __syncthreads(); }
  // The calling thread's number among those of its block that take part, and how many these are.
  __device__ __forceinline__ static unsigned thread() {
    return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  }
  __device__ __forceinline__ static unsigned threads() { return blockDim.x * blockDim.y * blockDim.z; }

  using verdict = told_by_barrier;
  using addresses = multi_grid_addresses;
  using relay_addresses = multi_grid_relay_addresses;
  static constexpr unsigned words_of_lane = 1;  // that it polls
  // 0: the handle can be used.
  __device__ __forceinline__ static word why_unknown(const multi_grid_handle& handle) {
    return handle.version ^ multi_grid_handle::this_version;
  }

  __device__ __forceinline__ bool in_team() const { return (state_ & multi_grid_state::in_team) != 0; }
  __device__ __forceinline__ void fence_release_system() const {
    if ((state_ & multi_grid_state::alone) != 0) ptx::fence_release<ptx::scope::gpu>();
    else ptx::fence_release<ptx::scope::system>();
  }

  // Returns 0 if given up. A variable that lived across iterations of the outer loop would make the compiler
  // reconverge the warp at every poll, so the state of a long wait is kept in the block's record.
  template <polling Loop, unsigned N, class Words>
  __device__ __forceinline__ unsigned wait_words(word epoch, Words lane_words) const {
    const polled_word<word> w = lane_words(0);
    for (;;) {
#pragma unroll 1
      for (unsigned polls = 0; polls < polls_per_look; ++polls)
        if (operations::template all_reached<Loop, N>([&](unsigned) { return w; })) return 1;
      if (gives_up(epoch)) return 0;
    }
  }
  // Waits until each lane's word is reached, for either algorithm; the caller then acquires with
  // fence_polled_system(). Returns not 0 if given up, after it has reported that.
  __device__ __forceinline__ unsigned await(word* polled, word target, word epoch) const {
    return await_by<polling::inbox>(polled, target, epoch);
  }
  template <polling Loop>
  __device__ __forceinline__ unsigned await_by(word* polled, word target, word epoch) const {
    unsigned gave_up = 0;
    if (wait_words<Loop, 1>(epoch, [&](unsigned) { return polled_word<word>{polled, target}; }) == 0) {
      gave_up = 1;
      report_given_up();
    }
    return gave_up;
  }
  // Waits until here() holds in every lane; 0 if given up, after that was reported. Each kind of loop uses
  // another vote instruction, as in all_reached().
  template <polling Loop = polling::quiet, class Here>
  __device__ __forceinline__ unsigned wait_each(word epoch, Here here) const {
    for (;;) {
#pragma unroll 1
      for (unsigned polls = 0; polls < polls_per_look; ++polls)
        if (Loop == polling::sums ? __any_sync(~0u, !here()) == 0 : __ballot_sync(~0u, here()) == ~0u)
          return 1;
      if (ends_waiting(epoch)) return 0;
    }
  }
  // Of a wait by single looks: whether it is to end, after that was reported.
  __device__ __forceinline__ bool ends_waiting(word epoch) const {
    if (!gives_up(epoch)) return false;
    report_given_up();
    return true;
  }

 protected:
  __device__ __forceinline__ void report_given_up() const {
    if (!is_first_lane()) return;
    volatile multi_grid_block& mine = record();
    report_and_stop(handle_, mine,
                    others_gave_up(mine) ? multi_grid_report::followed : multi_grid_report::timed_out,
                    handle_.blocks);
  }
  // Read anew where it is needed, so that no register holds it meanwhile.
  __device__ __forceinline__ static unsigned lane_number() {
    unsigned mine;
    asm volatile("mov.u32 %0, %%laneid;" : "=r"(mine));
    return mine;
  }
  __device__ __forceinline__ static bool is_first_lane() { return lane_number() == 0; }
  // The block's record. Its address is computed anew at every look, so that it is not kept in registers
  // during the kernel's own work.
  __device__ __forceinline__ volatile multi_grid_block& record() const {
    unsigned number = Place::block();
    asm volatile("" : "+r"(number));
    return handle_.records[number];
  }
  __device__ __forceinline__ static bool others_gave_up(const volatile multi_grid_block& mine) {
    return *static_cast<volatile word*>(mine.watched) != 0;
  }

  // Whether a long wait is to end: others gave up, or its time is over. The first look at an epoch starts its
  // clock. The first lane decides for the team.
  __device__ __forceinline__ bool gives_up(word epoch) const {
    word over = 0;
    if (is_first_lane()) {
      volatile multi_grid_block& mine = record();
      const bool others_did = others_gave_up(mine);
      const word now = static_cast<word>(ptx::global_time_ns() >> 20);
      if (mine.looked_at != epoch) {
        mine.looked_at = epoch;
        mine.since = now;
        mine.late = others_did ? 1 : 0;
      }
      const word patience = epoch == first_gpu_epoch + 1 ? mine.first_patience : mine.patience;
      over = others_did || now - mine.since > patience ? 1 : 0;
    }
    return operations::broadcast(over) != 0;
  }

  std::uint32_t state_;
  const multi_grid_handle& handle_;
};

class multi_grid_policy : public multi_grid_policy_at<whole_grid> {
 public:
  using multi_grid_policy_at::multi_grid_policy_at;
};

// The same for a kernel that provides a word of shared memory.
class multi_grid_policy_with_word : public multi_grid_policy {
 public:
  using multi_grid_policy::multi_grid_policy;
  using verdict = told_in_word;
};

// The same for some warps of each block, while the others go their own way.
template <class Who>
class multi_grid_policy_of : public multi_grid_policy {
 public:
  using multi_grid_policy::multi_grid_policy;
  using verdict = told_among<Who>;
  __device__ __forceinline__ void sync() const { Who::sync(); }
  __device__ __forceinline__ static unsigned thread() { return Who::thread(); }
  __device__ __forceinline__ static unsigned threads() { return Who::threads; }
};

}}}  // namespace mgsync::v1::algorithm
