// Escapes texts from outside (names of files and in files, what devices and libraries say) before they are
// shown: control sequences of terminals, line breaks, HTML, and formulas of spreadsheets.
//   one_line("a\x1b[31m\nb") is "a\u001b[31m\u000ab", with backslashes
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace mgsync {

// The first code point of a text that is not empty; where it is not valid UTF-8, its first byte.
struct letter {
  std::uint32_t code = 0;
  std::size_t bytes = 1;
  bool valid = false;
};
letter first_letter(std::string_view);

// A name or a sentence. Spelt as \uXXXX: control characters, separators of lines, marks that turn the
// direction of reading, bytes that are no UTF-8, and what XML cannot hold. Done twice it is the same.
std::string one_line(std::string_view);

// The same for a text of several lines, where newlines and tabs are kept.
std::string printable(std::string_view);

// Text for a paragraph or a title of Markdown, where it makes no HTML and no link; markdown_cell also for a
// cell of a table, which it does not end.
std::string markdown_words(std::string_view);
std::string markdown_cell(std::string_view);

// Text as code in Markdown, between as many backticks as it needs.
std::string markdown_code(std::string_view);

// A field of a CSV file (RFC 4180). Words that a spreadsheet would take for a formula begin with an
// apostrophe.
std::string csv_field(std::string_view);

}  // namespace mgsync
