#include "src/base/strict_json.hpp"

#include <set>

#include <fmt/format.h>

#include "src/base/errors.hpp"

namespace mgsync {

using nlohmann::ordered_json;

namespace {
constexpr std::size_t most_keys = 1000;  // of one object, which the library searches from its beginning for each new key
}  // namespace

ordered_json parse_strictly(std::string_view text, const std::string& name, comments allowed) {
  if (text.size() > largest_document_bytes)
    throw usage_error(fmt::format("{}: {} bytes; at most {} are read", name, text.size(), largest_document_bytes));
  std::vector<std::set<std::string>> keys;  // of the objects that are open
  const auto watch = [&](int depth, ordered_json::parse_event_t event, const ordered_json& value) {
    using json_event = ordered_json::parse_event_t;
    if ((event == json_event::object_start || event == json_event::array_start) && depth > deepest_nesting)
      throw usage_error(fmt::format("{}: nested deeper than {}", name, deepest_nesting));
    if (event == json_event::object_start) keys.emplace_back();
    if (event == json_event::object_end) keys.pop_back();
    if (event == json_event::key && keys.back().size() == most_keys)
      throw usage_error(fmt::format("{}: more than {} keys in one object", name, most_keys));
    if (event == json_event::key && !keys.back().insert(value.get_ref<const std::string&>()).second)
      throw usage_error(fmt::format("{}: the key '{}' stands twice in one object", name, value.get<std::string>()));
    return true;
  };
  try {
    return ordered_json::parse(text, watch, true, allowed == comments::passed_over);
  } catch (const nlohmann::json::exception& error) {
    // Without the library's own number in front, and cut where it repeats a long text.
    std::string_view what = error.what();
    if (const auto number = what.find("] "); number != what.npos) what.remove_prefix(number + 2);
    throw usage_error(fmt::format("{}: {}{}", name, what.substr(0, 300), what.size() > 300 ? "..." : ""));
  }
}

void expected(const std::string& path, std::string_view what) {
  throw usage_error(fmt::format("{}: expected {}", path, what));
}

object_reader::object_reader(const ordered_json& object, std::string path) : object_(&object), path_(std::move(path)) {
  if (!object.is_object()) expected(path_, "an object");
}

std::string object_reader::path_of(std::string_view key) const { return fmt::format("{}.{}", path_, key); }

const ordered_json& object_reader::member(std::string_view key) const {
  const auto found = object_->find(std::string(key));
  if (found == object_->end()) throw usage_error(fmt::format("{}: missing", path_of(key)));
  return *found;
}

const ordered_json& object_reader::array(std::string_view key) const {
  const ordered_json& value = member(key);
  if (!value.is_array()) expected(path_of(key), "an array");
  return value;
}

namespace json_types {

std::optional<std::int64_t> whole_signed(const ordered_json& value) {
  if (value.is_number_unsigned()) {
    const auto number = value.get<std::uint64_t>();
    return std::in_range<std::int64_t>(number) ? std::optional(static_cast<std::int64_t>(number)) : std::nullopt;
  }
  return value.is_number_integer() ? std::optional(value.get<std::int64_t>()) : std::nullopt;
}

std::optional<std::uint64_t> whole_unsigned(const ordered_json& value) {
  if (value.is_number_unsigned()) return value.get<std::uint64_t>();
  const auto number = whole_signed(value);
  return number && *number >= 0 ? std::optional(static_cast<std::uint64_t>(*number)) : std::nullopt;
}

}  // namespace json_types

}  // namespace mgsync
