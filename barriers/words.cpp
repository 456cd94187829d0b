#include "barriers/words.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/base/closest_word.hpp"
#include "src/base/errors.hpp"

namespace mgsync {
namespace {

constexpr unsigned most_blocks = 4096;
constexpr unsigned most_threads = 1024;

std::optional<unsigned> number(std::string_view text, unsigned largest) {
  unsigned value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return {};
  if (value == 0 || value > largest) return {};
  return value;
}

template <class Value>
void add_once(std::vector<Value>& list, const Value& value) {
  if (std::find(list.begin(), list.end(), value) == list.end()) list.push_back(value);
}

std::optional<shape> shape_of(std::string_view word) {
  const bool in_all = word.starts_with('b');
  if (in_all) word.remove_prefix(1);
  const auto cross = word.find('x');
  if (cross == std::string_view::npos) return {};
  const auto blocks = number(word.substr(0, cross), most_blocks);
  const auto threads = number(word.substr(cross + 1), most_threads);
  if (!blocks || !threads) return {};
  shape result{.blocks_per_sm = {}, .blocks = {}, .threads_per_block = *threads};
  (in_all ? result.blocks : result.blocks_per_sm) = *blocks;
  return result;
}

constexpr std::string_view kinds[] = {"idle",         "peer-stores", "peer-loads",
                                      "local-stores", "local-loads", "host-reads"};
constexpr std::string_view all_sms[] = {"others", "all"};
static_assert(std::size(kinds) == static_cast<std::size_t>(traffic::host_reads) + 1);
static_assert(std::size(all_sms) == static_cast<std::size_t>(load_sms::all) + 1);

// Cuts `word` off at `mark`, and returns what came after it; nothing if there is no mark.
std::optional<std::string_view> cut_at(std::string_view& word, char mark) {
  const auto at = word.find(mark);
  if (at == std::string_view::npos) return {};
  const auto rest = word.substr(at + 1);
  word = word.substr(0, at);
  return rest;
}

std::optional<load> load_of(std::string_view word) {
  load one;
  const auto sms = cut_at(word, '@'), strength = cut_at(word, ':');
  const auto kind = std::ranges::find(kinds, word);
  if (kind == std::end(kinds)) return {};
  one.kind = static_cast<traffic>(kind - std::begin(kinds));
  if (one.idle()) return sms || strength ? std::nullopt : std::optional(one);
  if (sms) {
    const auto found = std::ranges::find(all_sms, *sms);
    if (found == std::end(all_sms)) return {};
    one.sms = static_cast<load_sms>(found - std::begin(all_sms));
  }
  one.threads = one.kind == traffic::host_reads ? 32 : one.sms == load_sms::all ? 128 : 512;
  if (!strength) return one;
  const auto cross = strength->find('x');
  if (cross == std::string_view::npos) return {};
  const auto threads = number(strength->substr(cross + 1), most_threads);
  const auto blocks = cross == 0 ? std::optional(0u) : number(strength->substr(0, cross), most_blocks);
  if (!threads || !blocks || *threads % 32 != 0) return {};
  one.blocks = *blocks;
  one.threads = *threads;
  return one;
}

std::string meant(std::string_view word, std::span<const std::string_view> accepted) {
  const auto near = closest(word, accepted);
  return near ? fmt::format(" (did you mean '{}'?)", *near) : std::string();
}

const backend& backend_named(std::string_view name, std::span<const backend* const> table) {
  std::vector<std::string_view> names{"all", "default"};
  for (const backend* one : table) {
    if (one->name == name) return *one;
    names.push_back(one->name);
  }
  throw usage_error(fmt::format("--backend: unknown backend '{}'{}; accepted: {}", name, meant(name, names),
                                fmt::join(names, ", ")));
}

// "library*": all variants whose names begin so.
void add_named(std::vector<backend_choice>& chosen, const backend& one, std::string_view variant) {
  const bool several = variant.ends_with('*');
  const auto begin = variant.substr(0, variant.size() - (several ? 1 : 0));
  bool found = false;
  for (const auto& each : one.variants) {
    if (several ? !each.name.starts_with(begin) : each.name != begin) continue;
    add_once(chosen, {&one, &each});
    found = true;
  }
  if (found) return;
  std::vector<std::string_view> names;
  for (const auto& each : one.variants) names.push_back(each.name);
  throw usage_error(fmt::format("--backend: '{}' has no variant '{}'{}; accepted: {}, *", one.name, variant,
                                meant(variant, names), fmt::join(names, ", ")));
}

// The first variant, and where no program can call it the first that can be called in its place.
void add_usual(std::vector<backend_choice>& chosen, const backend& one) {
  const auto& first = one.variants.front();
  if (first.facts.joins_all()) add_once(chosen, {&one, &first});
  if (first.is_callable()) return;
  const auto called = std::ranges::find_if(
      one.variants, [](const auto& v) { return !v.facts.orders_less() && v.is_callable(); });
  if (called != one.variants.end()) add_once(chosen, {&one, &*called});
}

}  // namespace

std::string to_string(const shape& one) {
  return one.blocks ? fmt::format("b{}x{}", *one.blocks, one.threads_per_block)
                    : fmt::format("{}x{}", one.blocks_per_sm.value_or(1), one.threads_per_block);
}

std::size_t read_shape(std::span<const std::string> words, std::vector<shape>& into) {
  const auto one = shape_of(words.front());
  if (one) add_once(into, *one);
  return one ? 1 : 0;
}

std::size_t read_shapes(std::span<const std::string> words, std::vector<shape>& into) {
  if (words.front() != "all") return read_shape(words, into);
  for (unsigned blocks = 1; blocks <= 32; blocks *= 2)
    for (unsigned threads = 32; threads <= most_threads; threads *= 2)
      add_once(into, {.blocks_per_sm = blocks, .blocks = {}, .threads_per_block = threads});
  return 1;
}

std::string to_string(const load& one) {
  const auto kind = kinds[static_cast<std::size_t>(one.kind)];
  if (one.idle()) return std::string(kind);
  return fmt::format("{}:{}x{}@{}", kind, one.blocks == 0 ? "" : std::to_string(one.blocks), one.threads,
                     all_sms[static_cast<std::size_t>(one.sms)]);
}

std::size_t read_load(std::span<const std::string> words, std::vector<load>& into) {
  const auto& word = words.front();
  if (const auto one = load_of(word)) add_once(into, *one);
  else if (const auto near = meant(word.substr(0, word.find_first_of(":@")), kinds); !near.empty())
    throw usage_error(fmt::format("--load is '{}'{}; accepted: {}", word, near, accepted_loads));
  else return 0;
  return 1;
}

std::vector<std::string> load_words() { return {std::begin(kinds), std::end(kinds)}; }

std::vector<std::string> placement_words() { return {"near", "far", "spread", "list:0"}; }

std::size_t read_placement(std::span<const std::string> words, std::vector<std::string>& into) {
  const auto digits = [](std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
  };
  const std::string_view word = words.front();
  if (!word.starts_with("list:") || !digits(word.substr(5))) {
    const bool known = word == "near" || word == "far" || word == "spread";
    if (known) into.emplace_back(word);
    return known ? 1 : 0;
  }
  std::size_t took = 1;
  while (took < words.size() && digits(words[took])) ++took;
  into.push_back(fmt::format("{}", fmt::join(words.first(took), ",")));
  return took;
}

std::string to_string(const backend_choice& one) {
  return fmt::format("{}:{}", one.backend->name, one.variant->name);
}

std::size_t read_backend(std::span<const std::string> words, std::vector<backend_choice>& into,
                         std::span<const backend* const> table) {
  const std::string_view word = words.front();
  if (word == "all") {
    for (const backend* one : table)
      for (const auto& each : one->variants)
        if (each.facts.joins_all()) add_once(into, {one, &each});
    return 1;
  }
  if (word == "default") {
    for (const backend* one : table) add_usual(into, *one);
    return 1;
  }
  const auto colon = word.find(':');
  const backend& one = backend_named(word.substr(0, colon), table);
  if (colon == std::string_view::npos) add_once(into, {&one, &one.variants.front()});
  else add_named(into, one, word.substr(colon + 1));
  return 1;
}

}  // namespace mgsync
