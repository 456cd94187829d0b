#include "src/models/ptx/kernel.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

#include <fmt/format.h>

#include "src/base/blanks.hpp"
#include "src/base/errors.hpp"
#include "src/models/ptx/text.hpp"

namespace mgsync::ptx {

namespace {

// The special registers, which a thread can read without having written them.
bool is_special(std::string_view name) {
  static constexpr std::array<std::string_view, 13> beginnings{
      "%tid.", "%ntid.", "%ctaid.",      "%nctaid.",   "%laneid",   "%lanemask_", "%warpid",
      "%smid", "%clock", "%globaltimer", "%clusterid", "%cluster_", "%envreg"};
  return std::any_of(beginnings.begin(), beginnings.end(),
                     [&](std::string_view one) { return name.rfind(one, 0) == 0; });
}

// Makes a kernel of one function's text.
class translation {
 public:
  explicit translation(function_text& of) : of_(of), line_(of.line) {
    made_.name = of.name;
    for (const auto one : of.parameters)
      if (!one.empty()) made_.parameters.push_back(declared(one, end_of(made_.parameters)));
    for (const statement& one : of.shared) {
      line_ = one.line;
      made_.shared.push_back(declared(one.whole, end_of(made_.shared)));
    }
    for (const statement& one : of.statements) made_.code.push_back(instruction_of(one));
    for (const braces& one : of.scopes)
      for (const auto& [name, at] : one.labels) made_.labels.push_back({std::string(name), at});
    made_.registers = of.registers;
  }
  kernel made() { return std::move(made_); }

 private:
  [[noreturn]] void refuse(std::string_view what, std::string_view accepted) const {
    throw usage_error(fmt::format("PTX, line {}: '{}' where {} is expected", line_, what, accepted));
  }
  static std::size_t end_of(const std::vector<parameter>& words) {
    return words.empty() ? 0 : words.back().offset + words.back().bytes;
  }
  // ".param .align 8 .b8 name[128]", ".shared .u32 name"
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

  instruction instruction_of(const statement& from) {
    line_ = from.line;
    braces_ = from.braces;
    instruction made;
    made.text = in_one_line(from.text);
    made.line = from.line;
    if (!from.condition.empty()) made.condition = known(from.condition);
    made.if_not = from.if_not;
    for (const auto part : at_dots(from.opcode)) made.name.emplace_back(part);
    for (const auto one : from.operands) made.operands.push_back(operand_of(one));
    return made;
  }
  int find(std::string_view name) { return of_.reg(name, braces_).value_or(-1); }
  int known(std::string_view name) {
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

  operand operand_of(std::string_view text) {
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
  operand memory_of(std::string_view text) {
    operand made;
    made.what = operand::kind::memory;
    const std::size_t plus = text.find('+');
    const auto base = trimmed(text.substr(0, plus));
    if (plus != std::string_view::npos) made.number = number(trimmed(text.substr(plus + 1)));
    made.reg = find(base);
    if (made.reg < 0) made.name = base;
    return made;
  }

  function_text& of_;
  int line_, braces_ = 0;
  kernel made_;
};

}  // namespace

bool instruction::has(std::string_view word) const {
  return std::find(name.begin(), name.end(), word) != name.end();
}

std::vector<kernel> read_kernels(std::string_view text) {
  std::vector<kernel> found;
  text_reader reader(text);
  while (auto one = reader.next())
    if (one->is_kernel) found.push_back(translation(*one).made());
  return found;
}

const kernel& kernel_named(const std::vector<kernel>& kernels, std::string_view name) {
  std::string known;
  for (const kernel& one : kernels) {
    if (one.name == name) return one;
    known += (known.empty() ? "" : ", ") + one.name;
  }
  throw usage_error(fmt::format("no kernel '{}' in this PTX: it has {}", name, known));
}

}  // namespace mgsync::ptx
