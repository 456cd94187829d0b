#include "src/base/terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <string>
#include <string_view>

#include "src/base/launcher.hpp"

namespace mgsync {
namespace {

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// The locale that decides on characters: the first of these that is set and not empty.
bool speaks_utf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"})
    if (auto value = variable(name); !value.empty()) {
      std::erase(value, '-');
      std::ranges::transform(value, value.begin(), [](unsigned char c) { return std::tolower(c); });
      return value.find("utf8") != std::string::npos;
    }
  return false;
}

}  // namespace

terminal terminal_at(int descriptor) {
  terminal found;
  found.unicode = speaks_utf8();
  // A launcher may give a rank a terminal of its own, whose text ends in a file.
  if (isatty(descriptor) == 0 || read_launch().under_mpi) return found;
  found.window = true;
  winsize window{};
  if (ioctl(descriptor, TIOCGWINSZ, &window) == 0 && window.ws_col > 0) found.columns = window.ws_col;
  found.styled = variable("NO_COLOR").empty() && variable("TERM") != "dumb";
  return found;
}

}  // namespace mgsync
