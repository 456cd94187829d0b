// Names of others: they stand on their own line, steer no terminal, run in no page and are no formula.
#include "src/base/printable.hpp"

#include <gtest/gtest.h>

#include "src/base/json_fields.hpp"

namespace mgsync { namespace {

TEST(printable, of_one_line_are_what_they_were_without_what_steers) {
  EXPECT_EQ(one_line("multigrid:auto, 1.3 µs – π"), "multigrid:auto, 1.3 µs – π");
  EXPECT_EQ(one_line("a\x1b[31m\nb\r\tc\x7f"), "a\\u001b[31m\\u000ab\\u000d\\u0009c\\u007f");
  EXPECT_EQ(one_line("\xc2\x9b"
                     "2J \xe2\x80\xae"
                     "drow \xe2\x80\xa8 \xe2\x81\xa6"),
            "\\u009b2J \\u202edrow \\u2028 \\u2066");
  EXPECT_EQ(one_line("\xff\xc0\xaf\xed\xa0\x80 \xf4\x90\x80\x80 \xe2\x82"),
            "\\u00ff\\u00c0\\u00af\\u00ed\\u00a0\\u0080 \\u00f4\\u0090\\u0080\\u0080 \\u00e2\\u0082");
  EXPECT_EQ(one_line(std::string("\0x", 2)), "\\u0000x");
  for (const char* text : {"a\x1b[0m\n", "\\u001b", "\xff"})
    EXPECT_EQ(one_line(one_line(text)), one_line(text));
}

TEST(printable, for_a_terminal_keep_their_lines) {
  EXPECT_EQ(printable("a\tb\nc\x1b]0;title\x07\n"), "a\tb\nc\\u001b]0;title\\u0007\n");
  EXPECT_EQ(printable("Δt=1\n"), "Δt=1\n");
}

TEST(printable, of_markdown_are_no_html_no_link_and_no_cell) {
  EXPECT_EQ(markdown_words("<img src=x onerror=alert(1)> | a"), "&lt;img src=x onerror=alert(1)> | a");
  EXPECT_EQ(markdown_cell("<i> || a|"), "&lt;i> \\|\\| a\\|");
  EXPECT_EQ(markdown_words("![x](http://e/) [1]"), "![x\\](http://e/) [1]");
  EXPECT_EQ(markdown_words("a\n# forged"), "a\\u000a# forged");
  EXPECT_EQ(markdown_code("mgsync --by a"), "`mgsync --by a`");
  EXPECT_EQ(markdown_code("a`b``<i>\n"), "``` a`b``<i>\\u000a ```");
}

TEST(printable, of_csv_are_no_formula) {
  EXPECT_EQ(csv_field("=HYPERLINK(\"x\")"), "\"'=HYPERLINK(\"\"x\"\")\"");
  EXPECT_EQ(csv_field("+cmd|' /C calc'!A0"), "'+cmd|' /C calc'!A0");
  EXPECT_EQ(csv_field("@SUM(1)"), "'@SUM(1)");
  EXPECT_EQ(csv_field("-2+3"), "'-2+3");
  for (const char* number : {"-1", "-0.25", "1e-3", "-1.5e+300", "+2"}) EXPECT_EQ(csv_field(number), number);
}

// Where documents are read, every name in them comes to stand on one line; what is attached stays as it is.
TEST(printable, are_what_documents_hold) {
  using names = std::map<std::string, std::map<std::string, std::string>>;
  EXPECT_EQ(from_json<names>(R"({"na\u001bme": {"a\nb": "x\u001b[2J\ny"}})", "f"),
            (names{{"na\\u001bme", {{"a\\u000ab", "x\\u001b[2J\\u000ay"}}}}));
}

}}  // namespace mgsync
