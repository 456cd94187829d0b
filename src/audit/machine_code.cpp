#include <algorithm>
#include <array>
#include <stdexcept>

#include <fmt/format.h>

#include "src/audit/code.hpp"
#include "src/audit/registers.hpp"
#include "src/base/errors.hpp"
#include "src/probes/machine_code/cubin.hpp"
#include "src/probes/machine_code/opcodes.hpp"

namespace mgsync::audit {
namespace {

using machine_code::instruction;

// A single numbering for the three register files.
int number_of(const machine_code::register_name& r) {
  return static_cast<int>(r.where) * 256 + static_cast<int>(r.number);
}
int predicate(std::uint32_t number) {
  return number_of({machine_code::register_name::file::predicate, number});
}

reach reach_of(machine_code::scope s) {
  switch (s) {
  case machine_code::scope::block: return reach::block;
  case machine_code::scope::gpu: return reach::gpu;
  case machine_code::scope::system: return reach::system;
  default: return reach::none;
  }
}

void describe_access(step& s, const instruction& i) {
  const auto name = i.name();
  const bool load = name == "LD" || name == "LDG", store = name == "ST" || name == "STG";
  if (!load && !store && name != "REDG" && name != "ATOM" && name != "ATOMG") return;
  s.what = load ? step::kind::load : store ? step::kind::store : step::kind::update;
  s.global = true;
  s.scope = reach_of(i.access_scope());
  s.strong = s.scope != reach::none || s.what == step::kind::update;
  const bool nothing = i.bits(32, 8) == machine_code::zero_register;
  constexpr std::uint32_t bytes_16 = 6;  // of 8 it is not said whether they are one word
  s.several = store && i.bits(73, 3) == bytes_16;
  s.puts_zero = store && nothing;
  if (s.what != step::kind::update) return;
  constexpr std::uint32_t swap_if[] = {0x18b, 0x1a9}, adds = 0, smaller = 1, larger = 2, exchanges = 8;
  const auto change = i.bits(87, name == "REDG" ? 3 : 4);
  if (std::ranges::find(swap_if, i.opcode() & 0x1ff) != std::end(swap_if)) s.changes = step::change::swap_if;
  else if (change == exchanges) s.changes = step::change::exchange;
  else if (change == smaller || change == larger) s.changes = step::change::extreme;
  else if (nothing && change == adds) s.changes = step::change::nothing;
}

// A look at a barrier in shared memory (mbarrier.try_wait, .test_wait), whose predicate says whether its
// threads have come.
constexpr std::uint32_t look_at_mbarrier = 0x5a7;

bool computes(std::string_view name) {
  static constexpr std::array<std::string_view, 45> names{
      "MOV",  "SEL",    "FSEL",  "FMNMX", "FSETP", "ISETP", "IADD3", "LEA",    "LOP3",
      "IABS", "PRMT",   "IMNMX", "SHF",   "SGXT",  "PLOP3", "FMUL",  "FADD",   "FFMA",
      "IMAD", "IDP",    "DMUL",  "DADD",  "DFMA",  "VIADD", "I2FP",  "VIMNMX", "UMOV",
      "USEL", "UIADD3", "ULEA",  "ULOP3", "UPRMT", "USHF",  "UIMAD", "ULDC",   "LDC",
      "R2UR", "FLO",    "BREV",  "F2I",   "I2F",   "MUFU",  "POPC",  "F2F",    "HFMA2"};
  return std::ranges::find(names, name) != names.end();
}

void describe(step& s, const instruction& i) {
  const auto name = i.name();
  describe_access(s, i);
  s.computes = computes(name) && !machine_code::reads_uniform_predicate(i);
  s.meets_lanes = name == "SHFL" || name == "VOTE" || name == "MATCH" || name == "REDUX";
  s.marks = i.write_scoreboard();
  s.waits_for = i.wait_mask();
  if (name == "LDS" || name == "LDL") s.what = step::kind::load;
  s.shared = name == "LDS";
  if (name == "STS" || name == "STL") s.what = step::kind::store;
  if (name == "MEMBAR") {
    s.what = step::kind::fence;
    s.scope = reach_of(i.fence_scope());
    s.releases = true;
    s.acquires = s.scope == reach::block;  // what reaches further acquires by invalidating L1
  } else if (i.invalidates_l1()) {         // its scope is not encoded
    s.what = step::kind::fence;
    s.scope = reach::system;
    s.acquires = true;
  } else if (name == "BAR" || name == "UCGABAR_WAIT" || i.opcode() == look_at_mbarrier)
    s.what = step::kind::block_barrier;
  else if (name == "WARPSYNC") s.what = step::kind::warp_barrier;
  else if (i.reads_clock_64() || i.reads_clock_32()) {
    s.what = step::kind::clock;
    s.reads_cycles = true;
  } else if (name == "CALL") s.what = step::kind::call;
  else if (name == "BRA" || name == "BRX" || name == "JMP" || name == "JMX") s.what = step::kind::branch;
  else if (name == "EXIT" || name == "KILL" || name == "RET") {
    s.what = step::kind::end;
    s.is_leaving = name != "RET";
  } else if (name == "ISETP") {
    constexpr std::uint32_t equal = 2, unequal = 5;
    const auto how = i.bits(76, 3);
    s.compares = how == equal     ? step::comparison::equal
                 : how == unequal ? step::comparison::unequal
                                  : step::comparison::other;
  } else if (name == "S2R" || name == "S2UR") {
    constexpr std::uint32_t lane = 0x00, first_of_thread = 0x21, last_of_thread = 0x23;
    const auto which = i.bits(72, 8);
    s.of_thread = which == lane || (which >= first_of_thread && which <= last_of_thread);
  } else if (name == "MOV" && i.form() == 4) {
    s.is_constant = true;
    s.puts_zero = i.bits(32, 32) == 0;
  }
}

// Those of which no more is known than that they write a register: FSET, arithmetic of halves, F2FP, minima
// of halves, roundings and BMOV.
constexpr std::uint32_t write_a_register[] = {0x00a, 0x030, 0x031, 0x032, 0x03e, 0x046, 0x104, 0x113, 0x155};

void operands_of(step& s, const instruction& i) {
  const auto found = machine_code::operands_of(i);
  if (!found.known && std::ranges::find(write_a_register, i.opcode() & 0x1ff) != std::end(write_a_register))
    s.writes.push_back(static_cast<int>(i.bits(16, 8)));
  if (i.opcode() == look_at_mbarrier) s.writes.push_back(predicate(i.bits(81, 3)));
  for (const auto& r : found.writes) s.writes.push_back(number_of(r));
  for (const auto& r : found.reads) s.reads.push_back(number_of(r));
  if (i.guard() != machine_code::true_predicate || i.guard_negated()) {
    s.condition = predicate(i.guard());
    s.if_not = i.guard_negated();
    if (std::ranges::find(s.reads, s.condition) == s.reads.end()) s.reads.push_back(s.condition);
  }
  if (s.what != step::kind::load && s.what != step::kind::store && s.what != step::kind::update) return;
  const auto base = static_cast<int>(i.bits(24, 8));
  for (const int r : s.reads)
    if (r == base) s.address.push_back(r);
    else if (r != s.condition) s.data.push_back(r);
}

// The mnemonic, with further properties that are known.
std::string shown(const step& s, const instruction& i) {
  std::string text = i.name().empty() ? fmt::format("opcode {:#x}", i.opcode()) : std::string(i.name());
  if (s.strong && s.scope != reach::none)
    text += fmt::format(".STRONG.{}", s.scope == reach::system ? "SYS"
                                      : s.scope == reach::gpu  ? "GPU"
                                                               : "CTA");
  if (i.name() == "MEMBAR")
    text += fmt::format(".{}", s.scope == reach::system ? "SYS" : s.scope == reach::gpu ? "GPU" : "CTA");
  if (i.invalidates_l1()) text += ".IVALL";
  if (s.condition >= 0) text = fmt::format("@{}P{} {}", s.if_not ? "!" : "", i.guard(), text);
  return text;
}

void connect(function& made, const std::vector<instruction>& code) {
  constexpr std::int64_t bytes = sizeof(instruction);
  auto& steps = made.steps;
  for (std::size_t at = 0; at < steps.size(); ++at) {
    step& s = steps[at];
    const bool ends = s.what == step::kind::branch || s.what == step::kind::end;
    // A branch may have a condition of its own besides its guard.
    const auto own = s.what == step::kind::branch ? code[at].bits(87, 3) : machine_code::true_predicate;
    const bool may_go_on = s.condition >= 0 || own != machine_code::true_predicate;
    if ((!ends || may_go_on) && at + 1 < steps.size()) s.next.push_back(at + 1);
    if (s.what != step::kind::branch) continue;
    const auto offset = code[at].branch_offset(made.architecture);
    const std::int64_t target = static_cast<std::int64_t>(at) + 1 + offset.value_or(0) / bytes;
    if (offset && target >= 0 && target < static_cast<std::int64_t>(steps.size()))
      s.next.push_back(static_cast<std::size_t>(target));
    else made.not_known.push_back(fmt::format("{:#x}: where this goes: {}", s.at, s.text));
    if (own == machine_code::true_predicate) continue;
    s.reads.push_back(predicate(own));
    if (s.condition < 0) s.condition = s.reads.back();
  }
}

}  // namespace

std::vector<function> read_machine_code(std::span<const std::byte> cubin) {
  machine_code::cubin image;
  try {
    image = machine_code::read_cubin(cubin);
  } catch (const std::invalid_argument& error) { throw usage_error(error.what()); }
  if (image.functions.size() > most_functions)
    throw usage_error(fmt::format("this cubin has more than {} functions", most_functions));
  std::vector<function> all;
  for (const auto& f : image.functions) {
    function made;
    made.name = f.name;
    made.is_text = false;
    made.architecture = image.architecture;
    made.registers = 3 * 256;
    for (const auto& i : std::span(f.code).first(std::min(f.code.size(), most_steps))) {
      step s;
      s.at = made.steps.size() * sizeof(instruction);
      describe(s, i);
      operands_of(s, i);
      s.text = shown(s, i);
      made.steps.push_back(std::move(s));
    }
    if (f.code.size() > most_steps)
      made.not_known.push_back(fmt::format("what stands behind its first {} instructions", most_steps));
    connect(made, f.code);
    separate_values(made);
    all.push_back(std::move(made));
  }
  return all;
}

}  // namespace mgsync::audit
