// Reads JSON that others wrote: bounded in all ways, no key twice, every error with its place. Keys that
// nobody asks for are passed over: a newer mgsync may have written them.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "src/base/shown_words.hpp"
#include "src/base/words.hpp"

namespace mgsync {

inline constexpr std::size_t largest_document_bytes = std::size_t{256} << 20;
inline constexpr int deepest_nesting = 32;
inline constexpr std::size_t most_values =
    std::size_t{1} << 24;  // in one document: an empty one takes three bytes, and memory for forty

enum class comments { refused, passed_over };  // those of C++

// Throws usage_error, beginning with `name`, for anything but one JSON value within the bounds, and says the
// line and the column of what is no JSON. Numbers that a double cannot hold are refused.
nlohmann::ordered_json parse_strictly(std::string_view text, const std::string& name,
                                      comments = comments::refused);

// The value as a Type: text (on one line: src/base/shown_words.hpp), bool, a number (whole ones within the
// type's range; null is NaN for a floating one), a word of an enumeration, a vector, a map from text, or
// optional (null: nothing). Throws usage_error naming `path`.
template <class Type>
Type read_json(const nlohmann::ordered_json& value, const std::string& path);

// Takes the members out of one JSON object; every message names the member.
class object_reader {
 public:
  // Throws usage_error unless it is an object.
  object_reader(const nlohmann::ordered_json& object, std::string path);

  std::string path_of(std::string_view key) const;
  bool has(std::string_view key) const { return object_->find(std::string(key)) != object_->end(); }
  const nlohmann::ordered_json& member(std::string_view key) const;  // usage_error: missing
  const nlohmann::ordered_json& array(std::string_view key) const;   // usage_error: missing, or no array

  template <class Type>
  Type get(std::string_view key) const {
    return read_json<Type>(member(key), path_of(key));
  }
  // The member may be absent, or null.
  template <class Type>
  Type get_or(std::string_view key, Type otherwise) const {
    return has(key) && !member(key).is_null() ? get<Type>(key) : std::move(otherwise);
  }

 private:
  const nlohmann::ordered_json* object_;
  std::string path_;
};

// Ends in usage_error: "path: expected what".
[[noreturn]] void expected(const std::string& path, std::string_view what);

namespace json_types {
template <class Type>
struct reader;

// Whole numbers by their range; whether it is one tells the parser's own kind of number.
std::optional<std::int64_t> whole_signed(const nlohmann::ordered_json&);
std::optional<std::uint64_t> whole_unsigned(const nlohmann::ordered_json&);

template <std::integral Type>
requires(!std::same_as<Type, bool>) struct reader<Type> {
  static Type read(const nlohmann::ordered_json& value, const std::string& path) {
    if constexpr (std::is_signed_v<Type>) {
      if (const auto number = whole_signed(value); number && std::in_range<Type>(*number))
        return static_cast<Type>(*number);
    } else {
      if (const auto number = whole_unsigned(value); number && std::in_range<Type>(*number))
        return static_cast<Type>(*number);
    }
    expected(path, "a whole number from " + std::to_string(std::numeric_limits<Type>::min()) + " to " +
                       std::to_string(std::numeric_limits<Type>::max()));
  }
};
template <>
struct reader<bool> {
  static bool read(const nlohmann::ordered_json& value, const std::string& path) {
    if (!value.is_boolean()) expected(path, "true or false");
    return value.get<bool>();
  }
};
template <>
struct reader<double> {
  static double read(const nlohmann::ordered_json& value, const std::string& path) {
    if (value.is_null()) return std::numeric_limits<double>::quiet_NaN();
    if (!value.is_number()) expected(path, "a number");
    return value.get<double>();
  }
};
template <>
struct reader<std::string> {
  static std::string read(const nlohmann::ordered_json& value, const std::string& path) {
    if (!value.is_string()) expected(path, "text");
    return one_line(value.get_ref<const std::string&>());
  }
};
template <worded Type>
struct reader<Type> {
  static Type read(const nlohmann::ordered_json& value, const std::string& path) {
    const auto text = reader<std::string>::read(value, path);
    if (const auto known = from_word<Type>(text)) return *known;
    expected(path, "one of " + accepted_words<Type>() + ", not '" + text.substr(0, 60) + "'");
  }
};
template <class Item>
struct reader<std::optional<Item>> {
  static std::optional<Item> read(const nlohmann::ordered_json& value, const std::string& path) {
    if (value.is_null()) return std::nullopt;
    return reader<Item>::read(value, path);
  }
};
template <class Item>
struct reader<std::vector<Item>> {
  static std::vector<Item> read(const nlohmann::ordered_json& value, const std::string& path) {
    if (!value.is_array()) expected(path, "an array");
    std::vector<Item> all;
    all.reserve(value.size());
    for (const auto& one : value) all.push_back(reader<Item>::read(one, path));
    return all;
  }
};
template <class Item>
struct reader<std::map<std::string, Item>> {
  static std::map<std::string, Item> read(const nlohmann::ordered_json& value, const std::string& path) {
    if (!value.is_object()) expected(path, "an object");
    std::map<std::string, Item> all;
    for (const auto& [key, one] : value.items()) all.emplace(key, reader<Item>::read(one, path + "." + key));
    return all;
  }
};
}  // namespace json_types

template <class Type>
Type read_json(const nlohmann::ordered_json& value, const std::string& path) {
  return json_types::reader<Type>::read(value, path);
}

}  // namespace mgsync
