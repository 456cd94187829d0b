// How the probes of sums in shared memory get their numbers, and return their sums. C++17.
#pragma once

#include <cstddef>
#include <cstdint>

namespace mgsync::probes {

inline constexpr std::uint32_t most_numbers = 8192;  // of a sum: 64 KiB of doubles
// Of a loop alone: with 1024 threads 24 turns, so that three lengths are multiples of four turns, by which
// the compiler unrolls.
inline constexpr std::uint32_t most_numbers_of_a_loop = 24576;
inline constexpr std::uint32_t most_workers = 1024;
inline constexpr std::uint32_t most_passes = 64;
inline constexpr std::uint32_t numbers_at =
    most_passes;  // words of 64 bits before the numbers: each pass's sum
inline constexpr std::size_t shared_bytes = (most_numbers + most_workers) * sizeof(double);
inline constexpr std::size_t shared_bytes_of_a_loop = most_numbers_of_a_loop * sizeof(double);

// The word held_words::loops of these probes: how many numbers, and how many threads add them up.
constexpr std::uint32_t word_of(std::uint32_t count, std::uint32_t workers) { return count | workers << 16; }

}  // namespace mgsync::probes
