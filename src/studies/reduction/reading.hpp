// How the blocks of a GPU read the numbers that they add up. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace mgsync::reduction {

// How numbers are loaded: single words, vectors of 16 bytes, or bulk copies into shared memory. The number is
// how many loads are in flight.
enum class loads { word1, vector1, vector2, vector4, vector8, bulk4, bulk8 };
inline constexpr std::pair<loads, std::string_view> all_loads[] = {
    {loads::word1, "word1"},     {loads::vector1, "vector1"}, {loads::vector2, "vector2"},
    {loads::vector4, "vector4"}, {loads::vector8, "vector8"}, {loads::bulk4, "bulk4"},
    {loads::bulk8, "bulk8"}};
inline constexpr unsigned bulk_tile_bytes = 16384;
inline constexpr std::size_t least_bytes_for_bulk = std::size_t{64} << 20;
constexpr bool is_bulk(loads how) { return how == loads::bulk4 || how == loads::bulk8; }
// The bytes that a block reads in one turn of its loop.
constexpr std::size_t tile_bytes_of(loads how, unsigned threads, std::size_t number_bytes) {
  switch (how) {
  case loads::word1: return threads * number_bytes;
  case loads::vector1: return threads * std::size_t{16};
  case loads::vector2: return threads * std::size_t{32};
  case loads::vector4: return threads * std::size_t{64};
  case loads::vector8: return threads * std::size_t{128};
  default: return bulk_tile_bytes;
  }
}
constexpr std::size_t shared_bytes_of(loads how) {
  return how == loads::bulk4 ? 4 * bulk_tile_bytes : how == loads::bulk8 ? 8 * bulk_tile_bytes : 0;
}

// How many blocks there are: as many as have something to read (`needed`); or, to measure what one of them
// reads and what combining all of them costs, one, or all that are resident at once.
enum class how_many { needed, one, all };

// How the blocks share the reading. As a word: "vector4:512x2", "vector4:512x2:chunks", "vector4:1024x1:one",
// "vector4:256x2:all".
struct reading {
  loads how = loads::vector4;
  unsigned threads = 512;
  unsigned blocks_per_sm = 2;  // at most; fewer where there are fewer tiles
  bool in_chunks = false;      // a block's tiles are adjacent; else tiles are dealt to the blocks in turn
  how_many blocks = how_many::needed;
#if __cplusplus >= 202002L  // the cubin of vendor_sums.cu is C++17
  bool operator==(const reading&) const = default;
#endif
};
std::string to_string(const reading&);
// The reading of that name; nothing where there is none.
std::optional<reading> reading_named(std::string_view word);

}  // namespace mgsync::reduction
