#include "src/results/frame/selection.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/base/comma_list.hpp"
#include "src/base/errors.hpp"

namespace mgsync {
namespace {

std::optional<std::string> word_of_point(const point& p, std::string_view name) {
  if (name == "subject") return subject_of(p);
  if (name == "shape") return format_shape(p);
  if (name == "members") return fmt::format("{}", p.members);
  if (name == "ranks") return fmt::format("{}", p.ranks);
  if (name == "device") return std::string(to_string(p.device));
  if (name == "study") return p.study;
  if (name == "placement") return p.placement;
  const axis* found = p.find(name);
  return found == nullptr ? std::nullopt : std::optional(text_of(*found));
}

bool is_one_of(const std::string& word, std::string_view words) {
  while (true) {
    const auto slash = words.find('/');
    const auto one = words.substr(0, slash);
    if (word == one || (word.starts_with(one) && word.size() > one.size() && word[one.size()] == ':'))
      return true;
    if (slash == std::string_view::npos) return false;
    words.remove_prefix(slash + 1);
  }
}

}  // namespace

std::vector<result> selected(std::vector<result> all, std::string_view where) {
  for (const auto part : split_at_commas(where)) {
    const auto equals = part.find('=');
    if (equals == std::string_view::npos || equals == 0 || equals + 1 == part.size())
      throw usage_error(fmt::format(
          "--where has '{}'; accepted: NAME=WORD or NAME=WORD/WORD (NAME!=WORD: all others), joined "
          "by commas",
          part));
    const bool others = part[equals - 1] == '!';
    const auto name = part.substr(0, equals - (others ? 1 : 0)), words = part.substr(equals + 1);
    if (std::none_of(all.begin(), all.end(),
                     [&](const result& r) { return word_of_point(r.point, name).has_value(); })) {
      std::set<std::string> axes;
      for (const auto& r : all)
        for (const auto& one : r.point.axes) axes.insert(one.name);
      throw usage_error(fmt::format("--where has '{}', which no result has; accepted: subject, shape, "
                                    "members, ranks, device, study, placement{}",
                                    name, axes.empty() ? "" : fmt::format(", {}", fmt::join(axes, ", "))));
    }
    std::vector<std::string> there;
    for (const auto& r : all)
      if (const auto word = word_of_point(r.point, name);
          word && std::find(there.begin(), there.end(), *word) == there.end())
        there.push_back(*word);
    std::erase_if(all, [&](const result& r) {
      const auto word = word_of_point(r.point, name);
      return !word || is_one_of(*word, words) == others;
    });
    if (all.empty())
      throw usage_error(fmt::format("--where has '{}', which leaves no result; accepted of {}: {}", part,
                                    name, fmt::join(there, ", ")));
  }
  return all;
}

}  // namespace mgsync
