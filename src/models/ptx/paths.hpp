// The parts of record(): a block's lanes as a value that is copied where a read decides between ways.
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

// What of a read's candidates, by bit.
using choice = std::uint64_t;

// What a register holds: a number, or one for each value that a read may have got.
struct value {
  std::uint64_t bits = 0;
  int read = -1;  // number of a step
  std::vector<std::uint64_t> by_candidate;

  bool open() const { return read >= 0; }
  friend bool operator==(const value&, const value&) = default;
};

// The read got one of these.
struct decision {
  int read = -1;
  choice got = 0;
  friend bool operator==(const decision&, const decision&) = default;
};

// An event on one of the ways of a block.
struct step {
  memory_order::event event;
  int line = 0;  // of the instruction
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  int block = 0;  // of all GPUs
  int phase = 0;  // barriers of the block before it
  std::vector<decision> decided;
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
  std::map<std::size_t, visit> visits;  // of labels, since the block's last barrier
};

struct way {
  std::vector<lane> lanes;
  int phase = 0;
  std::vector<decision> decided;
  std::map<int, choice> left;  // of each read, what it may have got on this way
  // The last write of each lane to a word, of all ways that met here; -1: none on one of them.
  std::map<std::pair<unsigned, std::uint64_t>, std::set<int>> last_own;
};

// A write as all others know of it.
struct known_write {
  int thread = 0;
  int block = 0;
  int phase = 0;
  unsigned ordinal = 0;  // of the thread in its phase
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  bool adds = false;
  std::int64_t number = 0;  // written or added
  auto operator<=>(const known_write&) const = default;
};

}  // namespace mgsync::ptx
