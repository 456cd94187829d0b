// A probe kernel's parameters and what it writes; shared by host and device code.
#pragma once

#include <cstdint>

namespace mgsync::probes {

// Kernels of a probe besides those of so many links: a loop over 256 of them; one link between clock reads
// that wait for its operands and its result (once; corrected where it is a region), and the twin of that,
// whose clock reads stand where the compiler leaves them; and a kernel under the probe's name alone.
inline constexpr int loop_256 = -256, once = -1, corrected = -2, as_compiled = -3, alone = 0;

// One warp's two reads of its SM's cycle counter around one pass of a chain. Reads of two warps can be
// compared only if both ran on the same SM. `end` is 0, and there is no sample, where the chain's last value
// was `never`.
struct stamp {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

// Two words per thread that chains start from. They are in memory, so that the compiler knows nothing about
// them.
inline constexpr std::uint32_t input_words_per_thread = 2;

// In memory, so that they are loaded once: kernel parameters would be loaded again between the clock reads.
struct held_words {
  std::uint32_t never = 0;  // a value that no chain ends with
  std::uint32_t loops = 1;  // for looped chains: turns of the loop
};

struct arguments {
  const std::uint32_t* input = nullptr;  // [2][threads of the block]
  std::uint32_t* output =
      nullptr;                   // [threads of the block]: the chain's last value, so that it is not removed
  stamp* stamps = nullptr;       // [passes][warps of the grid]
  std::uint32_t* sms = nullptr;  // [2][warps of the grid]: the SM at the start and at the end
  const held_words* held = nullptr;  // what is kept in registers across the chain
  std::uint64_t* memory = nullptr;   // what memory probes chase through; else unused
  std::uint32_t passes = 1;          // of the chain; the first meets cold instruction caches
  std::uint32_t window_log2_ns =
      0;  // passes start together at multiples of 2^this of the global timer; 0: at once
  std::uint32_t lanes = 0xffffffffu;  // which lanes of a warp take part
  std::uint32_t words = 0;            // its meaning depends on the probe family
  std::uint32_t together =
      0;  // not 0: the warps of a block start each pass together, where the probe is of whole blocks
};

}  // namespace mgsync::probes
