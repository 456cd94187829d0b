// The check (docs/method.md, "Is it a barrier?") as values: what is published, who is read, who is held
// back. One source for host loops and kernels. C++17, standard library only.
#pragma once

#include <cstdint>

#include "barriers/parts/algorithm/policy.hpp"

namespace mgsync::round_loop {

inline constexpr unsigned words_per_line = 32;       // 128 bytes
inline constexpr unsigned payload_lines = 4;         // per worker and slot
inline constexpr unsigned most_phases_read = 256;    // per worker and round
inline constexpr unsigned hold_every = 16;           // rounds between two hold-backs
inline constexpr unsigned early_every = 4;           // rounds between two early arrivals of a positive control

// A well mixed 32-bit value of two (the finalizer of MurmurHash3).
MGSYNC_HD constexpr std::uint32_t mix(std::uint32_t a, std::uint32_t b) {
  std::uint32_t h = a * 0x9e3779b9u ^ (b + 0x7f4a7c15u);
  h ^= h >> 16;
  h *= 0x85ebca6bu;
  h ^= h >> 13;
  h *= 0xc2b2ae35u;
  return h ^ (h >> 16);
}

// What word `word` of the payload of worker `worker` holds in `phase`: fresh in every phase.
MGSYNC_HD constexpr std::uint32_t payload_word(std::uint32_t phase, std::uint32_t worker, std::uint32_t word) {
  return mix(phase, worker * 1024u + word);
}

// Whose phase a worker reads as its i-th in a round: all others where they are few, else a rotating sample.
MGSYNC_HD constexpr unsigned read_count(unsigned workers) {
  return workers - 1 < most_phases_read ? workers - 1 : most_phases_read;
}
MGSYNC_HD constexpr unsigned read_target(unsigned self, unsigned workers, std::uint32_t round, unsigned i) {
  const unsigned start = workers - 1 <= most_phases_read ? 0 : mix(round, self) % (workers - 1);
  return (self + 1 + (start + i) % (workers - 1)) % workers;
}
// Whose payload a worker reads in a round (one other worker).
MGSYNC_HD constexpr unsigned payload_target(unsigned self, unsigned workers, std::uint32_t round) {
  return (self + 1 + mix(round, self + 77u) % (workers - 1)) % workers;
}

// Whether this round holds somebody back, and which worker: members in turn, their blocks in turn.
MGSYNC_HD constexpr bool holds_back(std::uint32_t round, unsigned member, unsigned members, unsigned block,
                                    unsigned blocks) {
  if (round % hold_every != hold_every - 1) return false;
  const std::uint32_t turn = round / hold_every;
  return turn % members == member && (turn / members) % blocks == block;
}

// Random skew before an arrival, in units of the caller's choice (0 in 3 of 4 rounds, else 1..15).
MGSYNC_HD constexpr unsigned skew(std::uint32_t seed, std::uint32_t round, unsigned worker) {
  const std::uint32_t h = mix(round ^ seed, worker);
  return h % 4 != 0 ? 0 : (h >> 8) % 16;
}

// Whether a positive control enters the barrier before it publishes, in this round.
MGSYNC_HD constexpr bool arrives_early(std::uint32_t round) { return round % early_every == early_every - 1; }

}  // namespace mgsync::round_loop
