// The check (docs/method.md, "Is it a barrier?") as values: what is published, who is read, who is late. One
// source for host loops and kernels. C++17, standard library only. Everything here goes by the number of the
// round in the life of the barrier object, so that no round of a check is the repetition of another, however
// many launches it has. An arrival that a barrier does not wait for shows in the rounds in which it is the
// last one. So in every round exactly one worker is held back, and the workers take turns.
#pragma once

#include <cstdint>

#include "barriers/parts/algorithm/policy.hpp"

namespace mgsync::round_loop {

inline constexpr unsigned words_per_line = 32;     // 128 bytes
inline constexpr unsigned payload_lines = 4;       // per worker and slot
inline constexpr unsigned most_phases_read = 128;  // per worker and round
inline constexpr unsigned early_every = 4;         // rounds between two early arrivals of a positive control
inline constexpr unsigned long_hold_every = 16;    // rounds between two long holds
inline constexpr std::uint64_t short_hold_ns = 3'000;  // more than a fast barrier takes, and the others' skew
inline constexpr std::uint64_t long_hold_ns = 20'000;  // long against any barrier, short against a check
inline constexpr std::uint64_t skew_unit_ns = 100;

// The phase of an object's first checked round: near the end of 32 bits, so that every check crosses the
// wrap.
inline constexpr std::uint32_t start_phase = 0xffffff00u;

// Mixes two values into one of 32 bits (the finalizer of MurmurHash3).
MGSYNC_HD constexpr std::uint32_t mix(std::uint32_t a, std::uint32_t b) {
  std::uint32_t h = a * 0x9e3779b9u ^ (b + 0x7f4a7c15u);
  h ^= h >> 16;
  h *= 0x85ebca6bu;
  h ^= h >> 13;
  h *= 0xc2b2ae35u;
  return h ^ (h >> 16);
}

// What word `word` of the payload of worker `worker` holds in `phase`: fresh in every phase.
MGSYNC_HD constexpr std::uint32_t payload_word(std::uint32_t phase, std::uint32_t worker,
                                               std::uint32_t word) {
  return mix(phase, worker * 1024u + word);
}

// Whether the late worker of this round is held back for long.
MGSYNC_HD constexpr bool holds_long(std::uint32_t round) {
  return round % long_hold_every == long_hold_every - 1;
}
MGSYNC_HD constexpr std::uint64_t hold_ns_of(std::uint32_t round) {
  return holds_long(round) ? long_hold_ns : short_hold_ns;
}

// The worker that is held back in this round. In `workers` successive short holds every worker has one turn,
// and so in as many long ones; the order changes each time, and with the seed. For fewer than 2^20 workers.
MGSYNC_HD constexpr unsigned late_worker(std::uint32_t seed, std::uint32_t round, unsigned workers) {
  const std::uint32_t longs = round / long_hold_every;
  const std::uint32_t turn = holds_long(round) ? longs : round - longs;
  const std::uint32_t key = mix(mix(seed, turn / workers), holds_long(round) ? 1 : 0);
  // The distances from 2^20 to eight greater primes: a prime step has no factor in common with the number of
  // workers.
  constexpr std::uint64_t to_a_prime = 0x5539332521190d07u;
  const std::uint64_t step = (1u << 20) + (to_a_prime >> (8 * (key & 7)) & 0xff);
  return static_cast<unsigned>((turn % workers * step + (key >> 3)) % workers);
}

// `steps` workers further on; fewer steps than there are workers.
MGSYNC_HD constexpr unsigned after(unsigned worker, unsigned steps, unsigned workers) {
  const unsigned sum = worker + steps;
  return sum >= workers ? sum - workers : sum;
}

// What a worker reads in a round, for 2 workers or more. Computed once a round: if all warps of an SM did
// these divisions beside every read, they would take longer than the reads.
struct reading {
  unsigned late = 0;        // the worker that is held back
  unsigned first = 0;       // where the rotating sample begins, in steps
  unsigned payload_of = 0;  // whose payload is read: one other worker's
};

// Whose payload a worker reads in a round (one other worker).
MGSYNC_HD constexpr unsigned payload_target(unsigned self, unsigned workers, std::uint32_t round) {
  return after(self, 1 + mix(round, self + 77u) % (workers - 1), workers);
}
// To whom one of 2 or more pushes in a phase: to another one each, all of the others in turn.
MGSYNC_HD constexpr unsigned push_target(unsigned from, unsigned all, std::uint32_t phase) {
  return after(from, all == 2 ? 1 : 1 + phase % (all - 1), all);
}
MGSYNC_HD constexpr reading reading_of(std::uint32_t seed, unsigned self, unsigned workers,
                                       std::uint32_t round) {
  return {late_worker(seed, round, workers), mix(round, self) % (workers - 1),
          payload_target(self, workers, round)};
}

// How many other workers' phases a worker reads in a round, and whose it reads as its i-th: all others where
// they are few, else the late worker's and a rotating sample.
MGSYNC_HD constexpr unsigned read_count(unsigned workers) {
  return workers - 1 < most_phases_read ? workers - 1 : most_phases_read;
}
MGSYNC_HD constexpr unsigned read_target(const reading& turn, unsigned self, unsigned workers, unsigned i) {
  if (workers - 1 <= most_phases_read) return after(self, 1 + i, workers);
  if (i == 0 && turn.late != self) return turn.late;
  return after(self, 1 + after(turn.first, i, workers - 1), workers);
}

// Random skew of every arrival, in units of skew_unit_ns (0 in 3 of 4 rounds, else 1..5): well below a short
// hold.
MGSYNC_HD constexpr unsigned skew(std::uint32_t seed, std::uint32_t round, unsigned worker) {
  const std::uint32_t h = mix(mix(seed, round), worker);
  return h % 4 != 0 ? 0 : 1 + (h >> 8) % 5;
}

// Whether a positive control enters the barrier before it publishes, in this round.
MGSYNC_HD constexpr bool arrives_early(std::uint32_t round) { return round % early_every == early_every - 1; }

}  // namespace mgsync::round_loop
