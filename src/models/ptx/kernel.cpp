#include "src/models/ptx/kernel.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <map>

#include <fmt/format.h>

#include "src/base/blanks.hpp"
#include "src/base/errors.hpp"

namespace mgsync::ptx {

namespace {

// Splits at commas outside of brackets.
std::vector<std::string_view> at_commas(std::string_view text) {
  std::vector<std::string_view> parts;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '{' || c == '[' || c == '(') ++depth;
    if (c == '}' || c == ']' || c == ')') --depth;
    if (c != ',' || depth != 0) continue;
    parts.push_back(trimmed(text.substr(begin, i - begin)));
    begin = i + 1;
  }
  if (const auto last = trimmed(text.substr(begin)); !last.empty() || !parts.empty()) parts.push_back(last);
  return parts;
}

// The special registers, which a thread can read without having written them.
bool is_special(std::string_view name) {
  static constexpr std::array<std::string_view, 12> beginnings{
      "%tid.",   "%ntid.", "%ctaid.", "%nctaid.",     "%laneid",    "%lanemask_",
      "%warpid", "%smid",  "%clock",  "%globaltimer", "%clusterid", "%cluster_"};
  return std::any_of(beginnings.begin(), beginnings.end(),
                     [&](std::string_view one) { return name.rfind(one, 0) == 0; });
}

class reader {
 public:
  explicit reader(std::string_view text) : text_(without_comments(text)) {}

  std::vector<kernel> all() {
    constexpr std::string_view entry = ".entry";
    std::vector<kernel> found;
    while ((at_ = text_.find(entry, at_)) != std::string::npos) {
      at_ += entry.size();
      kernel_ = {};
      registers_.assign(1, {});
      head();
      body();
      found.push_back(std::move(kernel_));
    }
    return found;
  }

 private:
  [[noreturn]] void refuse(std::string_view what, std::string_view accepted) const {
    throw usage_error(fmt::format("PTX, line {}: '{}' where {} is expected", line(), what, accepted));
  }
  int line() const {
    return 1 + static_cast<int>(std::count(
                   text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(std::min(at_, text_.size())),
                   '\n'));
  }
  std::string_view until(char end) {
    const std::size_t found = text_.find(end, at_);
    if (found == std::string::npos) refuse(trimmed(text_.substr(at_)).substr(0, 20), std::string(1, end));
    const auto part = std::string_view(text_).substr(at_, found - at_);
    at_ = found + 1;
    return part;
  }

  void head() {
    kernel_.name = trimmed(until('('));
    for (const auto one : at_commas(until(')'))) {
      if (!one.empty()) kernel_.parameters.push_back(declared(one, end_of(kernel_.parameters)));
    }
    until('{');
  }
  static std::size_t end_of(const std::vector<parameter>& words) {
    return words.empty() ? 0 : words.back().offset + words.back().bytes;
  }
  // ".param .align 8 .b8 name[208]", ".shared .u32 name"
  parameter declared(std::string_view text, std::size_t after) const {
    parameter made;
    std::size_t unit = 1, align = 0, count = 1;
    std::string_view rest = text, word;
    while (!(rest = trimmed(rest)).empty()) {
      const std::size_t end = std::min(rest.find_first_of(" \t\n"), rest.size());
      word = rest.substr(0, end);
      rest.remove_prefix(end);
      if (word == ".align") {
        rest = trimmed(rest);
        const std::size_t digits = std::min(rest.find_first_not_of("0123456789"), rest.size());
        align = static_cast<std::size_t>(number(rest.substr(0, digits)));
        rest.remove_prefix(digits);
      } else if (word.size() > 2 &&
                 std::string_view(".b.u.s.f").find(word.substr(0, 2)) != std::string_view::npos &&
                 std::isdigit(static_cast<unsigned char>(word[2])) != 0) {
        unit = static_cast<std::size_t>(number(word.substr(2))) / 8;
      }
    }
    if (const std::size_t bracket = word.find('['); bracket != std::string_view::npos) {
      const auto size = word.substr(bracket + 1, word.find(']') - bracket - 1);
      count = size.empty() ? 0 : static_cast<std::size_t>(number(size));
      word = word.substr(0, bracket);
    }
    made.name = word;
    made.bytes = unit * count;
    align = std::max(align, unit);
    made.offset = (after + align - 1) / align * align;
    return made;
  }

  void body() {
    while (true) {
      while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
      if (at_ == text_.size()) refuse("", "the end of a kernel");
      if (text_[at_] == '{') {
        registers_.emplace_back();
        ++at_;
      } else if (text_[at_] == '}') {
        registers_.pop_back();
        ++at_;
        if (registers_.empty()) return;
      } else if (const auto name = label_here(); !name.empty()) {
        kernel_.labels.push_back({std::string(name), kernel_.code.size()});
      } else {
        const std::string_view one = trimmed(until(';'));
        if (!one.empty()) statement(one);
      }
    }
  }
  std::string_view label_here() {
    std::size_t end = at_;
    while (end < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[end])) != 0 ||
                                  text_[end] == '$' || text_[end] == '_'))
      ++end;
    if (end == at_ || end == text_.size() || text_[end] != ':') return {};
    const auto name = std::string_view(text_).substr(at_, end - at_);
    at_ = end + 1;
    return name;
  }

  void statement(std::string_view text) {
    if (text.rfind(".reg", 0) == 0) return declare_registers(text);
    if (text.rfind(".shared", 0) == 0) {
      kernel_.shared.push_back(declared(text, end_of(kernel_.shared)));
      return;
    }
    if (text.front() == '.') return;  // .pragma, .loc
    instruction made;
    made.line = line();
    if (text.front() == '@') {
      const std::size_t end = std::min(text.find_first_of(" \t"), text.size());
      std::string_view word = text.substr(1, end - 1);
      if (!word.empty() && word.front() == '!') {
        made.if_not = true;
        word.remove_prefix(1);
      }
      made.condition = known(word);
      text = trimmed(text.substr(end));
    }
    for (const char c : text) {
      const bool blank = is_blank(c);
      if (!blank) made.text += c;
      else if (made.text.back() != ' ') made.text += ' ';
    }
    const std::size_t end = std::min(text.find_first_of(" \t\n"), text.size());
    std::string_view name = text.substr(0, end);
    while (!name.empty()) {
      const std::size_t dot = std::min(name.find('.'), name.size());
      made.name.emplace_back(name.substr(0, dot));
      name.remove_prefix(std::min(dot + 1, name.size()));
    }
    for (const auto one : at_commas(text.substr(end))) made.operands.push_back(operand_of(one));
    kernel_.code.push_back(std::move(made));
  }

  // ".reg .b32 %r<582>", ".reg .pred %p1": of the innermost scope.
  void declare_registers(std::string_view text) {
    const std::size_t type = text.find('.', 1);
    const std::size_t names = text.find_first_of(" \t", type);
    if (type == std::string_view::npos || names == std::string_view::npos) refuse(text, ".reg TYPE NAME");
    for (const auto one : at_commas(text.substr(names))) {
      const std::size_t many = one.find('<');
      if (many == std::string_view::npos) {
        registers_.back()[std::string(one)] = kernel_.registers++;
        continue;
      }
      const auto count = number(one.substr(many + 1, one.find('>') - many - 1));
      for (std::int64_t i = 0; i < count; ++i)
        registers_.back()[fmt::format("{}{}", one.substr(0, many), i)] = kernel_.registers++;
    }
  }
  int find(std::string_view name) const {
    for (auto scope = registers_.rbegin(); scope != registers_.rend(); ++scope)
      if (const auto found = scope->find(std::string(name)); found != scope->end()) return found->second;
    return -1;
  }
  int known(std::string_view name) const {
    const int found = find(name);
    if (found < 0) refuse(name, "a register");
    return found;
  }
  std::int64_t number(std::string_view text) const {
    const bool negative = !text.empty() && text.front() == '-';
    std::string_view digits = text.substr(negative ? 1 : 0);
    const bool hex = digits.rfind("0x", 0) == 0 || digits.rfind("0X", 0) == 0;
    if (hex) digits.remove_prefix(2);
    if (!digits.empty() && digits.back() == 'U') digits.remove_suffix(1);
    std::uint64_t value = 0;
    const auto [end, failed] =
        std::from_chars(digits.data(), digits.data() + digits.size(), value, hex ? 16 : 10);
    if (failed != std::errc() || end != digits.data() + digits.size()) refuse(text, "a whole number");
    return static_cast<std::int64_t>(negative ? -value : value);
  }

  operand operand_of(std::string_view text) const {
    if (text.empty()) refuse(text, "an operand");
    operand made;
    if (text.front() == '[') return memory_of(trimmed(text.substr(1, text.size() - 2)));
    if (text.front() == '{' || text.find('|') != std::string_view::npos) {
      made.what = operand::kind::list;
      std::string parts(text.front() == '{' ? text.substr(1, text.size() - 2) : text);
      std::replace(parts.begin(), parts.end(), '|', ',');
      for (const auto one : at_commas(parts)) made.regs.push_back(one == "_" ? -1 : known(one));
      return made;
    }
    if (const int reg = find(text); reg >= 0) {
      made.what = operand::kind::reg;
      made.reg = reg;
    } else if (text.front() == '%') {
      if (!is_special(text)) refuse(text, "a register");
      made.what = operand::kind::special;
      made.name = text;
    } else if (text.front() == '-' || std::isdigit(static_cast<unsigned char>(text.front())) != 0) {
      made.number = number(text);
    } else {
      made.what = operand::kind::symbol;
      made.name = text;
    }
    return made;
  }
  operand memory_of(std::string_view text) const {
    operand made;
    made.what = operand::kind::memory;
    const std::size_t plus = text.find('+');
    const auto base = trimmed(text.substr(0, plus));
    if (plus != std::string_view::npos) made.number = number(trimmed(text.substr(plus + 1)));
    made.reg = find(base);
    if (made.reg < 0) made.name = base;
    return made;
  }

  std::string text_;
  std::size_t at_ = 0;
  kernel kernel_;
  std::vector<std::map<std::string, int>> registers_;  // by scope, the innermost last
};

}  // namespace

bool instruction::has(std::string_view word) const {
  return std::find(name.begin(), name.end(), word) != name.end();
}

std::vector<kernel> read_kernels(std::string_view text) { return reader(text).all(); }

const kernel& kernel_named(const std::vector<kernel>& kernels, std::string_view name) {
  std::string known;
  for (const kernel& one : kernels) {
    if (one.name == name) return one;
    known += (known.empty() ? "" : ", ") + one.name;
  }
  throw usage_error(fmt::format("no kernel '{}' in this PTX: it has {}", name, known));
}

}  // namespace mgsync::ptx
