// The ways of fields (src/base/fields.hpp) that lead to JSON and back: of files, and of messages between
// ranks.
//
//   nlohmann::ordered_json object = to_json(machine);
//   auto machine = from_json<machine_record>(text, "file.json");  // usage_error: what is wrong, and where
//   auto told = from_wire<seen>(ranks.broadcast(on_wire(mine), ...));
#pragma once

#include <chrono>
#include <cmath>
#include <concepts>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "src/base/enum_words.hpp"
#include "src/base/fields.hpp"
#include "src/base/strict_json.hpp"

namespace mgsync {

namespace json_fields {

template <class Type, template <class...> class Template>
inline constexpr bool is_a = false;
template <class... Parts, template <class...> class Template>
inline constexpr bool is_a<Template<Parts...>, Template> = true;
template <class Type>
inline constexpr bool is_duration = false;
template <class Rep, class Period>
inline constexpr bool is_duration<std::chrono::duration<Rep, Period>> = true;
template <class Type>
concept listed = is_a<Type, std::vector> || is_a<Type, std::set>;
template <class Type>
concept with_a_bare_value = requires(Type& thing) {
  bare(thing);
};

}  // namespace json_fields

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

// How strictly a text is read.
struct json_reading {
  bool knows_all_keys =
      false;  // unknown keys are refused; otherwise they are ignored, as a newer mgsync may have written them
  int most = -1;  // negative: no bound; otherwise numbers must be >= 0, an int at most this, and a list at
                  // most so long
  bool to_the_letter = false;  // texts are taken unchanged, for messages between processes of mgsync
  mgsync::comments comments = mgsync::comments::refused;
};

// Reads what comes next in a text.
class json_reader {
 public:
  json_reader(std::string_view text, std::string_view name, const json_reading& how)
      : in_(text, name, how.comments), how_(how) {}

  template <class Type>
  void whole(Type&& value) {
    take(value, how_.most);
    in_.end();
  }

  template <class Type>
  void take(Type& value, std::int64_t most) {
    using namespace json_fields;
    if constexpr (with_a_bare_value<Type>) {
      auto&& inner = bare(value);
      take(inner, most);
    } else if constexpr (is_a<Type, by_name>) take_by_name(value.list);
    else if constexpr (is_a<Type, each_by>) {
      value.list.clear();
      of_kind('[', "an array").array([&] {
        take_fields([&, &one = value.list.emplace_back()](auto& way) { value.of(way, one); });
      });
    } else if constexpr (is_a<Type, as_rows>) take_rows(value.list);
    else if constexpr (std::same_as<Type, verbatim>) value.text = of_kind('"', "text").text();
    else if constexpr (is_a<Type, told_as>) {
      using told_type = std::remove_cvref_t<decltype(value.tell(std::as_const(value.value)))>;
      std::conditional_t<std::same_as<told_type, std::string>, std::optional<std::string>, told_type> told{};
      if (!std::same_as<told_type, std::string> || in_.kind() == '"') take(told, most);
      value.value = value.take(std::move(told), in_);
    } else if constexpr (is_a<Type, std::optional>) {
      if (in_.kind() == 'n') return in_.null(), value.reset();
      if constexpr (requires { unread(&*value); }) value = unread(&*value);
      else value.emplace();
      take(*value, most);
    } else if constexpr (std::same_as<Type, bool>) value = of_kind('t', "true or false").boolean();
    else if constexpr (std::same_as<Type, std::variant<double, std::string>>) {
      if (in_.kind() == '"') take(value.template emplace<std::string>(), most);
      else of_kind('0', "a number or a word"), take(value.template emplace<double>(), most);
    } else if constexpr (is_duration<Type>) {
      typename Type::rep count{};
      take(count, most);
      value = Type(count);
    } else if constexpr (std::integral<Type>) take_whole(value, std::same_as<Type, int> ? most : -1);
    else if constexpr (worded<Type>) take_word(value);
    else if constexpr (std::is_enum_v<Type>) {
      std::underlying_type_t<Type> number{};
      take_whole(number, -1);
      value = static_cast<Type>(number);
    } else if constexpr (std::floating_point<Type>) take_number(value);
    else if constexpr (std::same_as<Type, std::string>) {
      auto& in = of_kind('"', "text");
      value = how_.to_the_letter ? in.text() : in.line();
    } else if constexpr (std::same_as<Type, nlohmann::ordered_json>) take_json(value);
    else if constexpr (listed<Type>) take_list(value, most);
    else if constexpr (is_a<Type, std::map>) {
      value.clear();
      of_kind('{', "an object").object([&](const std::string& key) { take(value[key], how_.most); });
    } else take_fields([&](auto& way) { fields(way, value); });
  }

 private:
  // Takes the fields out of one object. Those that stand in the order of their declaration take one pass
  // through it.
  class object_way {
   public:
    explicit object_way(json_reader& reader) : reader_(reader) {
      reader.in_.open();
      next_key();
    }
    template <class Type>
    void needs(std::string_view key, Type&& value, std::int64_t most = -1) {
      field(key, value, most, true);
    }
    template <class Type>
    void may(std::string_view key, Type&& value, std::int64_t most = -1) {
      field(key, value, most, false);
    }
    template <class Type>
    void operator()(std::string_view key, Type&& value, std::int64_t most = -1) {
      field(key, value, most, false);
    }

    template <class Fields>
    void take(const Fields& all) {
      while (more_) {
        index_ = 0;
        taken_ = false;
        all(*this);
        if (!taken_) unknown(all);
      }
      what_ = pass::checking;
      index_ = 0;
      all(*this);
    }

   private:
    enum class pass { reading, checking, naming };

    template <class Type>
    void field(std::string_view key, Type& value, std::int64_t most, bool needed) {
      const auto bit = std::uint64_t{1} << index_++;
      auto& in = reader_.in_;
      if (what_ == pass::naming) known_.emplace_back(key);
      if (what_ == pass::checking && needed && (met_ & bit) == 0) {
        const json_text::inside at(in, key);
        in.refuse("missing");
      }
      if (what_ != pass::reading || !more_ || key_ != key) return;
      if ((met_ & bit) != 0) in.twice(key);
      met_ |= bit;
      taken_ = true;
      {
        const json_text::inside at(in, key);
        if (!needed && in.kind() == 'n') in.null();
        else reader_.take(value, most < 0 ? reader_.how_.most : most);
      }
      next_key();
    }
    void next_key() {
      more_ = reader_.in_.more();
      if (more_) key_ = reader_.in_.key();
    }
    template <class Fields>
    void unknown(const Fields& all) {
      auto& in = reader_.in_;
      if (reader_.how_.knows_all_keys) {
        what_ = pass::naming;
        all(*this);
        in.refuse(fmt::format(
            "unknown key {}; accepted: {}",
            nlohmann::json(key_.substr(0, 60)).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace),
            fmt::join(known_, ", ")));
      }
      if (!others_.add(key_)) in.twice(key_);
      {
        const json_text::inside at(in, key_);
        in.skip();
      }
      next_key();
    }

    json_reader& reader_;
    std::string key_;
    bool more_ = false, taken_ = false;
    pass what_ = pass::reading;
    unsigned index_ = 0;
    std::uint64_t met_ = 0;  // bit i: field i was read
    keys_met others_;
    std::vector<std::string> known_;
  };

  // Reads the fields of one row by position. Further values are ignored, as a newer mgsync may have written
  // them.
  class row_way {
   public:
    explicit row_way(json_reader& reader) : reader_(reader) {}
    template <class Type>
    void needs(std::string_view, Type&& value, std::int64_t most = -1) {
      if (!reader_.in_.more()) reader_.in_.expected("a value for each column");
      reader_.take(value, most < 0 ? reader_.how_.most : most);
    }

   private:
    json_reader& reader_;
  };

  json_text& of_kind(char kind, std::string_view wanted) {
    if (in_.kind() != kind) in_.expected(wanted);
    return in_;
  }
  template <class Fields>
  void take_fields(const Fields& all) {
    of_kind('{', "an object");
    object_way(*this).take(all);
  }
  template <class Type>
  void take_whole(Type& value, std::int64_t most) {
    const auto digits = in_.kind() == '0' ? in_.number() : std::string_view();
    const auto least = most < 0 ? std::numeric_limits<Type>::min() : Type{};
    const auto largest = most < 0 ? std::numeric_limits<Type>::max() : static_cast<Type>(most);
    const auto takes = [&](auto whole) {
      const bool fits = whole && std::in_range<Type>(*whole) && static_cast<Type>(*whole) >= least &&
                        static_cast<Type>(*whole) <= largest;
      if (!fits) in_.expected(fmt::format("a whole number from {} to {}", least, largest));
      value = static_cast<Type>(*whole);
    };
    if constexpr (std::is_signed_v<Type>) takes(whole_signed(digits));
    else takes(whole_unsigned(digits));
  }
  template <class Type>
  void take_word(Type& value) {
    std::string word;
    take(word, -1);
    const auto known = from_word<Type>(word);
    if (!known) in_.expected(fmt::format("one of {}, not '{}'", accepted_words<Type>(), word.substr(0, 60)));
    value = *known;
  }
  void take_number(double& value) {
    const bool any = how_.most < 0;
    if (any && in_.kind() == 'n') {
      in_.null();
      value = std::numeric_limits<double>::quiet_NaN();
      return;
    }
    const std::string_view wanted = any ? "a number" : "a number of 0 or more";
    value = in_.number_of(of_kind('0', wanted).number());
    if (!any && value < 0) in_.expected(wanted);
  }
  template <class List>
  void take_list(List& list, std::int64_t most) {
    const auto wanted = [&] { return most < 0 ? "an array" : fmt::format("an array of at most {}", most); };
    if (in_.kind() != '[') in_.expected(wanted());
    list.clear();
    std::size_t index = 0;
    for (in_.open(); in_.more(); ++index) {
      if (most >= 0 && index == static_cast<std::size_t>(most)) in_.expected(wanted());
      const json_text::inside at(in_, {}, index);
      typename List::value_type one{};
      take(one, how_.most);
      list.insert(list.end(), std::move(one));
    }
  }
  void take_json(nlohmann::ordered_json& value) {
    switch (in_.kind()) {
    case '{':
      value = nlohmann::ordered_json::object();
      return in_.object([&](const std::string& key) {
        take_json(value.get_ref<nlohmann::ordered_json::object_t&>().emplace_back(key, nullptr).second);
      });
    case '[':
      value = nlohmann::ordered_json::array();
      return in_.array([&] { take_json(value.emplace_back()); });
    case '"': value = in_.text(); return;
    case 't': value = in_.boolean(); return;
    case 'n': in_.null(); return;
    default:
      const auto digits = in_.number();
      if (const auto whole = whole_unsigned(digits)) value = *whole;
      else if (const auto below = whole_signed(digits)) value = *below;
      else value = in_.number_of(digits);
    }
  }
  template <class List>
  void take_by_name(List& list) {
    list.clear();
    of_kind('{', "an object").object([&](const std::string& key) {
      auto& one = list.emplace_back();
      one.name = key;
      take(one, how_.most);
    });
  }
  template <class List>
  void take_rows(List& list) {
    list.clear();
    of_kind('[', "an array").array([&] {
      of_kind('[', "an array").open();
      row_way row(*this);
      fields(row, list.emplace_back());
      while (in_.more()) in_.skip();
    });
  }

  json_text in_;
  json_reading how_;
};

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
