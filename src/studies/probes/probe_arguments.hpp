// What a probe's kernel is given and what it writes down: shared by the host that launches it and the
// kernels.
#pragma once

#include <cstdint>

namespace mgsync::probes {

// One warp's two reads of its SM's cycle counter around one pass of a chain. The difference of reads of two
// warps means something only where both ran on one SM. `end` is 0 where the chain's last value was `never`:
// no sample.
struct stamp {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

// A word per thread and a second one: what chains start from. In memory, so that the compiler can prove
// nothing of it.
inline constexpr std::uint32_t input_words_per_thread = 2;

// In memory, so that it is loaded once: arguments would be fetched anew between the clock reads.
struct held_words {
  std::uint32_t never = 0;  // a value that no chain ends with
  std::uint32_t loops = 1;  // looped chains: turns of the loop
};

struct arguments {
  const std::uint32_t* input = nullptr;  // [2][threads of the block]
  std::uint32_t* output =
      nullptr;                   // [threads of the block]: the chain's last value, so that it is not removed
  stamp* stamps = nullptr;       // [passes][warps of the grid]
  std::uint32_t* sms = nullptr;  // [2][warps of the grid]: the SM at the start and at the end
  const held_words* held = nullptr;  // what is kept in registers across the chain
  std::uint64_t* memory = nullptr;   // what probes of memory chase through; else unused
  std::uint32_t passes = 1;          // of the chain; the first meets cold instruction caches
  std::uint32_t window_log2_ns =
      0;  // passes start together at multiples of 2^this of the global timer; 0: at once
  std::uint32_t lanes = 0xffffffffu;  // which lanes of a warp take part
  std::uint32_t words = 0;            // what the family says
  std::uint32_t together =
      0;  // not 0: the warps of a block start each pass together, where the probe is of whole blocks
};

}  // namespace mgsync::probes
