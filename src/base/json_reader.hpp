// Reads fields (src/base/fields.hpp) from JSON.
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
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
#include "src/base/json_kinds.hpp"
#include "src/base/strict_json.hpp"

namespace mgsync {

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

}  // namespace mgsync
