#include "src/base/strict_json.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "src/base/errors.hpp"
#include "src/base/shown_words.hpp"

namespace mgsync {

using nlohmann::ordered_json;

namespace {

constexpr std::size_t most_keys = 1000;  // of one object, which is searched from its beginning for a key

// Builds the value from the parser's events, each in a time of its own: the library's own parser with a
// callback goes through all values of an array again whenever one of them ends.
class builder {
 public:
  explicit builder(const std::string& name) : name_(name) {}
  ordered_json take() { return std::move(whole_); }

  bool null() { return add(nullptr); }
  bool boolean(bool value) { return add(value); }
  bool number_integer(std::int64_t value) { return add(value); }
  bool number_unsigned(std::uint64_t value) { return add(value); }
  bool number_float(double value, const std::string&) { return add(value); }
  bool string(std::string& value) { return add(std::move(value)); }
  bool binary(ordered_json::binary_t&) { return false; }  // not in text
  bool start_object(std::size_t) {
    keys_.emplace_back();
    return open(ordered_json::object());
  }
  bool start_array(std::size_t) { return open(ordered_json::array()); }
  bool end_object() {
    keys_.pop_back();
    return end_array();
  }
  bool end_array() {
    open_.pop_back();
    return true;
  }
  bool key(std::string& value) {
    value = one_line(value);  // a name
    auto& members = open_.back()->get_ref<ordered_json::object_t&>();
    if (members.size() == most_keys)
      throw usage_error(fmt::format("{}: more than {} keys in one object", name_, most_keys));
    if (stands_in(members, value))
      throw usage_error(fmt::format("{}: the key '{}' stands twice in one object", name_, value));
    members.emplace_back(std::move(value), nullptr);
    return true;
  }
  // Without the library's own number in front, and cut where it repeats a long text.
  bool parse_error(std::size_t, const std::string&, const nlohmann::json::exception& error) {
    std::string_view what = error.what();
    if (const auto number = what.find("] "); number != what.npos) what.remove_prefix(number + 2);
    throw usage_error(fmt::format("{}: {}{}", name_, what.substr(0, 300), what.size() > 300 ? "..." : ""));
  }

 private:
  // A few keys are looked through, which takes less than to make a set of them.
  bool stands_in(const ordered_json::object_t& members, const std::string& key) {
    constexpr std::size_t few = 16;
    auto& known = keys_.back();
    if (members.size() < few)
      return std::ranges::any_of(members, [&](const auto& one) { return one.first == key; });
    if (known.empty())
      for (const auto& one : members) known.insert(one.first);
    return !known.insert(key).second;
  }
  template <class Value>
  bool add(Value&& value) {
    if (++values_ > most_values)
      throw usage_error(fmt::format("{}: more than {} values", name_, most_values));
    if (open_.empty()) last_ = &(whole_ = std::forward<Value>(value));
    else if (open_.back()->is_array())
      last_ = &open_.back()->get_ref<ordered_json::array_t&>().emplace_back(std::forward<Value>(value));
    else
      last_ = &(open_.back()->get_ref<ordered_json::object_t&>().back().second = std::forward<Value>(value));
    return true;
  }
  bool open(ordered_json&& value) {
    if (std::ssize(open_) == deepest_nesting)
      throw usage_error(fmt::format("{}: nested deeper than {}", name_, deepest_nesting));
    add(std::move(value));
    open_.push_back(last_);
    return true;
  }

  const std::string& name_;
  ordered_json whole_;
  ordered_json* last_ = nullptr;
  std::vector<ordered_json*> open_;          // none of them moves: only the innermost grows
  std::vector<std::set<std::string>> keys_;  // of the objects that are open, of more than a few
  std::size_t values_ = 0;
};

}  // namespace

ordered_json parse_strictly(std::string_view text, const std::string& name, comments allowed) {
  if (text.size() > largest_document_bytes)
    throw usage_error(
        fmt::format("{}: {} bytes; at most {} are read", name, text.size(), largest_document_bytes));
  builder built(name);
  ordered_json::sax_parse(text, &built, ordered_json::input_format_t::json, true,
                          allowed == comments::passed_over);
  return built.take();
}

void expected(const std::string& path, std::string_view what) {
  throw usage_error(fmt::format("{}: expected {}", path, what));
}

object_reader::object_reader(const ordered_json& object, std::string path)
    : object_(&object), path_(std::move(path)) {
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
    return std::in_range<std::int64_t>(number) ? std::optional(static_cast<std::int64_t>(number))
                                               : std::nullopt;
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
