// One instruction of 128 bits, as compute capability 7.x and later have them: the opcode in the low 12 bits,
// the guard above it, registers at fixed places, and from bit 105 on how the scheduler is to treat it.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace mgsync::machine_code {

inline constexpr unsigned no_scoreboard = 7;
inline constexpr unsigned zero_register = 255;  // RZ
inline constexpr unsigned true_predicate = 7;   // PT

// How far a fence or a strong access reaches.
enum class scope : std::uint8_t { none, block, gpu, system };

struct instruction {
  std::uint64_t low = 0;
  std::uint64_t high = 0;

  // `count` <= 32 bits from bit `first` on.
  std::uint32_t bits(unsigned first, unsigned count) const;

  std::uint32_t opcode() const { return bits(0, 12); }
  // Bits 9 to 11 say what the operands are: 1 registers only, 4 the second a number, 5 a constant, 6 a
  // uniform register, 2, 3 and 7 the same of the third.
  std::uint32_t form() const { return bits(9, 3); }
  std::uint32_t guard() const { return bits(12, 3); }  // true_predicate: always
  bool guard_negated() const { return bits(15, 1) != 0; }

  std::uint32_t stall() const {
    return bits(105, 4);
  }                                                 // cycles until the warp may issue its next instruction
  bool yield() const { return bits(109, 1) == 0; }  // stored inverted
  std::uint32_t write_scoreboard() const { return bits(110, 3); }  // set until the result is there
  std::uint32_t wait_mask() const { return bits(116, 6); }  // scoreboards that must be clear before it issues

  // The mnemonic up to its first dot: "FADD", "BAR"; empty where the table does not have the opcode.
  std::string_view name() const;

  // CS2R of all 64 bits of the SM's cycle counter. The 32-bit read costs something else and wraps: it is
  // none.
  bool reads_clock_64() const;
  // S2R, S2UR or CS2R of the low word only.
  bool reads_clock_32() const;
  // MEMBAR: the scope of the fence; none for any other instruction.
  scope fence_scope() const;
  // Loads, stores and atomics of global or generic addresses: the scope that they are strong in; none: weak,
  // or no access.
  scope access_scope() const;
  // CCTL.IVALL, which makes what was polled an acquire: what the L1 cache holds is thrown away.
  bool invalidates_l1() const;
  // BRA: where it goes, relative to the address after it, in bytes. The architecture says where the number
  // stands.
  std::optional<std::int64_t> branch_offset(unsigned architecture) const;
};

}  // namespace mgsync::machine_code
