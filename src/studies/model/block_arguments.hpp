// How the probes of sums in shared memory are given their numbers and give back what they came to. C++17.
#pragma once

#include <cstddef>
#include <cstdint>

namespace mgsync::model {

inline constexpr std::uint32_t most_numbers = 8192;  // 64 KiB of doubles
inline constexpr std::uint32_t most_workers = 1024;
inline constexpr std::uint32_t most_passes = 64;
inline constexpr std::uint32_t numbers_at =
    most_passes;  // words of 64 bits before the numbers: each pass's sum
inline constexpr std::size_t shared_bytes = (most_numbers + most_workers) * sizeof(double);

// The probe's word, where looped chains have their turns: how many numbers, and by how many threads.
constexpr std::uint32_t word_of(std::uint32_t count, std::uint32_t workers) { return count | workers << 16; }

}  // namespace mgsync::model
