// What the barriers of these tests are made of: words in lines of their own, as atomics, and a worker's lines
// in its member's memory. Written against <mgsync/check.hpp> alone, as a user's would be.
#pragma once

#include <mgsync/check.hpp>

namespace mgsync::known {

using check::position;
using check::shape;
using word = std::uint32_t;

inline word load(const word& w) { return __atomic_load_n(&w, __ATOMIC_ACQUIRE); }
inline word load_relaxed(const word& w) { return __atomic_load_n(&w, __ATOMIC_RELAXED); }
inline void store(word& w, word v) { __atomic_store_n(&w, v, __ATOMIC_RELEASE); }
inline void store_relaxed(word& w, word v) { __atomic_store_n(&w, v, __ATOMIC_RELAXED); }
inline word add(word& w, word v) { return __atomic_fetch_add(&w, v, __ATOMIC_ACQ_REL); }  // what was before
inline bool swap_if(word& w, word from, word to) {
  return __atomic_compare_exchange_n(&w, &from, to, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}
inline bool reached(word seen, word target) { return static_cast<std::int32_t>(seen - target) >= 0; }

// A barrier of workers that each have Barrier::lines(workers) lines in their member's memory, all of which
// begin at the shape's epoch. Line 0 is the worker's own count of rounds: a launch goes on where the last one
// ended.
template <class Barrier>
struct of_lines {
  explicit of_lines(const position& where) : at(where), epoch(load_relaxed(line(self(), 0))) {}

  static std::size_t bytes(const shape& s) { return std::size_t{s.blocks} * Barrier::lines(s.workers) * 128; }
  static void start(void* part, unsigned, const shape& s) {
    auto* words = static_cast<word*>(part);
    for (std::size_t i = 0; i < bytes(s) / sizeof(word); ++i) words[i] = s.epoch;
  }

  unsigned self() const { return at.member * at.blocks + at.block; }
  word& line(unsigned worker, unsigned index) const {
    const std::size_t lines = worker % at.blocks * Barrier::lines(at.workers) + index;
    return at.part<word>(worker / at.blocks)[lines * 32];
  }
  word next() {
    store_relaxed(line(self(), 0), ++epoch);
    return epoch;
  }
  template <class Condition>
  bool wait_until(Condition holds) const {
    while (!holds())
      if (!at.go_on()) return false;
    return true;
  }

  position at;
  word epoch;
};

}  // namespace mgsync::known
