#include <algorithm>

#include <fmt/format.h>

#include "src/base/errors.hpp"
#include "src/models/ptx/block_run.hpp"

namespace mgsync::ptx {

// A barrier of some lanes: one event for each, with the same meeting number.
void block_run::meet(way& on, unsigned first, unsigned last, const char* name) {
  const int meeting = history_.new_meeting();
  for (unsigned t = first; t < last; ++t) {
    ++on.lanes[t].effects;
    step made = begun(on, t, facts_.code().code[on.lanes[t].at], memory_order::event_kind::barrier);
    made.event.barrier = fmt::format("{} of block {}", name, number_);
    made.event.turn = meeting;
    history_.add(std::move(made));
  }
}

void block_run::step_over(way& on, unsigned first, unsigned last) {
  for (unsigned t = first; t < last; ++t) {
    ++on.lanes[t].at;
    on.lanes[t].waiting = lane::waits::no;
  }
}

reads block_run::behind(const std::vector<value>& said) {
  reads all;
  for (const value& one : said) all.insert(one.from.begin(), one.from.end());
  return all;
}

std::optional<value> block_run::agreed(const way& on, const std::vector<value>& said, bool all,
                                       std::optional<split>& part) const {
  value verdict{all ? 1U : 0U, -1, {}};
  for (const value& one : said) {
    const value now = settled(on, one);
    if (!now.open() && (now.bits != 0) != all) return now.bits != 0 ? value{1, -1, {}} : value{0, -1, {}};
  }
  for (const value& one : said) {
    const value now = settled(on, one);
    if (!now.open()) continue;
    if (verdict.open()) {
      part = decide(on, verdict);
      return std::nullopt;
    }
    verdict = now;
  }
  return verdict;
}

std::optional<block_run::split> block_run::vote(way& on, unsigned first, unsigned last,
                                                const instruction& one) {
  const operand& asked = one.operands.at(1);
  const auto said_by = [&](unsigned t) { return settled(on, read(on, t, asked)); };
  std::vector<value> said;
  for (unsigned t = first; t < last; ++t) said.push_back(said_by(t));
  value verdict;
  if (one.has("ballot")) {
    for (unsigned t = first; t < last; ++t)
      if (const auto parts = decide(on, said[t - first])) return parts;
    for (unsigned bit = 0; bit < 32; ++bit)
      if (said[std::min<std::size_t>(bit, said.size() - 1)].bits != 0)
        verdict.bits |= std::uint64_t{1} << bit;
  } else {
    if (!one.has("all") && !one.has("any")) refuse(one, "is a vote that is not known here");
    std::optional<split> part;
    const auto found = agreed(on, said, one.has("all"), part);
    if (!found) return part;
    verdict = *found;
  }
  verdict.from = behind(said);
  for (unsigned t = first; t < last; ++t) set(on, t, one.operands.at(0), verdict);
  return std::nullopt;
}

std::optional<block_run::split> block_run::shuffle(way& on, unsigned first, unsigned last,
                                                   const instruction& one) {
  std::vector<value> got;
  for (unsigned t = first; t < last; ++t) {
    const value by = settled(on, read(on, t, one.operands.at(2)));
    if (const auto parts = decide(on, by)) return parts;
    const unsigned mine = t - first, lane = static_cast<unsigned>(by.bits);
    const unsigned from = one.has("idx") ? lane : one.has("bfly") ? mine ^ lane : 32;
    if (from == 32) refuse(one, "is a shuffle that is not known here");
    got.push_back(read(on, from < last - first ? first + from : last - 1, one.operands.at(1)));
    got.back().from.insert(by.from.begin(), by.from.end());
  }
  for (unsigned t = first; t < last; ++t) {
    const operand& to = one.operands.at(0);
    set(on, t, to, got[t - first]);
    if (to.what == operand::kind::list && to.regs.size() > 1 && to.regs[1] >= 0)
      on.lanes[t].registers[static_cast<std::size_t>(to.regs[1])] = {1, -1, {}};
  }
  return std::nullopt;
}

// A reduction over the simulated lanes; the absent lanes contribute nothing.
std::optional<block_run::split> block_run::add_up(way& on, unsigned first, unsigned last,
                                                  const instruction& one) {
  if (!one.has("add")) refuse(one, "is a reduction that is not known here");
  value sum;
  for (unsigned t = first; t < last; ++t) {
    const value said = read(on, t, one.operands.at(1));
    if (const auto parts = decide(on, said)) return parts;
    sum.bits = (sum.bits + settled(on, said).bits) & 0xffffffffU;
    sum.from.insert(said.from.begin(), said.from.end());
  }
  for (unsigned t = first; t < last; ++t) set(on, t, one.operands.at(0), sum);
  return std::nullopt;
}

std::optional<block_run::split> block_run::meet_warp(way& on, unsigned first, unsigned last) {
  const instruction& one = facts_.code().code[on.lanes[first].at];
  for (unsigned t = first; t < last; ++t)
    if (on.lanes[t].at != on.lanes[first].at) refuse(one, "is not reached by all lanes of the warp");
  std::optional<split> parts;
  if (one.is("vote")) parts = vote(on, first, last, one);
  else if (one.is("shfl")) parts = shuffle(on, first, last, one);
  else if (one.is("redux")) parts = add_up(on, first, last, one);
  else meet(on, first, last, "warp");
  if (!parts) step_over(on, first, last);
  return parts;
}

std::optional<block_run::split> block_run::meet_block(way& on) {
  std::vector<value> said;
  const instruction& one = facts_.code().code[on.lanes.front().at];
  for (unsigned t = 0; t < launch_.threads; ++t) {
    const instruction& mine = facts_.code().code[on.lanes[t].at];
    const operand& which = mine.operands.at(mine.has("red") ? 1 : 0);
    if (mine.name != one.name || mine.has("arrive") || which.what != operand::kind::number ||
        which.number != 0)
      refuse(mine, "meets another barrier of the block");
    if (mine.has("red")) said.push_back(read(on, t, mine.operands.at(mine.operands.size() - 1)));
  }
  value verdict;
  if (!said.empty()) {
    if (!one.has("or") && !one.has("and")) refuse(one, "is a barrier that is not known here");
    std::optional<split> part;
    const auto found = agreed(on, said, one.has("and"), part);
    if (!found) return part;
    verdict = *found;
    verdict.from = behind(said);
  }
  meet(on, 0, launch_.threads, "barrier");
  for (unsigned t = 0; t < launch_.threads; ++t) {
    if (!said.empty()) set(on, t, facts_.code().code[on.lanes[t].at].operands.at(0), verdict);
    on.lanes[t].visits.clear();
    on.lanes[t].turned.reset();
    on.lanes[t].loads = on.lanes[t].effects = 0;
  }
  step_over(on, 0, launch_.threads);
  ++on.phase;
  return std::nullopt;
}

}  // namespace mgsync::ptx
