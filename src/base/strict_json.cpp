#include "src/base/strict_json.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>

#include <fmt/format.h>

#include "src/base/errors.hpp"
#include "src/base/printable.hpp"

namespace mgsync {

namespace {

// Whether a byte of a JSON string is one printable ASCII character that needs no escape.
bool is_plain(char c) { return c >= 0x20 && c < 0x7f && c != '"' && c != '\\'; }

// The text as a number of this type; nothing unless all of it is one.
template <class Number>
std::optional<Number> all_of(std::string_view digits) {
  Number value{};
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return value;
}

}  // namespace

bool keys_met::add(const std::string& key) {
  constexpr std::size_t few = 16;
  if (few_.size() < few) {
    if (std::ranges::find(few_, key) != few_.end()) return false;
    few_.push_back(key);
    return true;
  }
  if (many_.empty()) many_.insert(few_.begin(), few_.end());
  return many_.insert(key).second;
}

json_text::json_text(std::string_view text, std::string_view name, comments allowed)
    : text_(text), name_(name), comments_(allowed) {
  if (text.size() > largest_document_bytes)
    throw usage_error(
        fmt::format("{}: {} bytes; at most {} are read", name, text.size(), largest_document_bytes));
  constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
  if (text.starts_with(byte_order_mark)) at_ = byte_order_mark.size();
}

std::string json_text::path() const {
  std::string all(name_);
  for (const auto& [key, index] : path_) {
    if (key.data() == nullptr) all += fmt::format("[{}]", index);
    else all.append(all.empty() ? "" : ".").append(key);
  }
  return all;
}

void json_text::expected(std::string_view what) const { refuse(fmt::format("expected {}", what)); }

void json_text::refuse(std::string_view sentence) const {
  const auto where = path();
  throw usage_error(fmt::format("{}{}{}", where, where.empty() ? "" : ": ", sentence));
}

void json_text::twice(std::string_view key) const {
  throw usage_error(fmt::format("{}: the key '{}' stands twice in one object", name_, key));
}

void json_text::malformed(std::string_view what) const {
  const auto before = text_.substr(0, std::min(at_, text_.size()));
  const auto line = std::ranges::count(before, '\n');
  const auto column = at_ - (before.rfind('\n') + 1);  // npos + 1 is 0
  throw usage_error(fmt::format("{}: parse error at line {}, column {}: {}", name_, line + 1, column + 1,
                                at_ < text_.size() ? what : "the text ends too early"));
}

void json_text::count_value() {
  if (++values_ > most_values) throw usage_error(fmt::format("{}: more than {} values", name_, most_values));
}

void json_text::count_listed(std::size_t numbers) {
  listed_ += numbers;
  if (listed_ > most_listed)
    refuse(fmt::format("the lists up to this one hold more than {} numbers", most_listed));
}

double json_text::number_of(std::string_view digits) const {
  if (const auto value = all_of<double>(digits)) return *value;
  const double value = std::strtod(std::string(digits).c_str(), nullptr);  // out of range of a double
  if (!std::isfinite(value))
    throw usage_error(fmt::format("{}: number overflow parsing '{}'", name_, digits.substr(0, 60)));
  return value;
}

void json_text::blanks() {
  for (; at_ < text_.size(); ++at_) {
    const char c = text_[at_];
    if (c == ' ' || c == '\n' || c == '\t' || c == '\r') continue;
    if (c != '/' || comments_ == comments::refused) return;
    const bool line = text_.substr(at_).starts_with("//");
    if (!line && !text_.substr(at_).starts_with("/*")) return;
    const auto end = text_.find(line ? "\n" : "*/", at_ + 2);
    if (end == text_.npos && !line) malformed("a comment without its end");
    at_ = end == text_.npos ? text_.size() - 1 : line ? end : end + 1;
  }
}

char json_text::kind() {
  blanks();
  const char c = at_ < text_.size() ? text_[at_] : '\0';
  if (c == '-' || (c >= '0' && c <= '9')) return '0';
  if (c == 't' || c == 'f') return 't';
  if (c == '{' || c == '[' || c == '"' || c == 'n') return c;
  malformed("a value is missing here");
}

void json_text::word(std::string_view wanted) {
  if (!text_.substr(at_).starts_with(wanted)) malformed("neither null, true nor false");
  count_value();
  at_ += wanted.size();
}

bool json_text::boolean() {
  const bool is = text_[at_] == 't';
  word(is ? "true" : "false");
  return is;
}

void json_text::digits() {
  const auto begin = at_;
  while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') ++at_;
  if (at_ == begin) malformed("a digit is missing here");
}

std::string_view json_text::number() {
  count_value();
  const auto begin = at_;
  const auto comes = [this](std::string_view one_of) {
    return at_ < text_.size() && one_of.find(text_[at_]) != one_of.npos;
  };
  if (comes("-")) ++at_;
  if (comes("0")) ++at_;
  else digits();
  if (comes(".")) ++at_, digits();
  if (comes("eE")) {
    ++at_;
    if (comes("+-")) ++at_;
    digits();
  }
  return text_.substr(begin, at_ - begin);
}

std::uint32_t json_text::hexadecimal() {
  const auto four = text_.substr(at_, 4);
  std::uint32_t code = 0;
  const auto [end, error] = std::from_chars(four.data(), four.data() + four.size(), code, 16);
  if (four.size() < 4 || end != four.data() + 4) malformed("four hexadecimal digits are missing here");
  at_ += 4;
  return code;
}

void json_text::escape(std::string& into) {
  constexpr std::string_view letters = "\"\\/bfnrt", meant = "\"\\/\b\f\n\r\t";
  if (++at_ == text_.size()) malformed("");
  if (const auto which = letters.find(text_[at_]); which != letters.npos) {
    ++at_;
    into += meant[which];
    return;
  }
  if (text_[at_] != 'u') malformed("no letter that may stand behind a backslash");
  ++at_;
  std::uint32_t code = hexadecimal();
  if (code >= 0xd800 && code < 0xe000) {
    const bool two = code < 0xdc00 && text_.substr(at_).starts_with("\\u");
    at_ += two ? 2 : 0;
    const auto second = two ? hexadecimal() : 0;
    if (second < 0xdc00 || second >= 0xe000) malformed("half of a pair of surrogates");
    code = 0x10000 + ((code - 0xd800) << 10) + (second - 0xdc00);
  }
  if (code < 0x80) into += static_cast<char>(code);
  else {
    const int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    constexpr std::uint32_t lead[] = {0, 0xc0, 0xe0, 0xf0};
    into += static_cast<char>(lead[more] | code >> (6 * more));
    for (int i = more - 1; i >= 0; --i) into += static_cast<char>(0x80 | (code >> (6 * i) & 0x3f));
  }
}

std::string json_text::text() {
  count_value();
  plain_ = true;
  std::string all;
  for (++at_;;) {
    const auto begin = at_;
    while (at_ < text_.size() && is_plain(text_[at_])) ++at_;
    all.append(text_, begin, at_ - begin);
    if (at_ == text_.size()) malformed("");
    if (text_[at_] == '"') break;
    plain_ = false;
    if (text_[at_] == '\\') {
      escape(all);
      continue;
    }
    const auto next = first_letter(text_.substr(at_));
    if (next.code < 0x20) malformed("a control character in a text");
    if (!next.valid) malformed("a byte that is no UTF-8");
    all.append(text_, at_, next.bytes);
    at_ += next.bytes;
  }
  ++at_;
  return all;
}

std::string json_text::line() {
  auto all = text();
  return plain_ ? all : one_line(all);
}

void json_text::open() {
  if (open_.size() == deepest_nesting)
    throw usage_error(fmt::format("{}: nested deeper than {}", name_, deepest_nesting));
  count_value();
  open_.push_back({text_[at_++] == '{' ? '}' : ']', 0});
}

bool json_text::more() {
  blanks();
  auto& [closing, count] = open_.back();
  if (at_ < text_.size() && text_[at_] == closing) {
    ++at_;
    open_.pop_back();
    return false;
  }
  if (count > 0) {
    if (at_ == text_.size() || text_[at_] != ',') malformed("neither a comma nor the end of what is open");
    ++at_;
  }
  if (++count > most_keys && closing == '}')
    throw usage_error(fmt::format("{}: more than {} keys in one object", name_, most_keys));
  return true;
}

std::string json_text::key() {
  if (kind() != '"') malformed("a key is missing here");
  --values_;
  std::string name = line();
  blanks();
  if (at_ == text_.size() || text_[at_] != ':') malformed("a colon is missing here");
  ++at_;
  return name;
}

void json_text::skip() {
  switch (kind()) {
  case '{': return object([this](const std::string&) { skip(); });
  case '[': return array([this] { skip(); });
  case '"': text(); return;
  case '0': number_of(number()); return;
  case 't': boolean(); return;
  default: null();
  }
}

void json_text::end() {
  blanks();
  if (at_ < text_.size()) malformed("nothing may stand behind the value");
}

std::optional<std::int64_t> whole_signed(std::string_view digits) { return all_of<std::int64_t>(digits); }

std::optional<std::uint64_t> whole_unsigned(std::string_view digits) {
  return digits == "-0" ? 0 : all_of<std::uint64_t>(digits);
}

std::optional<std::string> text_under(std::string_view key, std::string_view text, std::string_view name) {
  json_text in(text, name);
  if (in.kind() != '{') in.expected("an object");
  for (in.open(); in.more();) {
    const auto found = in.key();
    const json_text::inside at(in, found);
    if (found != key) in.skip();
    else if (in.kind() != '"') in.expected("text");
    else return in.line();
  }
  return std::nullopt;
}

}  // namespace mgsync
