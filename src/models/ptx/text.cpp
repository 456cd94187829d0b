#include "src/models/ptx/text.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "src/base/blanks.hpp"
#include "src/base/errors.hpp"

namespace mgsync::ptx {

namespace {

// Bounds for hostile input, far above real code: the depth of nested braces, and the declarations of many
// registers in one pair of braces.
constexpr unsigned deepest = 60;
constexpr std::size_t most_ranges = 200;

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

// Those that the text begins with; 0 for one that is not there.
std::pair<int, int> two_numbers(std::string_view text) {
  int found[2] = {};
  for (int& one : found) {
    text = trimmed(text);
    text.remove_prefix(static_cast<std::size_t>(
        std::from_chars(text.data(), text.data() + text.size(), one).ptr - text.data()));
  }
  return {found[0], found[1]};
}

class body_reader {
 public:
  body_reader(std::string_view text, std::size_t& at, int& line, std::size_t most, function_text& made)
      : text_(text), at_(at), line_(line), most_(most), made_(made) {
    open();
  }

  // Up to behind the closing brace.
  void read() {
    while (true) {
      for (; at_ < text_.size() && is_blank(text_[at_]); ++at_) line_ += text_[at_] == '\n';
      if (at_ == text_.size())
        throw usage_error(fmt::format("PTX, line {}: the text ends inside of {}", line_, made_.name));
      if (take('{')) open();
      else if (take('}')) {
        inner_ = here().outside;
        --depth_;
        if (inner_ < 0) return;
      } else if (!label() && !whole_line()) one_statement();
    }
  }

 private:
  void open() {
    if (depth_++ == deepest)
      throw usage_error(
          fmt::format("PTX, line {}: more than {} braces stand inside of one another", line_, deepest));
    made_.scopes.push_back({});
    made_.scopes.back().outside = inner_;
    inner_ = static_cast<int>(made_.scopes.size()) - 1;
  }
  braces& here() { return made_.scopes[static_cast<std::size_t>(inner_)]; }
  bool take(char c) {
    if (text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void skip_to(std::size_t end) {
    line_ += static_cast<int>(std::ranges::count(text_.substr(at_, end - at_), '\n'));
    at_ = end;
  }

  bool label() {
    std::size_t end = at_;
    while (end < text_.size() && is_word(text_[end]) && text_[end] != ':' && text_[end] != '.') ++end;
    if (end == at_ || end == text_.size() || text_[end] != ':' || text_.substr(end, 2) == "::") return false;
    here().labels[text_.substr(at_, end - at_)] = made_.statements.size();
    at_ = end + 1;
    return true;
  }
  // .loc and .file end with their line.
  bool whole_line() {
    const std::size_t end = std::min(text_.find('\n', at_), text_.size());
    const auto line = text_.substr(at_, end - at_);
    const bool is_place = line.starts_with(".loc");
    if (!is_place && !line.starts_with(".file")) return false;
    if (is_place) std::tie(file_, source_line_) = two_numbers(line.substr(4));
    skip_to(end);
    return true;
  }

  void one_statement() {
    const std::size_t end = text_.find(';', at_);
    if (end == std::string_view::npos)
      throw usage_error(fmt::format("PTX, line {}: '{}' where an instruction and ; are expected", line_,
                                    trimmed(text_.substr(at_, 30))));
    statement s;
    s.whole = s.text = trimmed(text_.substr(at_, end - at_));
    s.line = line_;
    s.file = file_;
    s.source_line = source_line_;
    s.braces = inner_;
    skip_to(end + 1);
    if (s.whole.empty()) return;
    if (s.whole.starts_with(".reg")) return declare(s.whole.substr(4));
    if (s.whole.starts_with(".shared")) made_.shared.push_back(s);
    if (s.whole.front() == '.') return;
    made_.is_cut = made_.is_cut || made_.statements.size() == most_;
    if (made_.is_cut) return;
    if (s.text.front() == '@') {
      const auto word = first_word(s.text);
      s.if_not = word.starts_with("@!");
      s.condition = word.substr(s.if_not ? 2 : 1);
      s.text = trimmed(s.text.substr(word.size()));
    }
    s.opcode = first_word(s.text);
    s.operands = at_commas(s.text.substr(s.opcode.size()));
    made_.statements.push_back(std::move(s));
  }
  static std::string_view first_word(std::string_view text) {
    return text.substr(0, std::min(text.find_first_of(" \t\r\n"), text.size()));
  }

  void declare(std::string_view text) {  // ".b32 %r<582>", ".pred p, q"
    text = trimmed(text);
    for (const auto one : at_commas(text.substr(first_word(text).size()))) {
      const std::size_t many = one.find('<');
      std::uint64_t count = 0;
      if (many == std::string_view::npos) here().registers[std::string(one)] = made_.registers++;
      else if (here().ranges.size() < most_ranges) {
        std::from_chars(one.data() + many + 1, one.data() + one.size(), count);
        here().ranges.emplace_back(one.substr(0, many), count);
      }
    }
  }

  std::string_view text_;
  std::size_t& at_;
  int& line_;
  std::size_t most_;
  function_text& made_;
  int inner_ = -1, file_ = 0, source_line_ = 0;
  unsigned depth_ = 0;
};

// Behind ".entry" or ".func": the name, before which a result may stand in parentheses, and the parameters.
void read_head(std::string_view rest, function_text& made) {
  const auto in_parentheses = [&]() -> std::string_view {
    rest = trimmed(rest);
    if (!rest.starts_with('(')) return {};
    const auto inside = rest.substr(1, std::min(rest.find(')'), rest.size()) - 1);
    rest.remove_prefix(std::min(inside.size() + 2, rest.size()));
    return inside;
  };
  in_parentheses();
  rest = trimmed(rest);
  made.name =
      rest.substr(0, static_cast<std::size_t>(std::ranges::find_if_not(rest, is_word) - rest.begin()));
  rest.remove_prefix(made.name.size());
  made.parameters = at_commas(in_parentheses());
}

}  // namespace

std::optional<int> function_text::reg(std::string_view named, int in) {
  if (named.empty() || is_digit(named.front())) return std::nullopt;
  const std::size_t digits = named.find_last_not_of("0123456789") + 1;
  const auto stem = named.substr(0, digits);
  const std::string key(named);
  for (; in >= 0; in = scopes[static_cast<std::size_t>(in)].outside) {
    auto& scope = scopes[static_cast<std::size_t>(in)];
    if (const auto found = scope.registers.find(key); found != scope.registers.end()) return found->second;
    if (digits == named.size() || named.size() - digits > 9) continue;
    std::uint64_t number = 0;
    std::from_chars(named.data() + digits, named.data() + named.size(), number);
    for (const auto& [of, count] : scope.ranges)
      if (of == stem && number < count) return scope.registers[key] = registers++;
  }
  return std::nullopt;
}

std::map<int, std::string> source_files(std::string_view text) {
  std::map<int, std::string> found;
  while (!text.empty()) {
    const auto line = trimmed(text.substr(0, text.find('\n')));
    text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
    if (!line.starts_with(".file")) continue;
    const auto name = line.substr(0, line.rfind('"'));
    found[two_numbers(line.substr(5)).first] = name.substr(name.find_last_of("\"/") + 1);
  }
  return found;
}

std::optional<std::size_t> function_text::label(std::string_view named, int in) const {
  for (; in >= 0; in = scopes[static_cast<std::size_t>(in)].outside) {
    const auto& labels = scopes[static_cast<std::size_t>(in)].labels;
    if (const auto found = labels.find(named); found != labels.end()) return found->second;
  }
  return std::nullopt;
}

text_reader::text_reader(std::string_view text, std::size_t most_statements)
    : text_(without_comments(text)), most_statements_(most_statements) {}

std::optional<function_text> text_reader::next() {
  const std::string_view text = text_;
  const auto go_to = [&](std::size_t end) {
    line_ += static_cast<int>(std::ranges::count(text.substr(at_, end - at_), '\n'));
    at_ = end;
  };
  for (std::size_t end; (end = text.find_first_of(";{", at_)) != std::string_view::npos;) {
    const auto head = text.substr(at_, end - at_);
    go_to(end + 1);
    if (text[end] == ';') continue;
    function_text made;
    made.is_kernel = head.find(".entry") != std::string_view::npos;
    const std::string_view word = made.is_kernel ? ".entry" : ".func";
    if (const auto begin = head.find(word); begin != std::string_view::npos) {
      made.line = line_;
      read_head(head.substr(begin + word.size()), made);
      body_reader(text, at_, line_, most_statements_, made).read();
      return made;
    }
    go_to(std::min(text.find('}', at_), text.size()));  // numbers of a table, a section for debuggers
  }
  return std::nullopt;
}

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '%' || c == '$' || c == '_' || c == '.' ||
         c == ':';
}

std::vector<std::string_view> at_commas(std::string_view text) {
  std::vector<std::string_view> parts;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '{' || c == '[' || c == '(') ++depth;
    if (c == '}' || c == ']' || c == ')') --depth;
    if (c != ',' || depth > 0) continue;
    parts.push_back(trimmed(text.substr(begin, i - begin)));
    begin = i + 1;
  }
  if (const auto last = trimmed(text.substr(begin)); !last.empty() || !parts.empty()) parts.push_back(last);
  return parts;
}

std::vector<std::string_view> at_dots(std::string_view opcode) {
  std::vector<std::string_view> parts;
  while (!opcode.empty()) {
    const std::size_t dot = std::min(opcode.find('.'), opcode.size());
    parts.push_back(opcode.substr(0, dot));
    opcode.remove_prefix(std::min(dot + 1, opcode.size()));
  }
  if (parts.empty()) parts.emplace_back();
  return parts;
}

std::string in_one_line(std::string_view text, std::size_t longest) {
  std::string line;
  for (const char c : text.substr(0, longest))
    if (!is_blank(c)) line += c;
    else if (!line.ends_with(' ')) line += ' ';
  return line;
}

}  // namespace mgsync::ptx
