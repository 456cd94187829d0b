// What every picture must be, whatever numbers and names it was drawn from: XML that any reader takes, and
// numbers where numbers belong.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace fuzz {

// What is wrong with the XML of one element, in a sentence; empty: nothing.
class xml_reader {
 public:
  explicit xml_reader(std::string_view text) : left_(text) {}

  std::string problem() {
    element();
    while (!open_.empty() && why_.empty()) {
      characters('<');
      if (why_.empty()) element();
    }
    if (why_.empty() && left_ != "\n") why_ = "something stands behind the picture";
    return why_;
  }

 private:
  bool take(std::string_view expected) {
    if (!left_.starts_with(expected)) return false;
    left_.remove_prefix(expected.size());
    return true;
  }

  std::string name() {
    std::size_t length = 0;
    while (length < left_.size() &&
           (left_[length] == '-' || left_[length] == ':' || (left_[length] >= 'a' && left_[length] <= 'z') ||
            (left_[length] >= 'A' && left_[length] <= 'Z') || (left_[length] >= '0' && left_[length] <= '9')))
      ++length;
    if (length == 0) why_ = "a name is missing";
    const std::string found(left_.substr(0, length));
    left_.remove_prefix(length);
    return found;
  }

  // Up to `end`, which stays.
  std::string_view characters(char end) {
    const auto all = left_;
    while (why_.empty() && !left_.empty() && left_.front() != end) {
      const auto lead = static_cast<unsigned char>(left_.front());
      if (lead == '<') why_ = "< within a value";
      else if (lead == '&' && !reference()) why_ = "& that refers to nothing";
      else if (lead < 0x20 && lead != '\n' && lead != '\t') why_ = "a control character";
      else letter();
    }
    if (left_.empty()) why_ = "it ends too early";
    return all.substr(0, all.size() - left_.size());
  }

  bool reference() const {
    for (const std::string_view known : {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"})
      if (left_.starts_with(known)) return true;
    return false;
  }

  // One of UTF-8, and one that XML has.
  void letter() {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(left_[i]); };
    const std::size_t bytes = byte(0) < 0x80 ? 1 : byte(0) >= 0xf0 ? 4 : byte(0) >= 0xe0 ? 3 : 2;
    bool whole = left_.size() >= bytes && (bytes == 1 || (byte(0) >= 0xc2 && byte(0) < 0xf5));
    for (std::size_t i = 1; i < bytes && whole; ++i) whole = (byte(i) & 0xc0) == 0x80;
    if (!whole) why_ = "bytes that are no UTF-8";
    else if (left_.starts_with("\xef\xbf\xbe") || left_.starts_with("\xef\xbf\xbf"))
      why_ = "a letter that XML has not";
    else left_.remove_prefix(bytes);
  }

  void element() {
    if (!take("<")) why_ = "an element was expected";
    if (!why_.empty()) return;
    if (take("/")) {
      const auto closed = name();
      if (open_.empty() || open_.back() != closed || !take(">")) why_ = "</" + closed + "> closes nothing";
      else open_.pop_back();
      return;
    }
    const auto opened = name();
    std::set<std::string> known;
    while (why_.empty() && take(" ")) attribute(known);
    if (!why_.empty() || take("/>")) return;
    if (take(">")) open_.push_back(opened);
    else why_ = "<" + opened + " has no end";
  }

  void attribute(std::set<std::string>& known) {
    const auto one = name();
    if (!known.insert(one).second) why_ = one + " stands twice in an element";
    if (!take("=\"")) why_ = one + " has no value";
    if (!why_.empty()) return;
    const auto value = characters('"');
    take("\"");
    constexpr std::string_view numbers[] = {"x",  "y", "x1",    "x2",     "y1",      "y2", "cx",
                                            "cy", "r", "width", "height", "viewBox", "d",  "transform"};
    for (const auto numeric : numbers)
      if (one == numeric && (value.find("nan") != value.npos || value.find("inf") != value.npos))
        why_ = one + " is no number: " + std::string(value);
  }

  std::string_view left_;
  std::vector<std::string> open_;
  std::string why_;
};

inline void must_be_well_formed(const std::string& svg) {
  const auto problem = xml_reader(svg).problem();
  if (problem.empty()) return;
  std::fprintf(stderr, "%s\n%s\n", problem.c_str(), svg.c_str());
  std::abort();
}

}  // namespace fuzz
