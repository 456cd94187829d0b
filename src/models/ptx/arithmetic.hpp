// What instructions of PTX compute from numbers: integers, predicates, addresses.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/models/ptx/kernel.hpp"

namespace mgsync::ptx {

// The last part of an instruction's name: "u32", "s64", "b16", "pred".
struct number_type {
  unsigned bits = 32;  // 1: a predicate
  bool is_signed = false;

  std::uint64_t bytes() const { return bits / 8; }
  std::uint64_t low(std::uint64_t value) const;      // what a register of the type holds of it
  std::int64_t extended(std::uint64_t value) const;  // as a number, of its sign
};
// Nothing: no type of whole numbers.
std::optional<number_type> type_named(const std::string& word);

// True for instructions that compute one number from others and do nothing else.
bool computes(const instruction&);
// The result, given what the operands behind the first hold. Throws usage_error, naming line and instruction,
// where it is none that is known.
std::uint64_t computed(const instruction&, const std::vector<std::uint64_t>& inputs);

}  // namespace mgsync::ptx
