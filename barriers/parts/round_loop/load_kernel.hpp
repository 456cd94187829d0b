// The kernels that make load beside a barrier, in a stream of their own. They read host memory only where
// that is the load, because a system fence waits for the reads of host memory that other SMs have in flight.
#pragma once

#include <cstddef>
#include <cstdint>

#include "barriers/load.hpp"
#include "barriers/parts/algorithm/layout.hpp"

namespace mgsync::round_loop {

// The phases of a load, written by the host: running but not counted, counted, to end.
inline constexpr std::uint32_t load_settles = 0, load_counts = 1, load_ends = 2;

// What one block did while the phase was load_counts. In the GPU's own memory; read by the host after the
// kernel.
struct load_record {
  std::uint64_t bytes;
  std::uint64_t began_ns;  // global timer; 0: it never counted
  std::uint64_t ended_ns;
  std::uint32_t sm;
  std::uint32_t used;  // no meaning: depends on all reads, so that the compiler keeps them
};

// One launch on one GPU. Trivially copyable: it is a kernel parameter.
struct load_run {
  std::byte* targets[algorithm::most_gpus];  // what is read or written, in turn, as this GPU addresses it
  std::uint32_t count;                       // of the targets
  std::size_t bytes;                         // of each
  const std::uint32_t* host_word;            // host memory, for host reads
  const std::uint32_t* phase;                // this GPU's memory
  std::uint32_t* running;                    // this GPU's memory: how many blocks have begun
  load_record* records;                      // by block
  std::uint64_t budget_ns;                   // ends it, whatever the phase
};

inline constexpr unsigned most_load_threads = 1024;

// The kernel of a kind, which takes a load_run.
const void* load_kernel(traffic);

}  // namespace mgsync::round_loop
