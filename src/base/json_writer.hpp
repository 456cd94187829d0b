// Writes fields (src/base/fields.hpp) as JSON.
#pragma once

#include <cmath>
#include <concepts>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

#include <nlohmann/json.hpp>

#include "src/base/enum_words.hpp"
#include "src/base/fields.hpp"
#include "src/base/json_kinds.hpp"

namespace mgsync {

// How a double whose value is whole is written: 2 or 2.0.
enum class whole_doubles { as_whole, with_a_point };

// Builds JSON from fields. JSON has no infinities and no NaN: these are written as null.
class json_writer {
 public:
  using json = nlohmann::ordered_json;
  explicit json_writer(whole_doubles how) : how_(how) {}

  template <class Type>
  void needs(std::string_view key, const Type& value, std::int64_t = 0) {
    fields_.emplace_back(key, json_of(value));
  }
  template <class Type>
  void may(std::string_view key, const Type& value, std::int64_t = 0) {
    fields_.emplace_back(key, json_of(value));
  }
  template <class Type>
  void operator()(std::string_view key, const Type& value, std::int64_t = 0) {
    json told = json_of(value);
    const bool silent = told.is_null() || (told.is_structured() && told.empty()) || told == "";
    if (!silent) fields_.emplace_back(key, std::move(told));
  }

  template <class Type>
  json json_of(const Type& value) const {
    using namespace json_fields;
    if constexpr (with_a_bare_value<Type>) return json_of(bare(const_cast<Type&>(value)));  // changes nothing
    else if constexpr (is_a<Type, by_name>) return object_of(value.list);
    else if constexpr (is_a<Type, each_by>) return list_of(value.list, value.of);
    else if constexpr (is_a<Type, as_rows>) return rows_of(value.list);
    else if constexpr (std::same_as<Type, verbatim>) return value.text;
    else if constexpr (is_a<Type, told_as>) return json_of(value.tell(std::as_const(value.value)));
    else if constexpr (is_a<Type, std::optional>) return value ? json_of(*value) : json();
    else if constexpr (is_a<Type, std::variant>)
      return std::visit([this](const auto& one) { return this->json_of(one); }, value);
    else if constexpr (is_duration<Type>) return value.count();
    else if constexpr (worded<Type>) return to_string(value).empty() ? json() : json(to_string(value));
    else if constexpr (std::is_enum_v<Type>) return static_cast<std::underlying_type_t<Type>>(value);
    else if constexpr (std::floating_point<Type>) return number_of(value);
    else if constexpr (listed<Type>) {
      json all = json::array();
      for (const auto& one : value) all.push_back(json_of(one));
      return all;
    } else if constexpr (is_a<Type, std::map>) {
      json all = json::object();
      for (const auto& [key, one] : value) all.get_ref<json::object_t&>().emplace_back(key, json_of(one));
      return all;
    } else if constexpr (requires { fields(std::declval<json_writer&>(), const_cast<Type&>(value)); }) {
      json_writer inner(how_);
      fields(inner, const_cast<Type&>(value));
      return std::move(inner.fields_);
    } else {
      return value;
    }
  }

 private:
  json number_of(double value) const {
    constexpr double exact = 9007199254740992.0;  // 2^53
    if (!std::isfinite(value)) return nullptr;
    if (how_ == whole_doubles::as_whole && std::abs(value) < exact && value == std::floor(value))
      return static_cast<std::int64_t>(value);
    return value;
  }
  template <class List>
  json object_of(List& list) const {
    json all = json::object();
    for (auto& one : list) all[one.name] = json_of(one);
    return all;
  }
  template <class List, class Fields>
  json list_of(List& list, const Fields& of) const {
    json all = json::array();
    for (auto& one : list) all.push_back(json_of(told_by{[&](auto& way) { of(way, one); }}));
    return all;
  }
  template <class List>
  json rows_of(List& list) const {
    json all = json::array();
    for (auto& one : list) {
      json_writer inner(how_);
      fields(inner, one);
      json& row = all.emplace_back(json::array());
      for (auto& [key, value] : inner.fields_) row.push_back(std::move(value));
    }
    return all;
  }

  whole_doubles how_;
  json::object_t fields_;
};

}  // namespace mgsync
