#include "src/harness/axis.hpp"

#include <charconv>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/base/closest_word.hpp"
#include "src/base/comma_list.hpp"
#include "src/base/errors.hpp"
#include "src/base/units.hpp"

namespace mgsync {
namespace {

constexpr topology::device other_kind(topology::device kind) {
  return kind == topology::device::gpu ? topology::device::host : topology::device::gpu;
}

constexpr std::string_view plural(topology::device kind) {
  return kind == topology::device::gpu ? "GPUs" : "host threads";
}

std::vector<std::string> split(std::string_view text) {
  if (text.empty()) return {};
  const auto words = split_at_commas(text);
  return {words.begin(), words.end()};
}

void add_once(std::vector<std::string>& all, const std::string& one) {
  if (std::ranges::find(all, one) == all.end()) all.push_back(one);
}

bool takes(const numbers_in& range, std::uint64_t value) {
  if (!range.only.empty()) return std::ranges::find(range.only, value) != range.only.end();
  return value >= range.least && value <= range.most && (value - range.least) % range.step == 0;
}

}  // namespace

std::string text_of(const numbers_in& range) {
  if (!range.only.empty()) return fmt::format("{}", fmt::join(range.only, ", "));
  return fmt::format("{} to {}{}{}", range.least, range.most,
                     range.step == 1 ? "" : fmt::format(" in steps of {}", range.step),
                     range.ranges ? " and ranges of them, as in 1-4,8" : "");
}

bool read_numbers(const numbers_in& range, std::string_view word, std::string_view unit,
                  std::vector<std::uint64_t>& into) {
  const auto number = [&](std::string_view text) -> std::optional<std::uint64_t> {
    const auto value = unit.empty() && text.find_first_not_of("0123456789") != std::string_view::npos
                           ? std::nullopt
                           : whole_in_unit(text, unit);
    return value && takes(range, *value) ? value : std::nullopt;
  };
  const auto dash = range.ranges ? word.find('-') : std::string_view::npos;
  const auto first = number(word.substr(0, dash));
  const auto last = dash == std::string_view::npos ? first : number(word.substr(dash + 1));
  if (!first || !last || *last < *first) return false;
  for (auto value = *first; value <= *last; value += range.step) into.push_back(value);
  return true;
}

std::string axis_declaration::option() const {
  std::string option(name);
  std::ranges::replace(option, '_', '-');
  return option;
}

// What members of this kind take.
std::vector<std::string> axis_declaration::accepted_by(topology::device kind) const {
  std::vector<std::string> all;
  for (const auto& form : forms()) {
    if (!form.of.include(kind)) continue;
    if (!form.names.empty() && counts == word_count::list) add_once(all, "all");
    for (const auto& word : form.names) add_once(all, word);
    if (!form.text.empty()) add_once(all, form.text);
  }
  return all;
}

std::string axis_declaration::accepted() const {
  const auto all = forms();
  const auto has_names_for = [&](topology::device kind) {
    return std::ranges::any_of(all, [&](const auto& f) { return !f.names.empty() && f.of.include(kind); });
  };
  const bool list = counts == word_count::list;
  const bool all_for_everybody =
      list && has_names_for(topology::device::host) && has_names_for(topology::device::gpu);
  std::vector<std::pair<std::string_view, std::vector<std::string>>> groups{{"", {}}};
  if (all_for_everybody) groups.front().second.emplace_back("all");
  for (const auto& form : all) {
    auto found = std::ranges::find(groups, form.of.name, &decltype(groups)::value_type::first);
    if (found == groups.end()) found = groups.insert(found, {form.of.name, {}});
    if (list && !form.names.empty() && !all_for_everybody) add_once(found->second, "all");
    for (const auto& word : form.names) add_once(found->second, word);
    if (!form.text.empty()) add_once(found->second, form.text);
  }
  std::vector<std::string> texts;
  for (const auto& [whose, words] : groups)
    if (!words.empty())
      texts.push_back(fmt::format("{}{}{}", whose, whose.empty() ? "" : ": ", fmt::join(words, ", ")));
  const auto one = fmt::format("1{}", unit);
  return fmt::format("{}{}", fmt::join(texts, "; "),
                     !unit.empty() && (in_unit(one, "h") || in_unit(one, "PiB"))
                         ? fmt::format(", in whole {}, with a unit of its own or without", unit)
                         : "");
}

std::string axis_declaration::defaults() const {
  std::vector<std::string> words, groups;
  for (const auto& form : forms()) {
    if (form.defaults.empty()) continue;
    add_once(words, std::string(form.defaults));
    add_once(groups, fmt::format("{}{}{}", form.of.name, form.of.name.empty() ? "" : ": ", form.defaults));
  }
  return fmt::format("{}", fmt::join(words.size() > 1 ? groups : words, "; "));
}

// By every form of theirs that knows it.
std::size_t axis_declaration::read_first(std::span<const std::string> words, topology::device kind,
                                         std::any& into) const {
  const auto all = forms();
  std::size_t took = 0;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all[i].of.include(kind)) took = std::max(took, read(i, words, into));
  return took;
}

void axis_declaration::refuse(std::span<const std::string> words, topology::device kind) const {
  const auto& word = words.front();
  auto unused = nothing();
  if (read_first(words, other_kind(kind), unused) == 0) {
    std::vector<std::string> known;
    for (const auto& form : forms()) known.insert(known.end(), form.names.begin(), form.names.end());
    const auto meant = closest(word, std::vector<std::string_view>(known.begin(), known.end()));
    throw usage_error(fmt::format("--{} is '{}'{}; accepted: {}", option(), word,
                                  meant ? fmt::format(" (did you mean '{}'?)", *meant) : "", accepted()));
  }
  const auto mine = accepted_by(kind);
  throw usage_error(fmt::format("--{} {} is for {}, and the members here are {}; accepted for them: {}",
                                option(), word, plural(other_kind(kind)), plural(kind),
                                !mine.empty() ? fmt::format("{}", fmt::join(mine, ", "))
                                : another_name_of != nullptr
                                    ? fmt::format("--{} {}", another_name_of->option(), word)
                                    : fmt::format("no --{}", option())));
}

std::any axis_declaration::values_of(std::span<const std::string> words, topology::device kind) const {
  auto values = nothing();
  if (counts == word_count::none) return values;
  if (counts == word_count::one && words.size() > 1)
    throw usage_error(fmt::format("--{} takes one word; accepted: {}", option(), accepted()));
  while (!words.empty()) {
    const auto took = read_first(words, kind, values);
    if (took == 0) refuse(words, kind);
    words = words.subspan(took);
  }
  drop_repeated(values);
  return values;
}

std::vector<std::string> axis_declaration::default_words(topology::device kind) const {
  std::vector<std::string> words;
  for (const auto& form : forms())
    if (form.of.include(kind))
      for (const auto& word : split(form.defaults)) add_once(words, word);
  return words;
}

std::vector<std::string> axis_declaration::known_words() const {
  std::vector<std::string> all;
  for (const auto& form : forms()) {
    if (!form.names.empty() && counts == word_count::list) add_once(all, "all");
    for (const auto& word : form.names) add_once(all, word);
    for (const auto& word : form.known) add_once(all, word);
    if (form.range)
      for (const auto number : form.range->only) add_once(all, std::to_string(number));
  }
  return all;
}

bool operator==(const axis_declaration& a, const axis_declaration& b) {
  return a.name == b.name && a.help == b.help && a.unit == b.unit && a.counts == b.counts &&
         a.accepted() == b.accepted() && a.defaults() == b.defaults();
}

const axis_values::chosen& axis_values::known(const axis_declaration& axis) const {
  const auto found = of_.find(&axis);
  if (found == of_.end())
    throw std::logic_error(fmt::format("the axis {} is none of this study's", axis.name));
  return found->second;
}

axis_values settled(declared_axes axes, const typed_words& typed, topology::device kind) {
  axis_values all;
  for (const auto* axis : axes)
    if (axis->another_name_of == nullptr) {
      auto words = axis->default_words(kind);
      auto values = axis->values_of(words, kind);
      all.of_[axis] = {std::move(values), std::move(words), false};
    }
  for (const auto* axis : axes) {
    const auto found = typed.find(axis->name);
    if (found == typed.end()) continue;
    const auto* const means = axis->another_name_of == nullptr ? axis : axis->another_name_of;
    if (all.typed(*means))
      throw usage_error(fmt::format("--{} and --{} are two names for one number; accepted: one of them",
                                    means->option(), axis->option()));
    all.of_[means] = {axis->values_of(found->second, kind), found->second, true};
  }
  return all;
}

}  // namespace mgsync
