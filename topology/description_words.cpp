#include "topology/description_words.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "topology/cpu_list.hpp"

namespace mgsync::topology {
namespace {

bool plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("_-.:,/+*").find(c) != std::string_view::npos;
}

// What the user wrote, short enough for an error message and without control characters.
std::string shown(std::string_view text) {
  std::string result = quote(text.substr(0, 60));
  if (text.size() > 60) result += "...";
  return result;
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

// Reads the rest of a quoted text; `rest` starts behind the opening quote and ends behind the closing one.
std::string unquote(std::string_view& rest, const line_position& at) {
  std::string text;
  while (!rest.empty()) {
    const char c = rest.front();
    rest.remove_prefix(1);
    if (c == '"') return text;
    if (c != '\\') {
      text += c;
      continue;
    }
    const char escape = rest.empty() ? '\0' : rest.front();
    if (escape == '"' || escape == '\\') {
      text += escape;
      rest.remove_prefix(1);
    } else if (escape == 'n') {
      text += '\n';
      rest.remove_prefix(1);
    } else if (escape == 'x' && rest.size() >= 3 && hex_digit(rest[1]) >= 0 && hex_digit(rest[2]) >= 0) {
      text += static_cast<char>(hex_digit(rest[1]) * 16 + hex_digit(rest[2]));
      rest.remove_prefix(3);
    } else {
      at.fail("unknown escape in a quoted text; accepted: \\\" \\\\ \\n \\xNN");
    }
  }
  at.fail("a quoted text does not end; add the closing \"");
}

std::string take_word(std::string_view& rest, const line_position& at) {
  std::string word;
  while (!rest.empty() && plain(rest.front())) {
    word += rest.front();
    rest.remove_prefix(1);
  }
  if (word.empty())
    at.fail(fmt::format("unexpected character {}; accepted: words, key=value, key=\"text\", # comment",
                        shown(rest.substr(0, 1))));
  return word;
}

std::string take_value(std::string_view& rest, const line_position& at) {
  if (rest.empty() || rest.front() != '"') return take_word(rest, at);
  rest.remove_prefix(1);
  return unquote(rest, at);
}

}  // namespace

void line_position::fail(std::string_view what) const {
  throw usage_error(fmt::format("{}:{}: {}", origin, number, what));
}

void description_words::expect(std::size_t count, std::initializer_list<std::string_view> keys,
                               std::string_view usage) const {
  if (words.size() != count) at.fail(fmt::format("'{}' takes {} word(s), not {}; accepted: {}", keyword, count,
                                                 words.size(), usage));
  for (const auto& [key, value] : values)
    if (std::find(keys.begin(), keys.end(), key) == keys.end())
      at.fail(fmt::format("unknown key {}; accepted: {}", shown(key), usage));
}

int description_words::number(std::size_t word, int most) const {
  const auto value = parse_number(words.at(word), most);
  if (!value) at.fail(fmt::format("{} is not a number of 0..{}", shown(words[word]), most));
  return *value;
}

std::optional<int> description_words::number(const std::string& key, int most) const {
  const auto found = values.find(key);
  if (found == values.end()) return std::nullopt;
  const auto value = parse_number(found->second, most);
  if (!value) at.fail(fmt::format("{}={} is not a number of 0..{}", key, shown(found->second), most));
  return value;
}

std::optional<bool> description_words::flag(const std::string& key) const {
  const auto found = values.find(key);
  if (found == values.end()) return std::nullopt;
  if (found->second != "yes" && found->second != "no")
    at.fail(fmt::format("{}={}; accepted: yes, no", key, shown(found->second)));
  return found->second == "yes";
}

std::optional<double> description_words::real(const std::string& key) const {
  const auto found = values.find(key);
  if (found == values.end()) return std::nullopt;
  const std::string& text = found->second;
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value) || value < 0)
    at.fail(fmt::format("{}={} is not a number of 0 or more", key, shown(text)));
  return value;
}

std::optional<std::uint64_t> description_words::bytes(const std::string& key) const {
  const auto found = values.find(key);
  if (found == values.end()) return std::nullopt;
  const std::string& text = found->second;
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size())
    at.fail(fmt::format("{}={} is not a number of bytes", key, shown(text)));
  return value;
}

std::vector<int> description_words::cpus(const std::string& key) const {
  const auto found = values.find(key);
  if (found == values.end()) return {};
  auto list = parse_cpu_list(found->second);
  if (!list) at.fail(fmt::format("{}={} is not a list of numbers like 0-3,8 (each of 0..{})", key,
                                 shown(found->second), max_cpu));
  return *list;
}

std::string description_words::text(const std::string& key) const {
  const auto found = values.find(key);
  return found == values.end() ? std::string{} : found->second;
}

description_words split_words(std::string_view line, line_position at) {
  description_words result;
  result.at = at;
  while (true) {
    while (!line.empty() && (line.front() == ' ' || line.front() == '\t' || line.front() == '\r'))
      line.remove_prefix(1);
    if (line.empty() || line.front() == '#') return result;
    const bool quoted = line.front() == '"';
    std::string word = take_value(line, at);
    if (quoted || line.empty() || line.front() != '=') {
      if (result.keyword.empty() && !quoted) {
        result.keyword = std::move(word);
      } else {
        result.words.push_back(std::move(word));
      }
    } else {
      line.remove_prefix(1);
      std::string value = take_value(line, at);
      if (!result.values.emplace(word, std::move(value)).second)
        at.fail(fmt::format("key {} is given twice", shown(word)));
    }
    if (!line.empty() && line.front() != ' ' && line.front() != '\t' && line.front() != '\r')
      at.fail(fmt::format("expected a space before {}", shown(line)));
  }
}

std::string quote(std::string_view text) {
  if (!text.empty() && std::all_of(text.begin(), text.end(), plain)) return std::string(text);
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (c == '\n') {
      result += "\\n";
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      result += fmt::format("\\x{:02x}", static_cast<unsigned>(static_cast<unsigned char>(c)));
    } else {
      result += c;
    }
  }
  return result + '"';
}

}  // namespace mgsync::topology
