#include <charconv>

#include <fmt/format.h>

#include "src/studies/reduction/gpu_sums.hpp"

namespace mgsync::reduction {

std::string to_string(const reading& r) {
  std::string_view how;
  for (const auto& [one, name] : all_loads)
    if (one == r.how) how = name;
  return fmt::format("{}:{}x{}{}", how, r.threads, r.blocks_per_sm, r.in_chunks ? ":chunks" : "");
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
  const std::string_view rest(blocks.ptr, static_cast<std::size_t>(end - blocks.ptr));
  if (!rest.empty() && rest != ":chunks") return std::nullopt;
  found.in_chunks = !rest.empty();
  if (found.threads < 32 || found.threads > 1024 || found.threads % 32 != 0 || found.blocks_per_sm < 1 || found.blocks_per_sm > 32) return std::nullopt;
  return found;
}

reading best_reading(gpu_way how, value_type, std::size_t bytes) {
  if (how == gpu_way::word_read) return {loads::word1, 1024, 2, false};
  if (how == gpu_way::bulk) return {loads::bulk4, 256, 2, false};
  const bool may_choose = how == gpu_way::read || how == gpu_way::automatic || how == gpu_way::last;
  if (!may_choose) return {loads::vector4, 512, 2, false};
  if (how == gpu_way::automatic && bytes <= (std::size_t{32} << 10)) return {loads::vector4, 512, 1, false};
  return {loads::vector4, 512, 2, false};
}

}  // namespace mgsync::reduction
