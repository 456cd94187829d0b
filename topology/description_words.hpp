// One line of a machine's description, taken apart into words, and put together again.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/errors.hpp"

namespace mgsync::topology {

// Where a line stands, to name in errors.
struct line_position {
  std::string_view origin;
  int number = 0;
  [[noreturn]] void fail(std::string_view what) const;  // throws usage_error "origin:number: what"
};

// `keyword word word key=value key="quoted value"`; a comment starts with '#'.
struct description_words {
  line_position at;
  std::string keyword;                       // empty: the line is blank or a comment
  std::vector<std::string> words;            // without a key, after the keyword
  std::map<std::string, std::string> values;  // by key

  // Fails unless there are `count` words and every key is one of `keys`.
  void expect(std::size_t count, std::initializer_list<std::string_view> keys, std::string_view usage) const;
  int number(std::size_t word, int most) const;
  std::optional<int> number(const std::string& key, int most) const;  // nothing when the key is absent
  std::optional<bool> flag(const std::string& key) const;             // yes | no
  std::optional<double> real(const std::string& key) const;           // finite, not negative
  std::optional<std::uint64_t> bytes(const std::string& key) const;
  std::vector<int> cpus(const std::string& key) const;                // empty when the key is absent
  std::string text(const std::string& key) const;                     // empty when the key is absent
};

// Throws usage_error for a quote that does not end, an unknown escape, or a key given twice.
description_words split_words(std::string_view line, line_position at);

// `text` as it is when it is one plain word, else quoted with \" \\ \n and \xNN.
std::string quote(std::string_view text);

}  // namespace mgsync::topology
