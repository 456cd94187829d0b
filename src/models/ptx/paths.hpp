// Data structures of record(): the state of a block's lanes, which is copied where a read decides between
// paths.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "src/models/memory_order/program.hpp"
#include "src/models/ptx/launch.hpp"

namespace mgsync::ptx {

// A subset of a read's candidate values, as a bit mask.
using choice = std::uint64_t;

// Numbers of steps that are reads.
using reads = std::set<int>;

// The value of a register: a number, or one number for each candidate value of a read.
struct value {
  std::uint64_t bits = 0;
  int read = -1;  // number of a step
  std::vector<std::uint64_t> by_candidate;
  reads from{};  // what it was computed from

  bool open() const { return read >= 0; }
  bool same_number(const value& other) const {
    return bits == other.bits && read == other.read && by_candidate == other.by_candidate;
  }
};

// The condition that a read got one of these candidates.
struct decision {
  int read = -1;
  choice got = 0;
  friend bool operator==(const decision&, const decision&) = default;
};

// A memory event on one of the paths of a block.
struct step {
  memory_order::event event;
  int line = 0;  // of the instruction
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  int block = 0;  // number of the block among those of all GPUs
  int phase = 0;  // the number of barriers of the block before it
  std::vector<decision> decided;
  ptx::reads depends;                    // of a write: what it would not be as it is without
  std::vector<std::int64_t> candidates;  // of a read
};

struct lane {
  enum class waits { no, for_warp, for_block };
  struct visit {
    std::size_t steps;  // of the whole recording by then
    unsigned loads, effects;
  };

  std::size_t at = 0;  // index of the instruction
  bool ended = false;
  waits waiting = waits::no;
  unsigned loads = 0, effects = 0, failed = 0, turns = 0;
  std::uint64_t clock = 0;
  std::vector<value> registers;
  reads led_by;  // what its branches went by
  reads under;   // what the predicate of the instruction that it is at was computed from
  // The last turn of a loop that read memory and did nothing else: a poll that failed, if the loop reads
  // again.
  struct turn {
    std::size_t from, to;  // instructions
    std::size_t steps;     // of the whole recording before it
  };
  std::optional<turn> turned;
  std::map<std::size_t, visit> visits;  // for each label passed since the block's last barrier
};

struct way {
  std::vector<lane> lanes;
  int phase = 0;
  std::vector<decision> decided;
  std::map<int, choice> left;  // for each read, the candidates that are still possible on this path
  // For each lane and word the lane's last writes, on all paths that were joined here; -1: on one of them it
  // wrote nothing.
  std::map<std::pair<unsigned, std::uint64_t>, std::set<int>> last_own;
};

// A write, as far as reads of other lanes need to know it.
struct known_write {
  int thread = 0;
  int block = 0;
  int phase = 0;
  unsigned ordinal = 0;  // number of the write among those of its thread in its phase
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  bool adds = false;
  std::int64_t number = 0;  // the value written, or added
  auto operator<=>(const known_write&) const = default;
};

}  // namespace mgsync::ptx
