#include "src/audit/ptx_opcode.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <optional>

namespace mgsync::audit {
namespace {

using kind = step::kind;
using texts = std::vector<std::string_view>;

bool is_zero(std::string_view text) {
  return text == "0" || text == "0x0" || text == "0U" || text == "0f00000000" || text == "0x00000000";
}
bool is_number(std::string_view text) {
  return std::isdigit(static_cast<unsigned char>(text.front())) != 0 || text.front() == '-';
}

kind access_of(const opcode& name) {
  const auto first = name.first();
  const bool of_several = first == "multimem";
  if (first == "ld" || first == "ldu" || (of_several && name.has("ld_reduce"))) return kind::load;
  if (first == "st" || (of_several && name.has("st"))) return kind::store;
  if (first == "atom" || first == "red" || (of_several && name.has("red"))) return kind::update;
  return kind::other;
}

void describe_access(step& s, const opcode& name, const texts& operands) {
  const bool update = s.what == kind::update;
  s.global = !name.begins("shared") && !name.has("local") && !name.begins("param") && !name.has("const");
  s.shared = s.what == kind::load && name.begins("shared");
  s.is_volatile = name.has("volatile") || name.has("mmio");
  s.read_only = name.has("nc") || name.first() == "ldu";
  s.acquires = name.has("acquire") || name.has("acq_rel");
  s.releases = name.has("release") || name.has("acq_rel");
  s.strong = update || s.is_volatile || name.has("relaxed") || s.acquires || s.releases;
  if (s.strong) s.scope = s.is_volatile ? reach::system : name.scope();
  if (update && s.scope == reach::none)
    s.scope = reach::gpu;  // the default scope of atomic operations in PTX
  const bool zero = !operands.empty() && is_zero(operands.back());
  s.several = s.what == kind::store && (name.has("v2") || name.has("v4") || name.has("v8"));
  s.puts_zero = s.what == kind::store && zero;
  if (!update) return;
  if (name.has("cas")) s.changes = step::change::swap_if;
  else if (name.has("exch")) s.changes = step::change::exchange;
  else if (name.has("max") || name.has("min")) s.changes = step::change::extreme;
  else if (zero && (name.has("add") || name.has("or") || name.has("xor"))) s.changes = step::change::nothing;
}

// Fences of other proxies order nothing between ordinary accesses.
void describe_order(step& s, const opcode& name) {
  const auto first = name.first();
  if (first == "membar" || first == "fence") {
    if (name.begins("proxy") || name.begins("mbarrier_init")) return;
    s.what = kind::fence;
    s.scope = name.scope();
    s.acquires = !name.has("release");
    s.releases = !name.has("acquire");
  }
  static constexpr std::string_view of_lanes[] = {"shfl", "vote", "match", "redux", "elect"};
  s.meets_lanes =
      name.has("sync") && std::find(std::begin(of_lanes), std::end(of_lanes), first) != std::end(of_lanes);
  // Who looks at a barrier in shared memory has met those that arrived at it.
  if (first == "mbarrier" && (name.has("try_wait") || name.has("test_wait")) && !name.has("relaxed"))
    s.what = kind::block_barrier;
  if (first != "bar" && first != "barrier") return;
  if (name.has("warp")) s.what = kind::warp_barrier;
  else if (!name.has("arrive")) s.what = kind::block_barrier;
}

bool computes(const step& s, const opcode& name) {
  static constexpr std::array<std::string_view, 40> words{
      "abs", "add",  "addc", "and",      "bfe",   "bfi",  "bfind", "brev",  "clz",  "cnot",
      "cvt", "cvta", "div",  "copysign", "fma",   "lop3", "mad",   "mad24", "mapa", "isspacep",
      "max", "min",  "mov",  "mul",      "mul24", "neg",  "not",   "or",    "popc", "prmt",
      "rem", "selp", "set",  "setp",     "shf",   "shl",  "shr",   "slct",  "sub",  "xor"};
  return std::find(words.begin(), words.end(), name.first()) != words.end() ||
         (s.what == kind::load && (name.begins("param") || name.has("const")));
}

std::optional<std::int64_t> number_of(std::string_view text) {
  const bool negative = text.front() == '-';
  if (negative) text.remove_prefix(1);
  const bool hex = text.substr(0, 2) == "0x";
  if (hex) text.remove_prefix(2);
  std::uint64_t value = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value, hex ? 16 : 10);
  if (failed != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return static_cast<std::int64_t>(negative ? 0 - value : value);
}

// Words of 32 or 64 bits.
void describe_bits(step& s, const opcode& name, const texts& operands) {
  constexpr std::int64_t most_moved = 31;
  const auto first = name.first();
  constexpr std::array<std::string_view, 6> words{"b32", "u32", "b64", "u64", "s32", "s64"};
  if (std::none_of(words.begin(), words.end(), [&](auto word) { return name.has(word); })) return;
  // A special register, a part of one or several, or a number that is not read here, has any bits.
  const auto is_clear = [](std::string_view from) {
    if (from.find_first_of("{.|") != std::string_view::npos) return false;
    if (is_number(from)) return number_of(from).has_value();
    return from.front() != '%' || (from.size() > 2 && (from[1] == 'r' || from[1] == 'p') && from[2] != 'm');
  };
  if (operands.empty() || !std::all_of(operands.begin(), operands.end(), is_clear)) return;
  const auto is = [&](step::pattern which, std::int64_t value) {
    s.bits = which;
    s.number = value;
  };
  const auto last = number_of(operands.back());
  if (first == "mov" && operands.size() == 2) is(step::pattern::joined, last.value_or(0));
  else if (first == "selp" && operands.size() == 4) {
    const auto one = number_of(operands[1]), other = number_of(operands[2]);
    is(step::pattern::chosen, one.value_or(0) | other.value_or(0));
    s.common = one.value_or(0) & other.value_or(0);
  } else if (operands.size() != 3 || is_number(operands[1])) return;
  else if ((first == "and" && !last) || first == "or" || first == "xor")
    is(step::pattern::joined, last.value_or(0));
  else if (first == "and") is(step::pattern::masked, *last);
  else if (first == "add" && last) is(step::pattern::added, *last);
  else if ((first == "shl" || (first == "shr" && !name.has("s32") && !name.has("s64"))) && last &&
           *last >= 0 && *last <= most_moved)
    is(step::pattern::moved, first == "shl" ? *last : -*last);
}

}  // namespace

void describe_ptx(step& s, const opcode& name, const texts& operands) {
  s.what = access_of(name);
  if (s.what != kind::other) describe_access(s, name, operands);
  describe_order(s, name);
  s.computes = computes(s, name);
  if (name.first() == "setp")
    s.compares = name.second() == "eq"   ? step::comparison::equal
                 : name.second() == "ne" ? step::comparison::unequal
                                         : step::comparison::other;
  describe_bits(s, name, operands);
  s.puts_predicate = name.first() == "mov" && name.has("pred");
  s.copies = operands.size() == 2 && (name.first() == "mov" || name.first() == "cvta");
  if (name.first() == "mov" && operands.size() == 2 && is_number(operands[1])) {
    s.is_constant = true;
    s.puts_zero = is_zero(operands[1]);
  }
}

}  // namespace mgsync::audit
