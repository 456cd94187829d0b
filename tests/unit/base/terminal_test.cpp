#include "src/base/terminal.hpp"

#include <gtest/gtest.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>

namespace mgsync { namespace {

// Sets variables, and clears them at its end.
struct with_variables {
  with_variables(const char* locale, const char* term, const char* no_color) {
    for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG", "NO_COLOR"}) unsetenv(name);
    setenv("LANG", locale, 1);
    setenv("TERM", term, 1);
    if (no_color != nullptr) setenv("NO_COLOR", no_color, 1);
  }
  ~with_variables() { unsetenv("NO_COLOR"); }
};

TEST(terminal, a_pipe_has_100_columns_and_no_style) {
  const with_variables set("en_US.UTF-8", "xterm", nullptr);
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const auto found = terminal_at(ends[1]);
  EXPECT_EQ(found.columns, 100);
  EXPECT_FALSE(found.window);
  EXPECT_FALSE(found.styled);
  EXPECT_TRUE(found.unicode);
}

TEST(terminal, a_window_has_its_width_and_style_unless_told) {
  int ours = -1, theirs = -1;
  winsize window{.ws_row = 24, .ws_col = 72, .ws_xpixel = 0, .ws_ypixel = 0};
  ASSERT_EQ(openpty(&ours, &theirs, nullptr, nullptr, &window), 0);
  {
    const with_variables set("de_DE.utf8", "xterm", nullptr);
    EXPECT_EQ(terminal_at(theirs).columns, 72);
    EXPECT_TRUE(terminal_at(theirs).window);
    EXPECT_TRUE(terminal_at(theirs).styled);
    EXPECT_TRUE(terminal_at(theirs).unicode);
  }
  {
    const with_variables set("C", "xterm", "1");
    EXPECT_FALSE(terminal_at(theirs).styled);
    EXPECT_FALSE(terminal_at(theirs).unicode);
  }
  const with_variables set("C.UTF-8", "dumb", nullptr);
  EXPECT_FALSE(terminal_at(theirs).styled);
  setenv("LC_ALL", "POSIX", 1);  // wins over LANG
  EXPECT_FALSE(terminal_at(theirs).unicode);
  unsetenv("LC_ALL");
}

}}  // namespace mgsync
