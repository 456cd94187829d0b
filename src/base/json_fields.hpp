// The ways of fields (src/base/fields.hpp) that lead to JSON and back: of files, and of messages between
// ranks.
//
//   nlohmann::ordered_json object = to_json(machine);
//   auto machine = from_json<machine_record>(text, "file.json");  // usage_error: what is wrong, and where
//   auto told = from_wire<seen>(ranks.broadcast(on_wire(mine), ...));
#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "src/base/json_reader.hpp"
#include "src/base/json_writer.hpp"

namespace mgsync {

template <class Type>
nlohmann::ordered_json to_json(const Type& value, whole_doubles how = whole_doubles::as_whole) {
  return json_writer(how).json_of(value);
}

// Reads one value, which must be the whole text. Otherwise throws usage_error, whose message begins with
// `name`.
template <class Type>
void read_json(std::string_view text, std::string_view name, Type&& value, const json_reading& how = {}) {
  json_reader(text, name, how).whole(value);
}
template <class Type>
Type from_json(std::string_view text, std::string_view name, const json_reading& how = {}) {
  Type value{};
  read_json(text, name, value, how);
  return value;
}

// The JSON on one line: newlines in its texts are escaped.
inline std::string dumped(const nlohmann::ordered_json& value) {
  return value.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

// Messages between the processes of a job, which all run the same program.
template <class Type>
std::string on_wire(const Type& value) {
  return dumped(to_json(value));
}
template <class Type>
void from_wire(std::string_view text, Type&& value) {
  read_json(text, "a message between ranks", value, {.to_the_letter = true});
}
template <class Type>
Type from_wire(std::string_view text) {
  Type value{};
  from_wire(text, value);
  return value;
}

}  // namespace mgsync
