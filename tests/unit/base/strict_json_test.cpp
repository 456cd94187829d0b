// JSON that others wrote: the time and the memory that reading it takes are bounded by its length.
#include "src/base/strict_json.hpp"

#include <gtest/gtest.h>

#include <functional>

#include <fmt/format.h>

#include "src/base/errors.hpp"
#include "src/base/json_fields.hpp"
#include "tests/unit/growth.hpp"
#include "tests/unit/refused.hpp"

namespace mgsync { namespace {

nlohmann::ordered_json read(std::string_view text) { return from_json<nlohmann::ordered_json>(text, "f"); }

std::string array_of(std::size_t count, const std::function<std::string(std::size_t)>& item) {
  std::string text = "[";
  for (std::size_t i = 0; i < count; ++i) text += (i == 0 ? "" : ",") + item(i);
  return text + "]";
}

// A parser that goes through an array again at the end of each of its values takes a minute for 300 KB.
TEST(strict_json, takes_time_in_proportion_to_the_text) {
  const std::pair<std::string, std::function<std::string(std::size_t)>> shapes[] = {
      {"empty objects", [](std::size_t) { return "{}"; }},
      {"empty arrays", [](std::size_t) { return "[]"; }},
      {"numbers", [](std::size_t i) { return std::to_string(i); }},
      {"objects of a few keys",
       [](std::size_t i) { return fmt::format(R"({{"a":{},"b":[1,2.5],"c":{{"d":null}}}})", i); }},
      {"objects of many keys",
       [](std::size_t) {
         std::string object = "{";
         for (int k = 0; k < 60; ++k) object += fmt::format("{}\"k{}\":0", k == 0 ? "" : ",", k);
         return object + "}";
       }},
  };
  for (const auto& [name, made] : shapes) {
    const auto& item = made;  // clang 14 gives no structured binding to a lambda
    const auto growth = test::growth_of(
        name == "objects of many keys" ? 500 : 20000, [&](std::size_t n) { return array_of(n, item); },
        [](const std::string& text) { read(text); });
    EXPECT_LT(growth, test::more_than_linear) << name;
  }
}

TEST(strict_json, reads_what_the_librarys_own_parser_reads) {
  for (const char* text : {"null", "true", "-1", "18446744073709551615", "1e300", R"("a\u00e9\n")", "[]",
                           "{}", "[[],[1,[2,{}]],{\"a\":[{\"b\":{}},null]}]",
                           R"({"z":1,"a":{"y":[true,false,null,-2.5e-3],"b":{}},"":"empty"})"})
    EXPECT_EQ(read(text).dump(), nlohmann::ordered_json::parse(text).dump()) << text;
}

TEST(strict_json, says_what_is_wrong_and_where) {
  EXPECT_EQ(test::refused([] { read("{\"a\":1,\n\"b\":}"); }).rfind("f: parse error at line 2, column 5", 0),
            0U);
  EXPECT_NE(test::refused([] { read("[1e999]"); }).find("number overflow"), std::string::npos);
  std::string many = "{";
  for (int k = 0; k < 40; ++k) many += fmt::format("\"k{}\":0,", k);
  for (const char* twice : {"k0", "k15", "k16", "k39"})
    EXPECT_EQ(test::refused([&] { read(many + fmt::format("\"{}\":1}}", twice)); }),
              fmt::format("f: the key '{}' stands twice in one object", twice));
  EXPECT_EQ(test::refused([&] { read("[{\"a\":0,\"b\":{\"a\":0},\"a\":0}]"); }),
            "f: the key 'a' stands twice in one object");
  std::string keys = "{";
  for (int k = 0; k <= 1000; ++k) keys += fmt::format("{}\"k{}\":0", k == 0 ? "" : ",", k);
  EXPECT_EQ(test::refused([&] { read(keys + "}"); }), "f: more than 1000 keys in one object");
}

TEST(strict_json, refuses_what_is_not_plain) {
  EXPECT_EQ(read(R"({"a":[1,{"a":2}],"b":{"a":3}})")["b"]["a"], 3);
  for (const char* text :
       {R"({"a":1,"a":2})", R"([{"x":{"b":1,"c":2,"b":3}}])", "", "{", "[1,]", "1e999", "NaN", "[1] 2"})
    EXPECT_THROW(read(text), usage_error) << text;
  EXPECT_NO_THROW(read(std::string(32, '[') + std::string(32, ']')));
  EXPECT_THROW(read(std::string(40, '[') + std::string(40, ']')), usage_error);
  EXPECT_THROW(read(std::string(2'000'000, '[')), usage_error);
  std::string many = "{";
  for (int i = 0; i <= 1000; ++i) many += fmt::format("{}\"{}\": 0", i > 0 ? "," : "", i);
  EXPECT_THROW(read(many + "}"), usage_error);
  EXPECT_THROW(read(std::string(largest_document_bytes + 1, ' ')), usage_error);
}

// A value takes many times the memory of its text.
TEST(strict_json, has_a_bounded_number_of_values) {
  std::string text = "[";
  text.reserve(2 * most_values + 8);
  for (std::size_t i = 0; i < most_values; ++i) text += "0,";
  EXPECT_EQ(test::refused([&] { read(text + "0]"); }), fmt::format("f: more than {} values", most_values));
}

}}  // namespace mgsync
