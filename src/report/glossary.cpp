#include "src/report/page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "src/base/markup.hpp"

// Made by cmake/embed.cmake; they end with a zero.
extern const unsigned char mgsync_glossary[];
extern const unsigned char mgsync_library_document[];

namespace mgsync::report {
namespace {

// Text without the marks of Markdown.
std::string without_marks(std::string_view markdown) {
  std::string plain;
  for (const char c : markdown)
    if (c != '*' && c != '`') plain += c;
  return plain;
}

// Every word of the glossary with its sentence.
std::vector<std::pair<std::string, std::string>> words_and_meanings() {
  std::string_view rest = reinterpret_cast<const char*>(mgsync_glossary);
  std::vector<std::pair<std::string, std::string>> all;
  while (!rest.empty()) {
    const auto line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    constexpr std::string_view before = "| **", between = " | ", after = " |";
    const auto middle = line.find(between);
    if (!line.starts_with(before) || !line.ends_with(after) || middle == line.npos) continue;
    const auto word = line.substr(2, middle - 2);
    const auto meaning =
        line.substr(middle + between.size(), line.size() - middle - between.size() - after.size());
    all.emplace_back(without_marks(word), without_marks(meaning));
  }
  return all;
}

// The number of a paper, "000" to "004", at this place of a text; empty where there is none.
std::string_view paper_at(std::string_view text, std::size_t at) {
  constexpr std::string_view before = "( ", behind = ",;:.) ";
  const auto number = text.substr(at, 3);
  if (number.size() < 3 || !number.starts_with("00") || number[2] < '0' || number[2] > '4') return "";
  const bool is_word = at > 0 && before.find(text[at - 1]) != before.npos &&
                       (at + 3 == text.size() || behind.find(text[at + 3]) != behind.npos);
  return is_word ? number : "";
}

}  // namespace

std::string with_papers(std::string_view text) {
  std::string html;
  std::size_t from = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const auto number = paper_at(text, at);
    if (number.empty()) continue;
    html += escaped(text.substr(from, at - from));
    const bool told = html.ends_with("paper ") || html.ends_with("papers ");
    html += fmt::format("<a href=\"#paper-{0}\">{1}{0}</a>", number, told ? "" : "paper ");
    from = at + number.size();
  }
  return html + escaped(text.substr(from));
}

std::vector<std::string> papers_in(std::string_view text) {
  std::set<std::string_view> named;
  for (std::size_t at = 0; at < text.size(); ++at)
    if (const auto number = paper_at(text, at); !number.empty()) named.insert(number);
  std::vector<std::string> papers;
  for (const auto& [word, meaning] : words_and_meanings())
    if (named.contains(word)) papers.push_back(fmt::format("{}: {}", word, meaning));
  return papers;
}

std::string html_glossary() {
  std::string rows;
  for (const auto& [word, meaning] : words_and_meanings())
    rows += fmt::format("<dt>{}</dt><dd>{}</dd>\n",
                        word.starts_with("00") ? fmt::format("<span id=\"paper-{0}\">paper {0}</span>", word)
                                               : escaped(word),
                        escaped(meaning));
  return "<details id=\"glossary\" class=\"look-up\"><summary>What the words mean: barrier, shape, ci95, "
         "orders "
         "less, no call, waived and all others</summary><dl>\n" +
         rows + "</dl></details>\n";
}

namespace {

// What stands between two marks of a text, from a place on, which is moved behind it.
std::string_view between(std::string_view text, std::string_view before, std::string_view behind,
                         std::size_t& from) {
  const auto begin = text.find(before, from);
  if (begin == text.npos) return "";
  const auto end = text.find(behind, begin + before.size());
  if (end == text.npos) return "";
  from = end + behind.size();
  return text.substr(begin + before.size(), end - begin - before.size());
}

}  // namespace

std::string html_program() {
  const std::string_view document = reinterpret_cast<const char*>(mgsync_library_document);
  std::size_t at = 0;
  const auto program = between(document, "```cuda\n", "\n```", at),
             compiled = between(document, "`", "`", at);
  return fmt::format(
      "<details id=\"program\" class=\"look-up\"><summary>How to call mgsync's library: a whole program to "
      "paste, "
      "with the launch</summary>\n<p>grids.launch() passes the handle as the kernel's first argument; the "
      "call of "
      "another form stands in the place of grids.sync().</p>\n<pre>{}</pre>\n<pre>{}</pre></details>\n",
      escaped(program), escaped(compiled));
}

std::string with_links(std::string_view text) {
  constexpr std::string_view call = "mgsync::this_multi_grid(handle";
  auto html = with_papers(text);
  const auto link = fmt::format("<a href=\"#program\">{}</a>", call);
  for (auto at = html.find(call); at != html.npos; at = html.find(call, at + link.size()))
    html.replace(at, call.size(), link);
  return html;
}

}  // namespace mgsync::report
