// Computes the results of PTX's integer, predicate and address instructions.
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
  std::uint64_t low(std::uint64_t value) const;      // the value truncated to the type
  std::int64_t extended(std::uint64_t value) const;  // the value extended according to the type's sign
};
// The type of that name; nothing where it is not an integer type.
std::optional<number_type> type_named(const std::string& word);

// True for instructions that compute one number from others and do nothing else.
bool computes(const instruction&);
// The result for the values of the operands after the first. Throws usage_error, naming line and instruction,
// for an unknown instruction.
std::uint64_t computed(const instruction&, const std::vector<std::uint64_t>& inputs);

}  // namespace mgsync::ptx
