// Words of others (names in files and of files, what devices and libraries say) as a reader gets them: as
// words, and on their own line. What would steer a terminal, begin a row of its own, run in a page or be
// computed by a spreadsheet is spelt out.
//   one_line("a\x1b[31m\nb") is "a\u001b[31m\u000ab", with backslashes
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace mgsync {

// The first letter of a text that is not empty, as UTF-8; of what is none, its first byte.
struct letter {
  std::uint32_t code = 0;
  std::size_t bytes = 1;
  bool valid = false;
};
letter first_letter(std::string_view);

// A name or a sentence. Spelt as \uXXXX: control characters, separators of lines, marks that turn the
// direction of reading, bytes that are no UTF-8, and what XML cannot hold. Done twice it is the same.
std::string one_line(std::string_view);

// A whole text for a terminal: newlines and tabs are its own.
std::string printable(std::string_view);

// Words of a paragraph or a title of Markdown: no HTML, no link. In a cell of a table they do not end it,
// either.
std::string markdown_words(std::string_view);
std::string markdown_cell(std::string_view);

// Words of Markdown as they are typed: between as many backticks as that takes.
std::string markdown_code(std::string_view);

// A field of a CSV file (RFC 4180). Words that a spreadsheet would take for a formula begin with an
// apostrophe.
std::string csv_field(std::string_view);

}  // namespace mgsync
