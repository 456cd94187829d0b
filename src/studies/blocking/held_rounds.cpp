#include "src/studies/blocking/held_rounds.hpp"

#include <algorithm>
#include <limits>

namespace mgsync::blocking {
namespace {

constexpr std::int64_t stair_ns = 5000;  // delay between one participant and the next
constexpr std::size_t words_per_line = algorithm::line_bytes / sizeof(std::uint32_t);

enum kind { begin_held, end_held, begin_control, end_control };

std::int64_t& stamp_of(const blocking_case& c, unsigned participants, const held_memory& m, kind which,
                       unsigned round, unsigned who) {
  return m.stamp[(std::size_t{which} * c.rounds + round) * participants + who];
}

// Spins so that participants arrive one after the other, beginning with another one in each round.
void climb(unsigned me, unsigned participants, std::uint64_t round) {
  const auto until = now_ns() + static_cast<std::int64_t>((me + round) % participants) * stair_ns;
  while (now_ns() < until) {}
}

std::uint64_t violations_of(const blocking_case& c, unsigned participants, const held_memory& m, kind begin,
                            kind end) {
  std::uint64_t found = 0;
  for (unsigned r = 0; r < c.rounds; ++r) {
    std::int64_t last_begin = 0, first_end = std::numeric_limits<std::int64_t>::max();
    for (unsigned i = 0; i < participants; ++i) {
      last_begin = std::max(last_begin, stamp_of(c, participants, m, begin, r, i));
      first_end = std::min(first_end, stamp_of(c, participants, m, end, r, i));
    }
    found += last_begin > first_end;
  }
  return found;
}

// The stamps of one round, from its first stamp on: of a round from the middle in which participants arrive
// in ascending order.
void one_round(const blocking_case& c, unsigned participants, const held_memory& m, kind begin, kind end,
               std::vector<double>& begins, std::vector<double>& ends) {
  unsigned round = c.rounds / 2;
  while ((round + c.seed) % participants != 0 && round + 1 < c.rounds) ++round;
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  for (unsigned i = 0; i < participants; ++i)
    first = std::min(first, stamp_of(c, participants, m, begin, round, i));
  for (unsigned i = 0; i < participants; ++i) {
    begins.push_back(static_cast<double>(stamp_of(c, participants, m, begin, round, i) - first));
    ends.push_back(static_cast<double>(stamp_of(c, participants, m, end, round, i) - first));
  }
}

}  // namespace

void take_rounds(const blocking_case& c, unsigned participants, unsigned me, meeting& barrier,
                 flag_barrier& line, const held_memory& m) {
  const auto slot = [&](unsigned round, unsigned who) {
    return std::atomic_ref<std::uint32_t>(m.slots[((round & 1) * participants + who) * words_per_line]);
  };
  for (unsigned r = 0; r < c.rounds; ++r) {
    line.meet(me);
    climb(me, participants, r + c.seed);
    stamp_of(c, participants, m, begin_held, r, me) = now_ns();
    slot(r, me).store(r + 1, std::memory_order_relaxed);
    barrier.meet(me);
    bool wrong = false;
    for (unsigned i = 0; i < participants; ++i)
      wrong = wrong || slot(r, i).load(std::memory_order_relaxed) != r + 1;
    stamp_of(c, participants, m, end_held, r, me) = now_ns();
    if (wrong) std::atomic_ref<std::uint32_t>(*m.wrong).fetch_add(1);
  }
  for (unsigned r = 0; r < c.rounds; ++r) {
    line.meet(me);
    climb(me, participants, r + c.seed);
    stamp_of(c, participants, m, begin_control, r, me) = now_ns();
    stamp_of(c, participants, m, end_control, r, me) = now_ns();
  }
  line.meet(me);
}

holding judge_rounds(const blocking_case& c, unsigned participants, const held_memory& m) {
  holding h;
  h.rounds = h.control_rounds = c.rounds;
  h.violations = violations_of(c, participants, m, begin_held, end_held);
  h.control_violations = violations_of(c, participants, m, begin_control, end_control);
  h.wrong_data = *m.wrong;
  one_round(c, participants, m, begin_held, end_held, h.begin, h.end);
  one_round(c, participants, m, begin_control, end_control, h.control_begin, h.control_end);
  return h;
}

}  // namespace mgsync::blocking
