#include "src/base/printable.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

namespace mgsync {

letter first_letter(std::string_view text) {
  const auto byte = [&](std::size_t i) {
    return static_cast<std::uint32_t>(static_cast<unsigned char>(text[i]));
  };
  const std::uint32_t lead = byte(0);
  if (lead < 0x80) return {lead, 1, true};
  const std::size_t bytes = lead >= 0xf0 && lead < 0xf5   ? 4
                            : lead >= 0xe0 && lead < 0xf0 ? 3
                            : lead >= 0xc2 && lead < 0xe0 ? 2
                                                          : 1;
  if (bytes == 1 || text.size() < bytes) return {lead, 1, false};
  std::uint32_t code = lead & (0xffu >> (bytes + 1));
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {lead, 1, false};
    code = code << 6 | (byte(i) & 0x3f);
  }
  constexpr std::uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  if (code < least[bytes] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return {lead, 1, false};
  return {code, bytes, true};
}

namespace {

bool steers(std::uint32_t code) {
  return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x61c || code == 0x200e || code == 0x200f ||
         (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069) || code == 0xfffe ||
         code == 0xffff;
}

std::string spelt(std::string_view text, std::string_view kept) {
  if (std::ranges::all_of(text, [](char c) { return c >= 0x20 && c < 0x7f; })) return std::string(text);
  std::string shown;
  shown.reserve(text.size());
  while (!text.empty()) {
    const auto next = first_letter(text);
    if (next.valid && (!steers(next.code) || (next.bytes == 1 && kept.find(text.front()) != kept.npos)))
      shown += text.substr(0, next.bytes);
    else shown += fmt::format("\\u{:04x}", next.code);
    text.remove_prefix(next.bytes);
  }
  return shown;
}

bool is_number(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

std::string one_line(std::string_view text) { return spelt(text, ""); }

std::string printable(std::string_view text) { return spelt(text, "\n\t"); }

std::string markdown_words(std::string_view text) {
  std::string shown;
  const auto line = one_line(text);
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '<') shown += "&lt;";
    else if (line[i] == ']' && i + 1 < line.size() && line[i + 1] == '(') shown += "\\]";
    else shown += line[i];
  }
  return shown;
}

std::string markdown_cell(std::string_view text) {
  std::string shown = markdown_words(text);
  for (std::size_t at = shown.find('|'); at != std::string::npos; at = shown.find('|', at + 2))
    shown.insert(at, "\\");
  return shown;
}

std::string markdown_code(std::string_view text) {
  std::size_t longest = 0, run = 0;
  for (const char c : text) longest = std::max(longest, run = c == '`' ? run + 1 : 0);
  const std::string ticks(longest + 1, '`'), gap(longest == 0 ? 0 : 1, ' ');
  return ticks + gap + one_line(text) + gap + ticks;
}

std::string csv_field(std::string_view text) {
  std::string field(text);
  if (!text.empty() && std::string_view("=+-@\t\r").find(text.front()) != std::string_view::npos &&
      !is_number(text))
    field.insert(0, 1, '\'');
  if (field.find_first_of(",\"\r\n") == std::string::npos) return field;
  std::string quoted = "\"";
  for (const char letter : field) {
    if (letter == '"') quoted += '"';
    quoted += letter;
  }
  return quoted + '"';
}

}  // namespace mgsync
