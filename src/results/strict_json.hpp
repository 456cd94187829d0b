// Reads JSON that others wrote: bounded in size and depth, no key twice, no unknown key, every error with its place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace mgsync {

inline constexpr std::size_t largest_document_bytes = std::size_t{256} << 20;
inline constexpr int deepest_nesting = 32;

// Throws usage_error, beginning with `name`, for anything but one JSON value within the bounds. Numbers that a double
// cannot hold are refused.
nlohmann::ordered_json parse_strictly(std::string_view text, const std::string& name);

// Takes the members out of one JSON object. Every reader throws usage_error naming the member: it is missing, or not
// of the type asked for.
class object_reader {
 public:
  object_reader(const nlohmann::ordered_json& object, std::string path);

  const nlohmann::ordered_json& member(std::string_view key);
  bool has(std::string_view key) const;
  void pass_over(std::string_view key) { seen_.emplace(key); }

  std::string text(std::string_view key);
  std::string text_or_null(std::string_view key);  // null: empty
  std::string text_or(std::string_view key, std::string_view otherwise);  // the member may be absent
  bool flag(std::string_view key);
  double number(std::string_view key);
  double number_or_null(std::string_view key, double if_null);
  std::uint64_t count(std::string_view key, std::uint64_t largest = std::numeric_limits<std::uint64_t>::max());
  std::optional<std::uint64_t> count_or_null(std::string_view key,
                                             std::uint64_t largest = std::numeric_limits<std::uint64_t>::max());
  int integer(std::string_view key);
  std::vector<int> integers(std::string_view key);
  std::vector<std::string> texts(std::string_view key);
  std::vector<double> numbers(std::string_view key);
  std::vector<std::uint32_t> counts(std::string_view key);

  std::string path_of(std::string_view key) const;
  // Refuses members that nobody asked for.
  void finish() const;

 private:
  const nlohmann::ordered_json& array(std::string_view key);
  [[noreturn]] void wrong(std::string_view key, std::string_view expected) const;

  const nlohmann::ordered_json* object_;
  std::string path_;
  std::set<std::string, std::less<>> seen_;
};

}  // namespace mgsync
