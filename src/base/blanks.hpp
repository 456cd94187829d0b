// Blanks and comments in a text of somebody's code.
#pragma once

#include <cctype>
#include <cstddef>
#include <string>
#include <string_view>

namespace mgsync {

inline bool is_blank(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }

// The text without the blanks at its beginning and end; a view into it.
inline std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

// Replaces the comments of C and C++ by blanks, so that lines keep their numbers.
inline std::string without_comments(std::string_view text) {
  std::string left(text);
  for (std::size_t i = 0; i + 1 < left.size(); ++i) {
    if (left[i] != '/' || (left[i + 1] != '/' && left[i + 1] != '*')) continue;
    const bool line = left[i + 1] == '/';
    std::size_t end = line ? left.find('\n', i) : left.find("*/", i + 2);
    end = end == std::string::npos ? left.size() : line ? end : end + 2;
    for (; i < end; ++i)
      if (left[i] != '\n') left[i] = ' ';
    --i;
  }
  return left;
}

}  // namespace mgsync
