// PTX of any kernel: unlike src/models/ptx/kernel.hpp, which is for running a barrier's and refuses what it
// does not know, this accepts everything with the syntax of PTX.
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "src/audit/ptx_opcode.hpp"
#include "src/base/blanks.hpp"
#include "src/base/errors.hpp"
#include "src/models/ptx/text.hpp"

namespace mgsync::audit {
namespace {

constexpr std::size_t longest_shown = 160;

// Makes of one function's text what the audit looks at.
class translation {
 public:
  translation(ptx::function_text& of, const std::map<int, std::string>& files, function& made)
      : of_(of), files_(files), made_(made) {
    for (const auto& one : of.statements) instruction(one);
    if (of.is_cut)
      made_.not_known.push_back(fmt::format("what stands behind its first {} instructions", most_steps));
    connect();
    made_.registers = of.registers;
  }

 private:
  // Registers named in an operand; what is asked of the thread's place goes into `s`.
  std::vector<int> registers_in(std::string_view operand, int braces, step& s) {
    std::vector<int> found;
    for (std::size_t i = 0; i < operand.size();) {
      if (!ptx::is_word(operand[i])) {
        ++i;
        continue;
      }
      std::size_t end = i;
      while (end < operand.size() && ptx::is_word(operand[end])) ++end;
      auto word = operand.substr(i, end - i);
      i = end;
      if (word.substr(0, 5) == "%tid." || word == "%laneid" || word == "%warpid") s.of_thread = true;
      if (word.substr(0, 6) == "%clock" || word.substr(0, 12) == "%globaltimer") {
        s.what = step::kind::clock;
        s.computes = false;
        s.reads_cycles = word.substr(0, 6) == "%clock";
      }
      auto r = of_.reg(word, braces);
      if (!r && word.front() != '%')
        if (const std::size_t dot = word.find('.'); dot != std::string_view::npos)
          r = of_.reg(word.substr(0, dot), braces);
      if (r) found.push_back(*r);
    }
    return found;
  }

  void instruction(const ptx::statement& from) {
    step s;
    s.at = static_cast<std::uint64_t>(from.line);
    s.text = ptx::in_one_line(from.whole, longest_shown);
    if (const auto file = files_.find(from.file); file != files_.end() && from.source_line != 0)
      s.source = fmt::format("{}:{}", file->second, from.source_line);
    s.if_not = from.if_not;
    s.condition = of_.reg(from.condition, from.braces).value_or(-1);
    if (s.condition >= 0) s.reads.push_back(s.condition);
    const opcode name(from.opcode);
    auto operands = from.operands;
    std::erase(operands, "");
    const auto first = name.first();
    if (first == "bra" || first == "brx") {
      s.what = step::kind::branch;
      jumps_.push_back(
          {made_.steps.size(), from.braces, first == "bra" && !operands.empty() ? operands[0] : ""});
    } else if (first == "ret" || first == "exit" || first == "trap") {
      s.what = step::kind::end;
      s.is_leaving = first != "ret" || made_.is_kernel;
    } else if (first == "call") s.what = step::kind::call;
    else describe_ptx(s, name, operands);
    operands_of(s, name, operands, from.braces);
    made_.steps.push_back(std::move(s));
  }

  void operands_of(step& s, const opcode& name, const std::vector<std::string_view>& operands, int braces) {
    const auto first = name.first();
    bool result = s.what != step::kind::store && s.what != step::kind::branch && first != "red" &&
                  first != "prefetch" && !(first == "multimem" && name.has("red"));
    if (s.what == step::kind::block_barrier) result = name.has("red");
    bool addressed = false;
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const auto found = registers_in(operands[i], braces, s);
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
      const auto target = of_.label(one.label, one.braces);
      if (target && *target < steps.size()) from.next.push_back(*target);
      else if (!target) made_.not_known.push_back(fmt::format("where line {} goes: {}", from.at, from.text));
    }
  }

  struct jump {
    std::size_t at;
    int braces;
    std::string_view label;
  };

  ptx::function_text& of_;
  const std::map<int, std::string>& files_;
  function& made_;
  std::vector<jump> jumps_;
};

}  // namespace

std::string_view to_string(reach r) {
  constexpr std::string_view words[] = {"no", "cta", "cluster", "gpu", "sys"};
  return words[static_cast<std::size_t>(r)];
}

std::string place(const function& f, std::size_t at) {
  const step& s = f.steps[at];
  if (!f.is_text) return fmt::format("{:#x}: {}", s.at, s.text);
  return fmt::format("line {}{}: {}", s.at, s.source.empty() ? "" : fmt::format(" ({})", s.source), s.text);
}

std::vector<function> read_ptx(std::string_view text) {
  if (without_comments(text).find(".version") == std::string::npos)
    throw usage_error("PTX, line 1: there is no .version, with which every text in PTX begins");
  std::vector<function> found;
  const auto files = ptx::source_files(text);
  ptx::text_reader reader(text, most_steps);
  while (auto one = reader.next()) {
    if (found.size() == most_functions)
      throw usage_error(fmt::format("this PTX has more than {} functions", most_functions));
    function& made = found.emplace_back();
    made.name = one->name;
    made.is_kernel = one->is_kernel;
    translation(*one, files, made);
  }
  return found;
}

}  // namespace mgsync::audit
