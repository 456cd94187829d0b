#include <charconv>

#include <fmt/format.h>

#include "src/studies/reduction/gpu_ways.hpp"

namespace mgsync::reduction {

std::string to_string(const reading& r) {
  std::string_view how;
  for (const auto& [one, name] : all_loads)
    if (one == r.how) how = name;
  return fmt::format("{}:{}x{}{}{}", how, r.threads, r.blocks_per_sm, r.in_chunks ? ":chunks" : "",
                     r.blocks == how_many::one   ? ":one"
                     : r.blocks == how_many::all ? ":all"
                                                 : "");
}

std::optional<reading> reading_named(std::string_view word) {
  reading found;
  const auto colon = word.find(':');
  bool known = false;
  for (const auto& [one, name] : all_loads)
    if (name == word.substr(0, colon)) found.how = one, known = true;
  if (!known || colon == std::string_view::npos) return std::nullopt;
  const char* at = word.data() + colon + 1;
  const char* const end = word.data() + word.size();
  const auto threads = std::from_chars(at, end, found.threads);
  if (threads.ec != std::errc{} || threads.ptr == end || *threads.ptr != 'x') return std::nullopt;
  const auto blocks = std::from_chars(threads.ptr + 1, end, found.blocks_per_sm);
  if (blocks.ec != std::errc{}) return std::nullopt;
  std::string_view rest(blocks.ptr, static_cast<std::size_t>(end - blocks.ptr));
  const auto takes = [&rest](std::string_view part) {
    const bool begins = rest.starts_with(part);
    if (begins) rest.remove_prefix(part.size());
    return begins;
  };
  found.in_chunks = takes(":chunks");
  if (takes(":one")) found.blocks = how_many::one;
  else if (takes(":all")) found.blocks = how_many::all;
  if (!rest.empty()) return std::nullopt;
  if (found.threads < 32 || found.threads > 1024 || found.threads % 32 != 0 || found.blocks_per_sm < 1 ||
      found.blocks_per_sm > 32)
    return std::nullopt;
  return found;
}

namespace {

// Measured on an H100 and an H200 (docs/studies/reduction.md): one block as long as it is sooner done than
// others are heard of; bulk copies reach most where there is enough to read for every SM to fill its ring
// several times; between them vectors, the fewer a thread the fewer bytes. Whole numbers are added up at half
// the bytes' cost and joined in a counter.
reading chosen(bool joins, value_type type, std::size_t bytes) {
  constexpr std::size_t one_kib = 1024, one_mib = 1024 * one_kib;
  if (bytes >= (joins ? 192 * one_mib : least_bytes_for_bulk)) return by_bulk_copies(type, bytes);
  if (bytes <= 16 * one_kib) return {loads::vector4, 256, 1};
  if (joins && bytes <= 32 * one_kib) return {loads::vector4, 512, 2};
  constexpr reading largest{loads::vector4, 512, 2};
  if (type == value_type::int32) {
    if (bytes <= 128 * one_kib) return {loads::vector1, 256, 1};
    if (bytes <= 2 * one_mib) return {loads::vector2, 256, 2};
    return bytes <= 8 * one_mib ? reading{loads::vector4, 256, 2} : largest;
  }
  if (joins && bytes <= 128 * one_kib) return {loads::vector4, 1024, 1, false, how_many::one};
  if (bytes <= (type == value_type::fp32 ? one_mib / 2 : one_mib)) return {loads::vector1, 256, 1};
  if (bytes <= 2 * one_mib) return {loads::vector2, 256, type == value_type::fp32 ? 2u : 1u};
  return bytes <= 4 * one_mib ? reading{loads::vector1, 512, 2} : largest;
}

}  // namespace

reading by_words(value_type, std::size_t) { return {loads::word1, 1024, 2}; }
reading by_bulk_copies(value_type, std::size_t) { return {loads::bulk4, 256, 2}; }
reading only_to_read(value_type type, std::size_t bytes) { return chosen(false, type, bytes); }
reading to_join_in_an_inbox(value_type type, std::size_t bytes) { return chosen(true, type, bytes); }

}  // namespace mgsync::reduction
