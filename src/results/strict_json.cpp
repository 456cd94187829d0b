#include "src/results/strict_json.hpp"

#include <cmath>

#include <fmt/format.h>

#include "src/base/errors.hpp"

namespace mgsync {

using nlohmann::ordered_json;

ordered_json parse_strictly(std::string_view text, const std::string& name) {
  if (text.size() > largest_document_bytes)
    throw usage_error(fmt::format("{}: {} bytes; at most {} are read", name, text.size(), largest_document_bytes));
  std::vector<std::set<std::string>> keys;  // of the objects that are open
  const auto watch = [&](int depth, ordered_json::parse_event_t event, const ordered_json& value) {
    using json_event = ordered_json::parse_event_t;
    if ((event == json_event::object_start || event == json_event::array_start) && depth > deepest_nesting)
      throw usage_error(fmt::format("{}: nested deeper than {}", name, deepest_nesting));
    if (event == json_event::object_start) keys.emplace_back();
    if (event == json_event::object_end) keys.pop_back();
    if (event == json_event::key && !keys.back().insert(value.get_ref<const std::string&>()).second)
      throw usage_error(fmt::format("{}: the key '{}' stands twice in one object", name, value.get<std::string>()));
    return true;
  };
  try {
    return ordered_json::parse(text, watch);
  } catch (const nlohmann::json::exception& error) {
    throw usage_error(fmt::format("{}: {}", name, error.what()));
  }
}

namespace {

bool is_count(const ordered_json& value) {
  return value.is_number_unsigned() || (value.is_number_integer() && value.get<std::int64_t>() >= 0);
}

bool is_int(const ordered_json& value) {
  if (value.is_number_unsigned()) return value.get<std::uint64_t>() <= std::numeric_limits<int>::max();
  return value.is_number_integer() && value.get<std::int64_t>() >= std::numeric_limits<int>::min() &&
         value.get<std::int64_t>() <= std::numeric_limits<int>::max();
}

}  // namespace

object_reader::object_reader(const ordered_json& object, std::string path) : object_(&object), path_(std::move(path)) {
  if (!object.is_object()) throw usage_error(fmt::format("{}: expected an object", path_));
}

std::string object_reader::path_of(std::string_view key) const { return fmt::format("{}.{}", path_, key); }

void object_reader::wrong(std::string_view key, std::string_view expected) const {
  throw usage_error(fmt::format("{}: expected {}", path_of(key), expected));
}

bool object_reader::has(std::string_view key) const { return object_->find(std::string(key)) != object_->end(); }

const ordered_json& object_reader::member(std::string_view key) {
  const auto found = object_->find(std::string(key));
  if (found == object_->end()) throw usage_error(fmt::format("{}: missing", path_of(key)));
  seen_.emplace(key);
  return *found;
}

std::string object_reader::text(std::string_view key) {
  const ordered_json& value = member(key);
  if (!value.is_string()) wrong(key, "text");
  return value.get<std::string>();
}

std::string object_reader::text_or(std::string_view key, std::string_view otherwise) {
  return object_->contains(key) ? text(key) : std::string(otherwise);
}

std::string object_reader::text_or_null(std::string_view key) {
  return member(key).is_null() ? std::string() : text(key);
}

bool object_reader::flag(std::string_view key) {
  const ordered_json& value = member(key);
  if (!value.is_boolean()) wrong(key, "true or false");
  return value.get<bool>();
}

double object_reader::number(std::string_view key) {
  const ordered_json& value = member(key);
  if (!value.is_number()) wrong(key, "a number");
  return value.get<double>();
}

double object_reader::number_or_null(std::string_view key, double if_null) {
  return member(key).is_null() ? if_null : number(key);
}

std::uint64_t object_reader::count(std::string_view key, std::uint64_t largest) {
  const ordered_json& value = member(key);
  if (!is_count(value) || value.get<std::uint64_t>() > largest)
    wrong(key, fmt::format("a whole number from 0 to {}", largest));
  return value.get<std::uint64_t>();
}

std::optional<std::uint64_t> object_reader::count_or_null(std::string_view key, std::uint64_t largest) {
  if (member(key).is_null()) return {};
  return count(key, largest);
}

int object_reader::integer(std::string_view key) {
  const ordered_json& value = member(key);
  if (!is_int(value)) wrong(key, "a whole number of 32 bits");
  return value.get<int>();
}

const ordered_json& object_reader::array(std::string_view key) {
  const ordered_json& value = member(key);
  if (!value.is_array()) wrong(key, "an array");
  return value;
}

std::vector<int> object_reader::integers(std::string_view key) {
  std::vector<int> all;
  for (const ordered_json& value : array(key)) {
    if (!is_int(value)) wrong(key, "whole numbers of 32 bits");
    all.push_back(value.get<int>());
  }
  return all;
}

std::vector<std::string> object_reader::texts(std::string_view key) {
  std::vector<std::string> all;
  for (const ordered_json& value : array(key)) {
    if (!value.is_string()) wrong(key, "texts");
    all.push_back(value.get<std::string>());
  }
  return all;
}

std::vector<double> object_reader::numbers(std::string_view key) {
  std::vector<double> all;
  for (const ordered_json& value : array(key)) {
    if (!value.is_number()) wrong(key, "numbers");
    all.push_back(value.get<double>());
  }
  return all;
}

std::vector<std::uint32_t> object_reader::counts(std::string_view key) {
  std::vector<std::uint32_t> all;
  for (const ordered_json& value : array(key)) {
    if (!is_count(value) || value.get<std::uint64_t>() > std::numeric_limits<std::uint32_t>::max())
      wrong(key, "whole numbers of 32 bits, none negative");
    all.push_back(value.get<std::uint32_t>());
  }
  return all;
}

void object_reader::finish() const {
  for (const auto& [key, value] : object_->items())
    if (!seen_.contains(key)) throw usage_error(fmt::format("{}: not known here", path_of(key)));
}

}  // namespace mgsync
