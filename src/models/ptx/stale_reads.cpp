#include "src/models/ptx/stale_reads.hpp"

namespace mgsync::ptx {

namespace {

using memory_order::condition;

condition is(int read, std::int64_t value) {
  return {.what = condition::kind::read_is, .index = read, .value = value};
}
condition is_not(int read, std::int64_t value) {
  return {.what = condition::kind::negation, .parts = {is(read, value)}};
}

// Of a read that takes place.
condition wrong_read(const memory_order::program& program, int event, int round) {
  condition wrong{.what = condition::kind::all_of, .parts = {is_not(event, round), is_not(event, round + 1)}};
  for (const auto& one : program.events[static_cast<std::size_t>(event)].guards)
    wrong.parts.push_back(one.how == memory_order::compared::equal ? is(one.read, one.value)
                                                                   : is_not(one.read, one.value));
  return wrong;
}

}  // namespace

condition stale_reads(const recording& made, int thread, std::uint64_t word, int round) {
  condition any{.what = condition::kind::any_of};
  std::map<int, int> rounds;  // by line: each is an instruction of its own
  for (std::size_t e = 0; e < made.program.events.size(); ++e) {
    const auto& one = made.program.events[e];
    if (one.kind != memory_order::event_kind::read || one.thread != thread ||
        made.word_of[static_cast<std::size_t>(one.address)] != word)
      continue;
    const int read = rounds.try_emplace(made.lines[e], static_cast<int>(rounds.size()) + 1).first->second;
    if (round == 0 || read == round) any.parts.push_back(wrong_read(made.program, static_cast<int>(e), read));
  }
  return any;
}

}  // namespace mgsync::ptx
