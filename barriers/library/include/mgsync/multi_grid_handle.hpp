// What a kernel is passed to join a multi-GPU grid: made by mgsync::multi_grid (or the C interface), for one
// GPU and one number of blocks, and good for any number of launches until the group is reset or goes. Plain
// data, C++17.
#pragma once

#include <mgsync/version.h>

#include "barriers/parts/algorithm/integers.hpp"

namespace mgsync { inline namespace v1 {

struct wait_trace;  // barriers/parts/recorder/wait_board.hpp

// What the host learns of a GPU's kernel that could not synchronize. There is one per GPU, in host memory.
// The blocks of a GPU decide who writes it by a word in that GPU's memory, because an atomic operation of a
// GPU on host memory need not be atomic for other GPUs (CUDA's hostNativeAtomicSupported).
struct multi_grid_report {
  // Of several reports the host takes the one with the greatest value.
  static constexpr std::uint32_t none = 0, followed = 1, timed_out = 2, launch_failed = 3, wrong_grid = 4,
                                 stale_handle = 5, two_groups = 6, aborted = 7, other_version = 8;

  std::uint32_t what;
  std::uint32_t rank;      // the GPU whose kernel it was
  std::uint32_t launched;  // blocks of its grid
  std::uint32_t made_for;  // blocks that its handle was made for
};

// What is kept of a block in its GPU's memory. The epoch outlives the launch: the next launch goes on from
// it. Values that only a long wait needs lie here, where they take no registers.
struct alignas(16) multi_grid_block {
  std::uint32_t epoch;      // of the last barrier that the block came to in time, set as it leaves the kernel
  std::uint32_t looked_at;  // epoch of the last barrier that took long
  std::uint32_t since;      // when it was found to take long, in 2^20 ns
  std::uint16_t late;       // 1: others had given up by then
  std::uint16_t stop_count;      // GPUs of the group
  std::uint32_t patience;        // of one wait, in 2^20 ns; all ones: for ever
  std::uint32_t first_patience;  // of the first barrier of these flags
  std::uint32_t generation;      // of the handles that fit
  std::uint32_t*
      told;  // a word of the process in host memory: not 0 once one of its kernels could not synchronize
  multi_grid_report* report;    // the GPU's; null: nobody reads it
  std::uint32_t* const* stops;  // every GPU's word that is not 0 once somebody gave up, this GPU's first
  std::uint32_t* watched;  // this GPU's own word of these, which a long wait reads; null as a group is made:
                           // nobody looks
  std::uint32_t open;      // 1: a group object of the block is in use
  std::uint32_t claimed;   // of block 0: 1 once a block writes the report
  wait_trace* trace;       // its GPU's, of traced groups; null: none is kept
};
static_assert(sizeof(multi_grid_block) == 80);

// At most 128 bytes, which are copied to every kernel at its launch. Of up to `gpus_inside` GPUs it holds the
// addresses of all flags; of more, that of a table in the GPU's memory, which a kernel reads once as it
// joins. What sync() reads in every round are whole words: constants that instructions name directly.
struct multi_grid_handle {
  static constexpr unsigned gpus_inside = 8;         // of those whose flags the handle itself names
  static constexpr unsigned most_gpus = 16;          // of those that multi_grid.cuh is for
  static constexpr unsigned most_gpus_of_many = 96;  // of those that many_gpus.cuh is for
  static constexpr std::uint32_t none = 0, relay = 1, counter = 2;  // algorithms
  // By how many cycles sync(), which comes to its first poll later, holds it back less than the algorithm
  // alone where all blocks arrive at one counter.
  static constexpr std::uint32_t hold_less_at_one_counter = 60;
  // The version of the layout that the reader was compiled for. Of a handle with another `version` nothing
  // may be read but, if it has one, `refused`: these two have the same places in all versions from 2 on.
  static constexpr std::uint32_t this_version = 0x6d670000u + MGSYNC_ABI_VERSION;
  // The same where a group has more than most_gpus: kernels of multi_grid.cuh are to refuse it.
  static constexpr std::uint32_t many_bit = 0x80000000u, many_version = this_version ^ many_bit;

  std::uint32_t version = 0;            // this_version or many_version, once it is the handle of a group
  std::uint32_t generation = 0;         // counts the group's resets
  std::uint32_t* refused = nullptr;     // in host memory: the version of a kernel that had to refuse a handle
  std::uint32_t* own = nullptr;         // this GPU's own flags: those of GPU `rank`
  multi_grid_block* records = nullptr;  // one per block of this GPU
  std::uint32_t rank = 0;               // this GPU's
  std::uint32_t gpus = 0;
  std::uint32_t blocks = 0;        // of every GPU
  std::uint32_t counters = 1;      // a power of two
  std::uint32_t counter_bits = 0;  // log2 of counters
  std::uint32_t sync_hold = 0;     // cycles before the first poll in sync()
  std::uint32_t out_step = 0;  // distance in words between two words that a lane writes in one GPU's flags
  std::uint16_t gpus_inverse = 0;  // lane * gpus_inverse >> 12 is lane / gpus
  unsigned char algorithm = none;
  unsigned char copies = 1;  // of the inboxes, or of the counters: a power of two
  union {
    std::uint32_t* parts[gpus_inside] = {};  // the flags of every GPU, as this GPU addresses them
    std::uint32_t* const* table;             // the same in this GPU's memory, of more GPUs
  };
};
static_assert(sizeof(multi_grid_handle) <= 128, "launches copy it, and a kernel reads it as it starts");

}}  // namespace mgsync::v1
