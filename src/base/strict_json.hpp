// A reader of untrusted JSON that goes through the text once without building a tree. Sizes and depth are
// bounded, and every error names its position. src/base/json_fields.hpp reads objects of types with it.
//
//   json_text in(R"({"a": [1, 2]})", "file.json");
//   in.object([&](const std::string& key) { in.array([&] { sum += in.number(); }); });
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace mgsync {

inline constexpr std::size_t largest_document_bytes = std::size_t{256} << 20;
inline constexpr std::size_t deepest_nesting = 32;
inline constexpr std::size_t most_keys = 1000;  // of one object
inline constexpr std::size_t most_values =
    std::size_t{1} << 24;  // in one document: a value may take only three bytes of text, but much memory

inline constexpr std::size_t most_listed = std::size_t{1} << 21;

enum class comments { refused, passed_over };  // comments in the style of C++

// The keys of one object, to find those that stand there twice.
class keys_met {
 public:
  bool add(const std::string& key);  // false: the key was there already

 private:
  std::vector<std::string> few_;  // searched one by one, which is faster for few keys than a set
  std::set<std::string> many_;
};

// A position in the text, and what comes next. All functions throw usage_error. For malformed JSON, and
// beyond the bounds, its message begins with the name, the line and the column; otherwise with the name and
// the path of the value ("file.json.results[3].status").
class json_text {
 public:
  // Both texts must outlive this object.
  json_text(std::string_view text, std::string_view name, comments = comments::refused);

  // What comes next: '{', '[', '"', '0' (a number), 't' (true or false) or 'n' (null).
  char kind();
  // Each takes the value that comes next, which must be of its kind.
  void null() { word("null"); }
  bool boolean();
  std::string_view number();  // its digits, unchanged
  std::string text();
  std::string line();  // the same on one line: src/base/printable.hpp
  // One by one: open, and as long as there is more the value (of an object the key first).
  void open();
  bool more();
  std::string key();  // on one line
  // Anything, whatever is in it.
  void skip();
  // Throws unless nothing but blanks follows the value.
  void end();
  // Converts what number() returned; throws where a double cannot hold it.
  double number_of(std::string_view digits) const;
  // Counts numbers of lists that are written as one text ("0-3,8"), which all together are bounded by
  // most_listed.
  void count_listed(std::size_t numbers);

  template <class Member>
  void object(Member&& member) {
    keys_met met;
    for (open(); more();) {
      std::string name = key();
      if (!met.add(name)) twice(name);
      const inside at(*this, name);
      member(name);
    }
  }
  template <class Item>
  void array(Item&& item) {
    std::size_t index = 0;
    for (open(); more(); ++index) {
      const inside at(*this, {}, index);
      item();
    }
  }

  // While it lives, paths in messages contain this member or item.
  class inside {
   public:
    inside(json_text& of, std::string_view key, std::size_t index = 0) : of_(of) {
      of.path_.push_back({key, index});
    }
    ~inside() { of_.path_.pop_back(); }
    inside(const inside&) = delete;
    inside& operator=(const inside&) = delete;

   private:
    json_text& of_;
  };

  std::string path() const;
  // "path: expected what".
  [[noreturn]] void expected(std::string_view what) const;
  // "path: sentence".
  [[noreturn]] void refuse(std::string_view sentence) const;
  [[noreturn]] void twice(std::string_view key) const;

 private:
  struct part {
    std::string_view key;  // data() is nullptr for an item of an array
    std::size_t index;
  };
  struct level {
    char closing;
    std::size_t count;
  };
  [[noreturn]] void malformed(std::string_view what) const;
  void count_value();
  void blanks();
  void word(std::string_view);
  void escape(std::string& into);
  std::uint32_t hexadecimal();
  void digits();

  std::string_view text_, name_;
  comments comments_;
  std::size_t at_ = 0, values_ = 0, listed_ = 0;
  bool plain_ = true;  // the last text has printable ASCII only
  std::vector<level> open_;
  std::vector<part> path_;
};

// The whole number that these digits are; nothing where they are another number or the type cannot hold it.
std::optional<std::int64_t> whole_signed(std::string_view);
std::optional<std::uint64_t> whole_unsigned(std::string_view);

// The string under `key` of the JSON object `text`, nothing where there is none. The rest of the object is
// not checked.
std::optional<std::string> text_under(std::string_view key, std::string_view text, std::string_view name);

}  // namespace mgsync
