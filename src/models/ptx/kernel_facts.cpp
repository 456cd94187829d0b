#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

#include "src/base/errors.hpp"
#include "src/models/ptx/block_run.hpp"

namespace mgsync::ptx {

namespace {

std::vector<int> registers_of(const operand& one) {
  switch (one.what) {
  case operand::kind::reg:
  case operand::kind::memory: return one.reg >= 0 ? std::vector<int>{one.reg} : std::vector<int>{};
  case operand::kind::list: return one.regs;
  default: return {};
  }
}

}  // namespace

kernel_facts::kernel_facts(const kernel& of) : kernel_(&of), labelled_(of.code.size() + 1) {
  for (const label& one : of.labels) {
    labels_[one.name] = one.at;
    labelled_[one.at] = true;
  }
  find_live();
}

std::size_t kernel_facts::behind(const std::string& label, const instruction& asked) const {
  const auto found = labels_.find(label);
  if (found == labels_.end())
    throw usage_error(
        fmt::format("PTX, line {}: '{}' goes to a label that is not there", asked.line, asked.text));
  return found->second;
}

bool kernel_facts::has_result(const instruction& one) {
  static constexpr std::array<std::string_view, 11> without{
      "st", "red", "bra", "ret", "exit", "fence", "membar", "trap", "nanosleep", "discard", "prefetch"};
  if (one.is("bar") || one.is("barrier")) return one.has("red");
  return std::find(without.begin(), without.end(), one.name.front()) == without.end();
}

// Backward data-flow analysis of live registers, iterated until nothing changes.
void kernel_facts::find_live() {
  const auto registers = static_cast<std::size_t>(kernel_->registers);
  live_.assign(kernel_->code.size() + 1, std::vector<bool>(registers));
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t at = kernel_->code.size(); at-- > 0;) {
      const instruction& one = kernel_->code[at];
      std::vector<bool> live(registers);
      const bool goes = one.is("bra"), ends = one.is("ret") || one.is("exit");
      if ((!goes && !ends) || one.condition >= 0) live = live_[at + 1];
      const bool result = !one.operands.empty() && has_result(one);
      if (result && one.condition < 0)
        for (const int reg : registers_of(one.operands.at(0)))
          if (reg >= 0) live[static_cast<std::size_t>(reg)] = false;
      if (goes) {
        const auto& there = live_[behind(one.operands.at(0).name, one)];
        for (std::size_t r = 0; r < registers; ++r)
          if (there[r]) live[r] = true;
      }
      for (std::size_t i = result ? 1 : 0; i < one.operands.size(); ++i)
        for (const int reg : registers_of(one.operands[i]))
          if (reg >= 0) live[static_cast<std::size_t>(reg)] = true;
      if (one.condition >= 0) live[static_cast<std::size_t>(one.condition)] = true;
      if (live != live_[at]) {
        live_[at] = std::move(live);
        changed = true;
      }
    }
  }
}

}  // namespace mgsync::ptx
