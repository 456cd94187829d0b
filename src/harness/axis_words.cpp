#include "src/harness/axis_words.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/base/comma_list.hpp"
#include "src/base/errors.hpp"
#include "src/base/units.hpp"

namespace mgsync {
namespace {

std::vector<std::string_view> split(std::string_view text, std::string_view at) {
  std::vector<std::string_view> parts;
  for (std::size_t end = text.find(at); end != std::string_view::npos; end = text.find(at)) {
    parts.push_back(text.substr(0, end));
    text.remove_prefix(end + at.size());
  }
  parts.push_back(text);
  return parts;
}

// "4096", "1x32": whole numbers; nothing for other words.
std::optional<std::vector<std::uint64_t>> numbers_in(std::string_view word) {
  std::vector<std::uint64_t> all;
  for (const auto part : split(word, "x")) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value);
    if (error != std::errc{} || end != part.data() + part.size()) return std::nullopt;
    all.push_back(value);
  }
  return all;
}

// One of a declaration's words: itself, or "1 to 64", "1x1 to 32x1024", "256 to 51200 in steps of 256".
bool covers(std::string_view item, std::string_view word) {
  const auto steps = split(item, " in steps of "), ends = split(steps.front(), " to ");
  if (ends.size() != 2) return item == word;
  const auto least = numbers_in(ends[0]), most = numbers_in(ends[1]), value = numbers_in(word);
  if (!value || value->size() != least->size()) return false;
  const auto step = steps.size() > 1 ? numbers_in(steps[1])->front() : 1;
  for (std::size_t i = 0; i < value->size(); ++i)
    if ((*value)[i] < (*least)[i] || (*value)[i] > (*most)[i] || ((*value)[i] - (*least)[i]) % step != 0)
      return false;
  return true;
}

// What a declaration says that members of this kind take: "all; GPUs: spin, yield" is all, and on GPUs spin
// and yield.
std::vector<std::string_view> accepted_by(const axis_declaration& axis, topology::device device) {
  std::vector<std::string_view> all;
  for (auto group : split(axis.accepted, "; ")) {
    if (const auto colon = group.find(": "); colon != std::string_view::npos) {
      const bool of_gpus = group.substr(0, colon).find("GPU") != std::string_view::npos;
      if (of_gpus != (device == topology::device::gpu)) continue;
      group.remove_prefix(colon + 2);
    }
    for (const auto item : split(group, ", "))
      if (std::ranges::find(all, item) == all.end()) all.push_back(item);
  }
  return all;
}

bool takes(std::span<const std::string_view> items, std::string_view word) {
  return std::ranges::any_of(items, [word](const auto item) { return covers(item, word); });
}

// "5ms" of an axis in us is "5000"; other words as they are.
std::string in_its_unit(const axis_declaration& axis, const std::string& word) {
  if (axis.unit.empty()) return word;
  const auto value = whole_in_unit(word, axis.unit);
  return value ? std::to_string(*value) : word;
}

void check(const axis_declaration& axis, const study_request& asked, const std::vector<std::string>& typed) {
  if (axis.counts == word_count::none) return;
  std::string option(axis.name);
  std::ranges::replace(option, '_', '-');
  if (axis.counts == word_count::one && typed.size() != 1)
    throw usage_error(fmt::format("--{} takes one word; accepted: {}", option, accepted_text(axis)));
  if (axis.read != nullptr) return axis.read(asked);
  const bool gpus = asked.device == topology::device::gpu;
  const auto mine = accepted_by(axis, asked.device),
             others = accepted_by(axis, gpus ? topology::device::host : topology::device::gpu);
  for (const auto& word : typed) {
    const auto value = in_its_unit(axis, word);
    if (takes(mine, value)) continue;
    if (!takes(others, value))
      throw usage_error(fmt::format("--{} is '{}'; accepted: {}", option, word, accepted_text(axis)));
    throw usage_error(fmt::format(
        "--{} {} is for {}, and the members here are {}; accepted for them: {}", option, word,
        gpus ? "host threads" : "GPUs", gpus ? "GPUs" : "host threads",
        mine.empty() ? fmt::format("no --{}", option) : fmt::format("{}", fmt::join(mine, ", "))));
  }
}

}  // namespace

std::string accepted_text(const axis_declaration& axis) {
  return axis.unit.empty() ? std::string(axis.accepted)
                           : fmt::format("{}, in {} or with a unit of its own", axis.accepted, axis.unit);
}

void settle_axes(study_request& asked, std::span<const axis_declaration> axes, const typed_words& typed) {
  for (const auto& axis : axes) {
    auto& words = asked.words[std::string(axis.name)];
    if (const auto found = typed.find(axis.name); found != typed.end()) {
      words.clear();
      for (const auto& word : found->second) words.push_back(in_its_unit(axis, word));
      asked.typed.emplace(axis.name);
      continue;
    }
    const auto mine = accepted_by(axis, asked.device),
               others = accepted_by(axis, asked.device == topology::device::gpu ? topology::device::host
                                                                                : topology::device::gpu);
    words.clear();
    for (const auto word : split_at_commas(axis.defaults))
      if (axis.read != nullptr || takes(mine, word) || !takes(others, word)) words.emplace_back(word);
  }
  for (const auto& axis : axes)
    if (const auto found = typed.find(axis.name); found != typed.end()) check(axis, asked, found->second);
}

bool asks_for_answer(const study& of, const typed_words& typed) {
  return of.answer != nullptr && std::ranges::any_of(of.axes, [&](const auto& axis) {
           return axis.defaults.empty() && typed.contains(axis.name);
         });
}

void check_words(std::string_view option, std::span<const std::string> words,
                 std::span<const std::string_view> accepted) {
  for (const auto& word : words)
    if (std::ranges::find(accepted, word) == accepted.end())
      throw usage_error(fmt::format("--{} is '{}'; accepted: {}", option, word, fmt::join(accepted, ", ")));
}

}  // namespace mgsync
