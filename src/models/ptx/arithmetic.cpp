#include "src/models/ptx/arithmetic.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

#include "src/base/errors.hpp"

namespace mgsync::ptx {

namespace {

constexpr std::array<std::string_view, 23> computing{
    "mov",  "add", "sub",  "mul", "mad", "and", "or",  "xor", "not",  "shl",  "shr", "setp",
    "selp", "cvt", "cvta", "div", "rem", "min", "max", "neg", "popc", "lop3", "bfi"};

[[noreturn]] void refuse(const instruction& one) {
  throw usage_error(
      fmt::format("PTX, line {}: '{}' is no instruction that is known here", one.line, one.text));
}

bool compared(const instruction& one, std::string_view how, const number_type& type, std::uint64_t a,
              std::uint64_t b) {
  const std::int64_t x = type.extended(a), y = type.extended(b);
  const std::uint64_t u = type.low(a), v = type.low(b);
  if (how == "eq") return u == v;
  if (how == "ne") return u != v;
  if (how == "lo") return u < v;
  if (how == "ls") return u <= v;
  if (how == "hi") return u > v;
  if (how == "hs") return u >= v;
  if (how == "lt") return type.is_signed ? x < y : u < v;
  if (how == "le") return type.is_signed ? x <= y : u <= v;
  if (how == "gt") return type.is_signed ? x > y : u > v;
  if (how == "ge") return type.is_signed ? x >= y : u >= v;
  refuse(one);
}

std::uint64_t set_predicate(const instruction& one, const number_type& type,
                            const std::vector<std::uint64_t>& in) {
  const bool holds = compared(one, one.name.at(1), type, in.at(0), in.at(1));
  if (in.size() == 2) return holds ? 1 : 0;
  const bool other = in[2] != 0;
  if (one.has("and")) return holds && other ? 1 : 0;
  if (one.has("or")) return holds || other ? 1 : 0;
  if (one.has("xor")) return holds != other ? 1 : 0;
  refuse(one);
}

std::uint64_t multiplied(const instruction& one, const number_type& type, std::uint64_t a, std::uint64_t b) {
  if (one.has("wide"))
    return type.is_signed ? static_cast<std::uint64_t>(type.extended(a) * type.extended(b))
                          : type.low(a) * type.low(b);
  if (!one.has("hi")) return a * b;
  if (type.bits == 64) refuse(one);
  return (type.is_signed ? static_cast<std::uint64_t>(type.extended(a) * type.extended(b))
                         : type.low(a) * type.low(b)) >>
         type.bits;
}

std::uint64_t divided(const instruction& one, const number_type& type, std::uint64_t a, std::uint64_t b) {
  if (type.low(b) == 0) refuse(one);
  const bool rest = one.is("rem");
  if (!type.is_signed) return rest ? type.low(a) % type.low(b) : type.low(a) / type.low(b);
  const std::int64_t x = type.extended(a), y = type.extended(b);
  return static_cast<std::uint64_t>(rest ? x % y : x / y);
}

std::uint64_t shifted(const instruction& one, const number_type& type, std::uint64_t a, std::uint64_t by) {
  const bool left = one.is("shl");
  if (by >= type.bits) return !left && type.is_signed && type.extended(a) < 0 ? ~std::uint64_t{0} : 0;
  if (left) return a << by;
  return type.is_signed ? static_cast<std::uint64_t>(type.extended(a) >> by) : type.low(a) >> by;
}

std::uint64_t of_two(const instruction& one, const number_type& type, std::uint64_t a, std::uint64_t b) {
  const std::string& verb = one.name.front();
  const auto smaller = [&] {
    return type.is_signed ? type.extended(a) < type.extended(b) : type.low(a) < type.low(b);
  };
  if (verb == "add") return a + b;
  if (verb == "sub") return a - b;
  if (verb == "and") return a & b;
  if (verb == "or") return a | b;
  if (verb == "xor") return a ^ b;
  if (verb == "mul") return multiplied(one, type, a, b);
  if (verb == "div" || verb == "rem") return divided(one, type, a, b);
  if (verb == "shl" || verb == "shr") return shifted(one, type, a, b);
  if (verb == "min") return smaller() ? a : b;
  if (verb == "max") return smaller() ? b : a;
  refuse(one);
}

// lop3: a bitwise function whose truth table is the last operand.
std::uint64_t by_table(const std::vector<std::uint64_t>& in) {
  std::uint64_t made = 0;
  for (unsigned bit = 0; bit < 32; ++bit) {
    const auto of = [&](std::size_t i) { return in.at(i) >> bit & 1; };
    made |= (in.at(3) >> (of(0) << 2 | of(1) << 1 | of(2)) & 1) << bit;
  }
  return made;
}

// bfi: the low bits of the first input in place of some of the second's.
std::uint64_t with_field(const number_type& type, const std::vector<std::uint64_t>& in) {
  const std::uint64_t at = in.at(2) & 0xff, length = in.at(3) & 0xff;
  if (at >= type.bits || length == 0) return type.low(in.at(1));
  const std::uint64_t field =
      number_type{static_cast<unsigned>(std::min<std::uint64_t>(length, 64)), false}.low(~std::uint64_t{0})
      << at;
  return type.low((in.at(0) << at & field) | (in.at(1) & ~field));
}

}  // namespace

std::uint64_t number_type::low(std::uint64_t value) const {
  return bits >= 64 ? value : value & ((std::uint64_t{1} << bits) - 1);
}

std::int64_t number_type::extended(std::uint64_t value) const {
  const std::uint64_t held = low(value);
  if (!is_signed || bits >= 64 || (held >> (bits - 1)) == 0) return static_cast<std::int64_t>(held);
  return static_cast<std::int64_t>(held | ~((std::uint64_t{1} << bits) - 1));
}

std::optional<number_type> type_named(const std::string& word) {
  if (word == "pred") return number_type{1, false};
  if (word.size() < 2 || std::string_view("busf").find(word[0]) == std::string_view::npos)
    return std::nullopt;
  for (const unsigned bits : {8U, 16U, 32U, 64U})
    if (word.substr(1) == std::to_string(bits)) return number_type{bits, word[0] == 's'};
  return std::nullopt;
}

bool computes(const instruction& one) {
  return std::find(computing.begin(), computing.end(), one.name.front()) != computing.end();
}

std::uint64_t computed(const instruction& one, const std::vector<std::uint64_t>& in) {
  const std::string& verb = one.name.front();
  const auto type = type_named(one.name.back());
  if (verb == "cvta") return in.at(0);
  if (!type) refuse(one);
  if (verb == "setp") return set_predicate(one, *type, in);
  if (verb == "cvt") {
    const auto to = type_named(one.name.at(one.name.size() - 2));
    if (!to) refuse(one);
    return to->low(static_cast<std::uint64_t>(type->extended(in.at(0))));
  }
  if (verb == "mul" && one.has("wide")) return multiplied(one, *type, in.at(0), in.at(1));
  if (verb == "mad") {
    const std::uint64_t sum = multiplied(one, *type, in.at(0), in.at(1)) + in.at(2);
    return one.has("wide") ? number_type{2 * type->bits, false}.low(sum) : type->low(sum);
  }
  if (verb == "mov") return type->low(in.at(0));
  if (verb == "not") return type->low(~in.at(0));
  if (verb == "neg") return type->low(-in.at(0));
  if (verb == "selp") return type->low(in.at(2) != 0 ? in.at(0) : in.at(1));
  if (verb == "lop3") return by_table(in);
  if (verb == "bfi") return with_field(*type, in);
  if (verb == "popc") return static_cast<std::uint64_t>(__builtin_popcountll(type->low(in.at(0))));
  return type->low(of_two(one, *type, in.at(0), in.at(1)));
}

}  // namespace mgsync::ptx
