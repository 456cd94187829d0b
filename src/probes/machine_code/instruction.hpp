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
  // Bits 9 to 11, the kinds of the operands. 1: registers only; 4, 5, 6: the second is an immediate, a
  // constant, a uniform register; 2, 3, 7: the same for the third.
  std::uint32_t form() const { return bits(9, 3); }
  std::uint32_t guard() const { return bits(12, 3); }  // true_predicate: always
  bool guard_negated() const { return bits(15, 1) != 0; }

  std::uint32_t stall() const {
    return bits(105, 4);
  }                                                 // cycles until the warp may issue its next instruction
  bool yield() const { return bits(109, 1) == 0; }  // stored inverted
  std::uint32_t write_scoreboard() const { return bits(110, 3); }  // set until the result is written
  std::uint32_t wait_mask() const { return bits(116, 6); }  // scoreboards that must be clear before it issues

  // The mnemonic up to its first dot: "FADD", "BAR"; empty where the table does not have the opcode.
  std::string_view name() const;

  // CS2R of all 64 bits of the SM's cycle counter. A 32-bit read does not count: it takes another time and
  // wraps around.
  bool reads_clock_64() const;
  // S2R, S2UR or CS2R of the low word only.
  bool reads_clock_32() const;
  // For MEMBAR the scope of the fence; none for any other instruction.
  scope fence_scope() const;
  // For loads, stores and atomics of global or generic addresses, the scope of a strong access; none for weak
  // ones and other instructions.
  scope access_scope() const;
  // CCTL.IVALL, which invalidates the L1 cache: with it, a polling load becomes an acquire.
  bool invalidates_l1() const;
  // For BRA the target's offset from the next instruction, in bytes. Its encoding depends on the
  // architecture.
  std::optional<std::int64_t> branch_offset(unsigned architecture) const;
};

}  // namespace mgsync::machine_code
