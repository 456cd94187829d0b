#include "src/probes/machine_code/instruction.hpp"

#include "src/probes/machine_code/opcodes.hpp"

namespace mgsync::machine_code {

namespace {

// Numbers of special registers.
constexpr std::uint32_t clock_low = 0x50, clock_high = 0x51;

}  // namespace

std::uint32_t instruction::bits(unsigned first, unsigned count) const {
  const std::uint64_t mask = (std::uint64_t{1} << count) - 1;
  if (first >= 64) return static_cast<std::uint32_t>((high >> (first - 64)) & mask);
  std::uint64_t value = low >> first;
  if (first + count > 64) value |= high << (64 - first);
  return static_cast<std::uint32_t>(value & mask);
}

std::string_view instruction::name() const { return opcode_name(opcode()); }

bool instruction::reads_clock_64() const {
  return opcode() == 0x805 && bits(72, 8) == clock_low && bits(80, 1) == 1;
}

bool instruction::reads_clock_32() const {
  const auto special = bits(72, 8);
  if (special != clock_low && special != clock_high) return false;
  if (opcode() == 0x805) return bits(80, 1) == 0;
  return opcode() == 0x919 || opcode() == 0x9c3;
}

scope instruction::fence_scope() const {
  if (name() != "MEMBAR") return scope::none;
  switch (bits(76, 3)) {
  case 0: return scope::block;
  case 2: return scope::gpu;
  case 3: return scope::system;
  default: return scope::none;
  }
}

scope instruction::access_scope() const {
  const auto called = name();
  const bool accesses = called == "LD" || called == "LDG" || called == "ST" || called == "STG" ||
                        called.starts_with("ATOM") || called == "REDG";
  if (!accesses) return scope::none;
  switch (bits(77, 4)) {
  case 5: return scope::block;
  case 7: return scope::gpu;
  case 10: return scope::system;
  default: return scope::none;
  }
}

bool instruction::invalidates_l1() const { return name() == "CCTL" && bits(87, 4) == 4; }

std::optional<std::int64_t> instruction::branch_offset(unsigned architecture) const {
  if (name() != "BRA") return std::nullopt;
  // The offset is signed and in units of 4 bytes: 48 bits from bit 34 on; from compute capability 9.0 on with
  // 8 lower bits at bit 16.
  const std::uint64_t raw = (low >> 34) | ((high & 0x3ffff) << 30);
  const std::int64_t upper = static_cast<std::int64_t>(raw << 16) >> 16;
  return architecture >= 90 ? (upper * 256 + bits(16, 8)) * 4 : upper * 4;
}

}  // namespace mgsync::machine_code
