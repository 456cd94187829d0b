// Reads PTX of any kernel: unlike src/models/ptx, which runs a barrier's and refuses what it does not know,
// this accepts everything with the syntax of PTX and does not compute results.
#include <algorithm>
#include <cctype>
#include <charconv>
#include <map>
#include <optional>
#include <unordered_map>

#include <fmt/format.h>

#include "src/audit/ptx_opcode.hpp"
#include "src/base/blanks.hpp"
#include "src/base/errors.hpp"

namespace mgsync::audit {
namespace {

constexpr std::size_t longest_shown = 160;
// Bounds for hostile input, far above real code: the depth of nested braces, and the register declarations in
// one pair of braces.
constexpr unsigned deepest = 60;
constexpr std::size_t most_ranges = 200;

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '%' || c == '$' || c == '_' || c == '.' ||
         c == ':';
}

// The registers and labels declared in one pair of braces.
struct braces {
  std::unordered_map<std::string, int> registers;
  std::vector<std::pair<std::string, std::uint64_t>> ranges;  // "%r", 582
  std::unordered_map<std::string, std::size_t> labels;
  int outside = -1;
};

class body_reader {
 public:
  body_reader(std::string_view text, std::size_t at, int line, function& made)
      : text_(text), at_(at), line_(line), made_(made) {
    open();
  }

  // Up to behind the closing brace.
  void read() {
    while (true) {
      skip_blanks();
      if (at_ == text_.size())
        throw usage_error(fmt::format("PTX, line {}: the text ends inside of {}", line_, made_.name));
      if (take('{')) open();
      else if (take('}')) {
        inner_ = here().outside;
        --depth_;
        if (inner_ < 0) break;
      } else if (!label() && !whole_line()) statement();
    }
    connect();
  }
  std::size_t at() const { return at_; }
  int line() const { return line_; }

 private:
  void open() {
    if (depth_++ == deepest)
      throw usage_error(
          fmt::format("PTX, line {}: more than {} braces stand inside of one another", line_, deepest));
    scopes_.push_back({});
    scopes_.back().outside = inner_;
    inner_ = static_cast<int>(scopes_.size()) - 1;
  }
  braces& here() { return scopes_[static_cast<std::size_t>(inner_)]; }
  bool take(char c) {
    if (text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void skip_blanks() {
    for (; at_ < text_.size() && is_blank(text_[at_]); ++at_) line_ += text_[at_] == '\n';
  }
  void skip_to(std::size_t end) {
    line_ += static_cast<int>(std::count(text_.begin() + static_cast<std::ptrdiff_t>(at_),
                                         text_.begin() + static_cast<std::ptrdiff_t>(end), '\n'));
    at_ = end;
  }

  bool label() {
    std::size_t end = at_;
    while (end < text_.size() && is_word(text_[end]) && text_[end] != ':' && text_[end] != '.') ++end;
    if (end == at_ || end == text_.size() || text_[end] != ':' || text_.substr(end, 2) == "::") return false;
    here().labels[std::string(text_.substr(at_, end - at_))] = made_.steps.size();
    at_ = end + 1;
    return true;
  }
  // .loc and .file end with their line.
  bool whole_line() {
    const auto rest = text_.substr(at_, 5);
    if (rest.substr(0, 4) != ".loc" && rest != ".file") return false;
    skip_to(std::min(text_.find('\n', at_), text_.size()));
    return true;
  }

  void statement() {
    const std::size_t end = text_.find(';', at_);
    if (end == std::string_view::npos)
      throw usage_error(fmt::format("PTX, line {}: '{}' where an instruction and ; are expected", line_,
                                    trimmed(text_.substr(at_, 30))));
    std::string_view one = trimmed(text_.substr(at_, end - at_));
    const int line = line_;
    skip_to(end + 1);
    if (one.empty()) return;
    if (one.substr(0, 4) == ".reg") return declare(one.substr(4));
    if (one.front() == '.') return;
    if (made_.steps.size() == most_steps) {
      if (made_.not_known.empty())
        made_.not_known.push_back(fmt::format("what stands behind its first {} instructions", most_steps));
      return;
    }
    step s;
    s.at = static_cast<std::uint64_t>(line);
    for (const char c : one.substr(0, longest_shown))
      if (!is_blank(c)) s.text += c;
      else if (s.text.back() != ' ') s.text += ' ';
    if (one.front() == '@') {
      const std::size_t word = std::min(one.find_first_of(" \t\n"), one.size());
      s.if_not = one.substr(1, 1) == "!";
      const auto name = one.substr(s.if_not ? 2 : 1, word - (s.if_not ? 2 : 1));
      s.condition = reg(name).value_or(-1);
      if (s.condition >= 0) s.reads.push_back(s.condition);
      one = trimmed(one.substr(word));
    }
    instruction(std::move(s), one);
  }

  void declare(std::string_view text) {  // ".b32 %r<582>", ".pred p, q"
    text = trimmed(text);
    text = text.substr(std::min(text.find_first_of(" \t\n"), text.size()));
    while (!text.empty()) {
      const std::size_t comma = std::min(text.find(','), text.size());
      const auto one = trimmed(text.substr(0, comma));
      text.remove_prefix(std::min(comma + 1, text.size()));
      const std::size_t many = one.find('<');
      std::uint64_t count = 0;
      if (many == std::string_view::npos) here().registers[std::string(one)] = made_.registers++;
      else if (here().ranges.size() < most_ranges) {
        std::from_chars(one.data() + many + 1, one.data() + one.size(), count);
        here().ranges.emplace_back(std::string(one.substr(0, many)), count);
      }
    }
  }
  // The number of the register `name`, if it is one.
  std::optional<int> reg(std::string_view name) {
    if (name.empty() || std::isdigit(static_cast<unsigned char>(name.front())) != 0) return std::nullopt;
    const std::size_t digits = name.find_last_not_of("0123456789") + 1;
    const auto stem = name.substr(0, digits);
    const std::string key(name);
    for (int s = inner_; s >= 0; s = scopes_[static_cast<std::size_t>(s)].outside) {
      auto& scope = scopes_[static_cast<std::size_t>(s)];
      if (const auto found = scope.registers.find(key); found != scope.registers.end()) return found->second;
      if (digits == name.size() || name.size() - digits > 9) continue;
      std::uint64_t number = 0;
      std::from_chars(name.data() + digits, name.data() + name.size(), number);
      for (const auto& [of, count] : scope.ranges)
        if (of == stem && number < count) return scope.registers[key] = made_.registers++;
    }
    return std::nullopt;
  }

  static std::vector<std::string_view> at_commas(std::string_view text) {
    std::vector<std::string_view> parts;
    int depth = 0;
    std::size_t begin = 0;
    for (std::size_t i = 0; i <= text.size(); ++i) {
      const char c = i < text.size() ? text[i] : ',';
      if (c == '{' || c == '[' || c == '(') ++depth;
      if (c == '}' || c == ']' || c == ')') --depth;
      if (i < text.size() && (c != ',' || depth > 0)) continue;
      if (const auto part = trimmed(text.substr(begin, i - begin)); !part.empty()) parts.push_back(part);
      begin = i + 1;
    }
    return parts;
  }
  // Registers named in an operand; what is asked of the thread's place goes into `s`.
  std::vector<int> registers_in(std::string_view operand, step& s) {
    std::vector<int> found;
    for (std::size_t i = 0; i < operand.size();) {
      if (!is_word(operand[i])) {
        ++i;
        continue;
      }
      std::size_t end = i;
      while (end < operand.size() && is_word(operand[end])) ++end;
      auto word = operand.substr(i, end - i);
      i = end;
      if (word.substr(0, 5) == "%tid." || word == "%laneid" || word == "%warpid") s.of_thread = true;
      if (word.substr(0, 6) == "%clock" || word.substr(0, 12) == "%globaltimer") {
        s.what = step::kind::clock;
        s.computes = false;
        s.reads_cycles = word.substr(0, 6) == "%clock";
      }
      auto r = reg(word);
      if (!r && word.front() != '%')
        if (const std::size_t dot = word.find('.'); dot != std::string_view::npos)
          r = reg(word.substr(0, dot));
      if (r) found.push_back(*r);
    }
    return found;
  }

  void instruction(step s, std::string_view one) {
    const std::size_t end = std::min(one.find_first_of(" \t\n"), one.size());
    const opcode name(one.substr(0, end));
    const auto operands = at_commas(one.substr(end));
    const auto first = name.first();
    if (first == "bra" || first == "brx") {
      s.what = step::kind::branch;
      jumps_.push_back({made_.steps.size(), inner_, first == "bra" && !operands.empty() ? operands[0] : ""});
    } else if (first == "ret" || first == "exit" || first == "trap") {
      s.what = step::kind::end;
      s.is_leaving = first != "ret" || made_.is_kernel;
    } else if (first == "call") s.what = step::kind::call;
    else describe_ptx(s, name, operands);
    operands_of(s, name, operands);
    made_.steps.push_back(std::move(s));
  }

  void operands_of(step& s, const opcode& name, const std::vector<std::string_view>& operands) {
    const auto first = name.first();
    bool result = s.what != step::kind::store && s.what != step::kind::branch && first != "red" &&
                  first != "prefetch" && !(first == "multimem" && name.has("red"));
    if (s.what == step::kind::block_barrier) result = name.has("red");
    bool addressed = false;
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const auto found = registers_in(operands[i], s);
      const bool memory = operands[i].front() == '[';
      if (i == 0 && result && !memory) {
        s.writes = found;
        continue;
      }
      s.reads.insert(s.reads.end(), found.begin(), found.end());
      if (memory && !addressed) {
        s.address = found;
        addressed = true;
      } else s.data.insert(s.data.end(), found.begin(), found.end());
    }
  }

  void connect() {
    auto& steps = made_.steps;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const bool ends = steps[i].what == step::kind::branch || steps[i].what == step::kind::end;
      if ((!ends || steps[i].condition >= 0) && i + 1 < steps.size()) steps[i].next.push_back(i + 1);
    }
    for (const auto& one : jumps_) {
      step& from = steps[one.at];
      const auto target = find_label(one.scope, std::string(one.label));
      if (target && *target < steps.size()) from.next.push_back(*target);
      else if (!target) made_.not_known.push_back(fmt::format("where line {} goes: {}", from.at, from.text));
    }
  }
  std::optional<std::size_t> find_label(int scope, const std::string& name) const {
    for (int s = scope; s >= 0; s = scopes_[static_cast<std::size_t>(s)].outside) {
      const auto& labels = scopes_[static_cast<std::size_t>(s)].labels;
      if (const auto found = labels.find(name); found != labels.end()) return found->second;
    }
    return std::nullopt;
  }

  struct jump {
    std::size_t at;
    int scope;
    std::string_view label;
  };

  std::string_view text_;
  std::size_t at_;
  int line_;
  function& made_;
  std::vector<braces> scopes_;
  int inner_ = -1;
  unsigned depth_ = 0;
  std::vector<jump> jumps_;
};

// The name behind ".entry" or ".func", whose result may stand between in parentheses.
std::string name_in(std::string_view head, std::string_view word) {
  auto rest = trimmed(head.substr(head.find(word) + word.size()));
  if (!rest.empty() && rest.front() == '(')
    rest = trimmed(rest.substr(std::min(rest.find(')') + 1, rest.size())));
  std::size_t end = 0;
  while (end < rest.size() && is_word(rest[end])) ++end;
  return std::string(rest.substr(0, end));
}

}  // namespace

std::string_view to_string(reach r) {
  constexpr std::string_view words[] = {"no", "cta", "cluster", "gpu", "sys"};
  return words[static_cast<std::size_t>(r)];
}

std::vector<function> read_ptx(std::string_view typed) {
  const std::string text = without_comments(typed);
  std::vector<function> found;
  int line = 1;
  std::size_t counted = 0;
  const auto line_at = [&](std::size_t at) {
    line += static_cast<int>(std::count(text.begin() + static_cast<std::ptrdiff_t>(counted),
                                        text.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
    counted = at;
    return line;
  };
  if (text.find(".version") == std::string::npos)
    throw usage_error("PTX, line 1: there is no .version, with which every text in PTX begins");
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = text.find_first_of(";{", at);
    if (end == std::string::npos) break;
    const auto head = std::string_view(text).substr(at, end - at);
    at = end + 1;
    if (text[end] == ';') continue;
    const bool entry = head.find(".entry") != std::string_view::npos;
    if (!entry &&
        head.find(".func") == std::string_view::npos) {  // numbers of a table, a section for debuggers
      at = text.find('}', at);
      if (at == std::string::npos) break;
      ++at;
      continue;
    }
    if (found.size() == most_functions)
      throw usage_error(fmt::format("this PTX has more than {} functions", most_functions));
    function made;
    made.is_kernel = entry;
    made.name = name_in(head, entry ? ".entry" : ".func");
    body_reader body(text, at, line_at(at), made);
    body.read();
    at = body.at();
    found.push_back(std::move(made));
  }
  return found;
}

}  // namespace mgsync::audit
