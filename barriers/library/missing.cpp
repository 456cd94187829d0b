#include "barriers/library/missing.hpp"

#include <algorithm>
#include <utility>

#include "barriers/parts/algorithm/layout.hpp"
#include "src/base/filled.hpp"

namespace mgsync::library {

namespace {

// "17, 18, 40 and 3 more".
std::string listed(const std::vector<unsigned>& blocks) {
  constexpr std::size_t most = 8;
  std::string text;
  for (std::size_t i = 0; i < std::min(blocks.size(), most); ++i)
    text += (i == 0 ? "" : ", ") + std::to_string(blocks[i]);
  if (blocks.size() > most) text += filled(" and {} more", blocks.size() - most);
  return text;
}

}  // namespace

std::uint32_t epoch_of_other(std::uint32_t own, const spoken& mine, const spoken& theirs) {
  if (theirs.epoch == mine.epoch) return own + (theirs.quiet - mine.quiet);
  return algorithm::reached(theirs.epoch, mine.epoch) ? theirs.epoch : own - 1;
}

absence who_is_missing(const std::vector<arrivals>& all) {
  const std::uint32_t* furthest = nullptr;
  for (const auto& a : all)
    for (const auto& epoch : a.epochs)
      if (furthest == nullptr || algorithm::reached(epoch, *furthest)) furthest = &epoch;
  if (furthest == nullptr) return {"no kernel was waiting", {}, false};
  std::string late;
  std::vector<absent_grid> who;
  for (const auto& a : all) {
    std::vector<unsigned> blocks;
    for (unsigned b = 0; b < a.epochs.size(); ++b)
      if (!algorithm::reached(a.epochs[b], *furthest)) blocks.push_back(b);
    if (blocks.empty()) continue;
    late += (late.empty() ? "" : "; ") + a.who;
    who.push_back({a.grid_rank, a.in_blocks ? blocks : std::vector<unsigned>{}});
    if (!a.in_blocks) continue;
    if (blocks.size() == a.epochs.size()) late += filled(": all {} blocks", blocks.size());
    else late += filled(": block{} {}", blocks.size() == 1 ? "" : "s", listed(blocks));
  }
  const std::uint32_t count = *furthest - algorithm::first_gpu_epoch;
  if (late.empty())
    return {filled("barrier {}: all arrived in the end, but too late", count), {}, count == 1};
  return {filled("barrier {}: not arrived: {}", count, late), std::move(who), count == 1};
}

}  // namespace mgsync::library
