// An axis: something that a study varies, declared once and with a type. Its option, the check of what is
// typed, its help, what `mgsync study` lists, and its name and unit in results follow from the declaration.
//
//   constexpr axis_of<unsigned> members({.name = "members", .help = "over how many GPUs, or host threads"},
//                                       numbers_in{.least = 1, .most = 4096, .defaults = "1"});
//   constexpr axis_of<policy> policies({.name = "policy", .help = "how the host waits for the end"},
//                                      words_in<policy>{.of = only_gpus, .defaults = "spin"});
//   constexpr const axis_declaration* axes[] = {&members, &policies};
//
//   for (const auto how : asked.values(policies)) ...
#pragma once

#include <algorithm>
#include <any>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

#include "src/base/enum_words.hpp"
#include "src/results/values/point.hpp"
#include "topology/group.hpp"

namespace mgsync {

using typed_words = std::map<std::string, std::vector<std::string>, std::less<>>;  // by the name of the axis

enum class word_count { list, one, none };  // none: a switch

// The kind of members for which some words of an axis are accepted.
struct takers {
  std::string_view name;
  std::optional<topology::device> device;  // none: members of both kinds
  bool include(topology::device kind) const { return !device || *device == kind; }
};
inline constexpr takers everybody{"", {}}, only_hosts{"host members", topology::device::host},
    only_gpus{"GPUs", topology::device::gpu};

class axis_declaration;

struct axis_text {
  std::string_view name;    // "argument_bytes"; the option is --argument-bytes
  std::string_view help;    // a sentence
  std::string_view unit{};  // of its numbers, "us" or "B"; other units of time or memory may be typed
  word_count counts = word_count::list;
  bool asks_model = false;  // when typed, the study's model answers, and nothing is measured
  const axis_declaration* another_name_of = nullptr;  // this axis is an alias of that one
};

// The following forms say what words an axis accepts, for all members or for those of one kind; an axis has
// one form or several. `defaults` are words joined by commas, which are used when none is typed; empty: the
// study chooses its own.

// The words of a table; axes of lists also accept `all` for every one of them. A table of words, or of values
// with their words, may be given directly as a form. A word that two forms contain stands for the values of
// both.
template <class Named>
using entry = std::conditional_t<std::is_same_v<Named, std::string_view>, std::string_view,
                                 std::pair<Named, std::string_view>>;
template <class Named>
struct words_in {
  takers of = everybody;
  std::string_view defaults = "all";
  std::span<const entry<Named>> table = enum_words<Named>::list;
};

// The names in a list that a function returns: words, values with their words, or records with a name (the
// values are then pointers to them).
template <auto List>
struct names_in {
  takers of = everybody;
  std::string_view defaults = "all";
};

// Whole numbers from `least` to `most` in steps, or only those in `only`.
struct numbers_in {
  takers of = everybody;
  std::uint64_t least = 0, most = 0, step = 1;
  std::string_view defaults{};
  bool ranges = false;                    // whether 1-4 may be typed for 1, 2, 3 and 4
  std::span<const std::uint64_t> only{};  // these, in place of a range
};

// Words that a function of the study reads. `read` appends the values that the first word, or the first few
// together, stand for, and returns how many words it used; 0: the first means nothing. It may throw
// usage_error with a better message than the usual "accepted: ...". `known` returns words for shell
// completion.
template <class Value>
struct read_by {
  takers of = everybody;
  std::string_view defaults{};
  std::string_view accepted{};  // for people
  std::size_t (*read)(std::span<const std::string> words, std::vector<Value>& into) = nullptr;
  std::vector<std::string> (*known)() = nullptr;
};

// An axis without its type, for the command line.
class axis_declaration : public axis_text {
 public:
  std::string option() const;    // "argument-bytes"
  std::string accepted() const;  // for people: "0 to 1000, in whole us, with a unit of its own or without"
  std::string defaults() const;  // for people; empty: the study chooses its own
  // The values that the words mean to members of this kind. Throws usage_error naming the option, the word
  // and what is accepted.
  std::any values_of(std::span<const std::string> words, topology::device) const;
  std::vector<std::string> default_words(topology::device) const;
  // Words for shell completion, without numbers of a range.
  std::vector<std::string> known_words() const;

  struct described_form {
    takers of;
    std::string_view defaults;
    std::vector<std::string> names;   // of a table or of a list
    std::vector<std::string> known;   // words for completion, of a read_by
    std::optional<numbers_in> range;  // of a numbers_in
    std::string text;                 // what is accepted, for people, where there are no names
  };
  virtual std::vector<described_form> forms() const = 0;

 protected:
  constexpr explicit axis_declaration(const axis_text& text) : axis_text(text) {}
  ~axis_declaration() = default;

  virtual std::any nothing() const = 0;
  virtual std::size_t read(std::size_t form, std::span<const std::string> words, std::any& into) const = 0;
  virtual void drop_repeated(std::any&) const = 0;

 private:
  [[noreturn]] void refuse(std::span<const std::string> words, topology::device) const;
  std::size_t read_first(std::span<const std::string> words, topology::device, std::any& into) const;
  std::vector<std::string> accepted_by(topology::device) const;
};

using declared_axes = std::span<const axis_declaration* const>;

// Whether two axes of different studies are declared alike.
bool operator==(const axis_declaration&, const axis_declaration&);

// "1 to 8", "0, 8, 128", "256 to 51200 in steps of 256".
std::string text_of(const numbers_in&);
// Appends the number, or the numbers of a range, that the word stands for. False: it is neither.
bool read_numbers(const numbers_in&, std::string_view word, std::string_view unit,
                  std::vector<std::uint64_t>& into);

template <class Value>
class axis_of final : public axis_declaration {
 public:
  template <class... Forms>
  constexpr explicit axis_of(const axis_text& text, const Forms&... forms)
      : axis_declaration(text), forms_{form(forms)...}, count_(sizeof...(forms)) {}

  // The word for a value, as typed and as in results; empty where the value has none.
  std::string word_for(const Value& value) const {
    for (std::size_t i = 0; i < count_; ++i)
      if (forms_[i].named != nullptr)
        for (const auto& [one, word] : forms_[i].named(forms_[i]))
          if (one == value) return word;
    return {};
  }

 private:
  using value_names = std::vector<std::pair<Value, std::string>>;

  static value_names listed(const auto& some) {
    value_names all;
    for (const auto& one : some)
      if constexpr (requires { one.name; }) all.emplace_back(&one, one.name);
      else if constexpr (requires { one.first; }) all.emplace_back(one.first, one.second);
      else all.emplace_back(one, one);
    return all;
  }

  struct form {
    takers of{};
    std::string_view defaults{};
    value_names (*named)(const form&) = nullptr;
    const void* table = nullptr;
    std::size_t entries = 0;
    numbers_in range{};
    read_by<Value> own{};

    constexpr form() = default;
    template <class Named>
    constexpr explicit form(const words_in<Named>& w)
        : of(w.of), defaults(w.defaults), table(w.table.data()), entries(w.table.size()) {
      named = [](const form& f) {
        return listed(std::span(static_cast<const entry<Named>*>(f.table), f.entries));
      };
    }
    template <class Named, std::size_t Count>
    constexpr explicit form(const std::pair<Named, std::string_view> (&these)[Count])
        : form(words_in<Named>{.table = these}) {}
    template <std::size_t Count>
    constexpr explicit form(const std::string_view (&these)[Count])
        : form(words_in<std::string_view>{.table = these}) {}
    template <auto List>
    constexpr explicit form(const names_in<List>& n) : of(n.of), defaults(n.defaults) {
      named = [](const form&) { return listed(List()); };
    }
    constexpr explicit form(const numbers_in& n) : of(n.of), defaults(n.defaults), range(n) {}
    constexpr explicit form(const read_by<Value>& r) : of(r.of), defaults(r.defaults), own(r) {}
  };

  std::vector<described_form> forms() const override {
    std::vector<described_form> all;
    for (std::size_t i = 0; i < count_; ++i) {
      const form& f = forms_[i];
      auto& one = all.emplace_back(described_form{f.of, f.defaults, {}, {}, {}, {}});
      if (f.named != nullptr)
        for (auto& [_, word] : f.named(f)) one.names.push_back(word);
      else if (f.own.read != nullptr) {
        one.text = f.own.accepted;
        if (f.own.known != nullptr) one.known = f.own.known();
      } else one.text = text_of(*(one.range = f.range));
    }
    return all;
  }

  std::any nothing() const override { return std::vector<Value>(); }

  std::size_t read(std::size_t which, std::span<const std::string> words, std::any& into) const override {
    auto& values = std::any_cast<std::vector<Value>&>(into);
    const form& f = forms_[which];
    if (f.named != nullptr) {
      const auto before = values.size();
      for (auto& [value, word] : f.named(f))
        if (word == words.front() || (counts == word_count::list && words.front() == "all"))
          values.push_back(value);
      return values.size() > before ? 1 : 0;
    }
    if (f.own.read != nullptr) return f.own.read(words, values);
    if constexpr (std::is_arithmetic_v<Value>) {
      std::vector<std::uint64_t> found;
      if (!read_numbers(f.range, words.front(), unit, found)) return 0;
      for (const auto one : found) values.push_back(static_cast<Value>(one));
      return 1;
    }
    return 0;
  }

  void drop_repeated(std::any& of) const override {
    auto& values = std::any_cast<std::vector<Value>&>(of);
    if constexpr (std::is_integral_v<Value> && !std::is_same_v<Value, bool>) {
      std::unordered_set<Value> known;
      std::erase_if(values, [&](const Value& one) { return !known.insert(one).second; });
    } else {
      std::vector<Value> once;
      for (const Value& one : values)
        if (std::find(once.begin(), once.end(), one) == once.end()) once.push_back(one);
      values = std::move(once);
    }
  }

  std::array<form, 4> forms_;
  std::size_t count_;
};

// The values of a study's axes, typed or by default, looked up by the axis itself. Throws std::logic_error
// for an axis of another study.
class axis_values {
 public:
  // All values in the order in which they were typed, without repetitions.
  template <class Value>
  const std::vector<Value>& values(const axis_of<Value>& of) const {
    return std::any_cast<const std::vector<Value>&>(known(of).values);
  }
  // For an axis with values of several types: the values of type One.
  template <class One, class... Types>
  std::vector<One> values(const axis_of<std::variant<Types...>>& of) const {
    std::vector<One> some;
    for (const auto& value : values(of))
      if (const auto* one = std::get_if<One>(&value)) some.push_back(*one);
    return some;
  }
  // The first value; nullptr: nothing was typed, and there is no default.
  template <class Value>
  const Value* find(const axis_of<Value>& of) const {
    const auto& all = values(of);
    return all.empty() ? nullptr : &all.front();
  }
  // The first value of an axis that always has one.
  template <class Value>
  Value one(const axis_of<Value>& of) const {
    return values(of).at(0);
  }
  // Whether the axis was typed: for a switch, whether it is on.
  bool typed(const axis_declaration& axis) const { return known(axis).typed; }
  // The words that were typed, or the defaults.
  const std::vector<std::string>& words_of(const axis_declaration& axis) const { return known(axis).words; }

 private:
  friend axis_values settled(declared_axes, const typed_words&, topology::device);
  struct chosen {
    std::any values;
    std::vector<std::string> words;
    bool typed = false;
  };
  const chosen& known(const axis_declaration&) const;

  std::map<const axis_declaration*, chosen> of_;
};

// The values of every axis for members of this kind, from the typed words or the defaults. Throws
// usage_error, naming the accepted words, for a word that the axis does not accept for such members. Typed
// words of axes that are not in `axes` are ignored: they belong to another study.
axis_values settled(declared_axes axes, const typed_words&, topology::device);

// Sets a point's value of an axis.
template <class Value>
void set(point& p, const axis_of<Value>& of, const std::type_identity_t<Value>& value) {
  if (auto word = of.word_for(value); !word.empty()) p.set(of.name, std::move(word));
  else if constexpr (std::is_arithmetic_v<Value>) p.set(of.name, static_cast<double>(value), of.unit);
}

}  // namespace mgsync
