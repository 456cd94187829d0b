#include "src/models/ptx/block_run.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "src/base/errors.hpp"

namespace mgsync::ptx {

using memory_order::event_kind;

block_run::block_run(const launch& of, const kernel_facts& facts, history& all, unsigned gpu, unsigned block)
    : launch_(of),
      facts_(facts),
      history_(all),
      gpu_(gpu),
      block_(block),
      number_(static_cast<int>(gpu * of.blocks + block)) {
  for (unsigned t = 0; t < of.threads; ++t) parameters_.push_back(of.parameters({gpu, block, t}));
}

void block_run::refuse(const instruction& one, const char* why) const {
  throw usage_error(fmt::format("PTX, line {}: '{}' {}", one.line, one.text, why));
}

way block_run::begin() const {
  way first;
  first.lanes.resize(launch_.threads);
  for (lane& one : first.lanes) one.registers.resize(static_cast<std::size_t>(facts_.code().registers));
  return first;
}

std::size_t block_run::run_all() {
  std::vector<way> ways{begin()};
  const auto ended = [](const way& one) { return one.lanes.front().ended; };
  while (!std::all_of(ways.begin(), ways.end(), ended)) {
    std::vector<way> reached;
    for (way& one : ways) {
      if (ended(one)) reached.push_back(std::move(one));
      else run_on(std::move(one), reached);
    }
    ways = met(std::move(reached));
  }
  return ways.size();
}

void block_run::run_on(way on, std::vector<way>& reached) {
  const auto waits = [&](lane::waits how, unsigned first, unsigned last) {
    return std::all_of(on.lanes.begin() + first, on.lanes.begin() + last,
                       [&](const lane& l) { return !l.ended && l.waiting == how; });
  };
  if (waits(lane::waits::for_block, 0, launch_.threads))
    if (const auto parts = meet_block(on)) return go_each_way(on, *parts, reached);
  while (true) {
    for (unsigned t = 0; t < launch_.threads; ++t) {
      while (!on.lanes[t].ended && on.lanes[t].waiting == lane::waits::no) {
        moved how = moved::on;
        const auto parts = move(on, t, how);
        if (how == moved::lost) return;
        if (parts) return go_each_way(on, *parts, reached);
      }
    }
    if (std::all_of(on.lanes.begin(), on.lanes.end(), [](const lane& l) { return l.ended; }))
      return reached.push_back(std::move(on));
    bool met_some = false;
    for (unsigned first = 0; first < launch_.threads; first += launch_.warp) {
      const unsigned last = std::min(first + launch_.warp, launch_.threads);
      if (!waits(lane::waits::for_warp, first, last)) continue;
      if (const auto parts = meet_warp(on, first, last)) return go_each_way(on, *parts, reached);
      met_some = true;
    }
    if (met_some) continue;
    if (!waits(lane::waits::for_block, 0, launch_.threads))
      refuse(facts_.code().code.at(on.lanes.front().at), "is not reached by all lanes");
    return reached.push_back(std::move(on));
  }
}

void block_run::go_each_way(const way& from, const split& parts, std::vector<way>& reached) {
  const std::size_t position = from.decided.size(), steps_before = history_.steps().size(),
                    refusals_before = history_.refusals().size();
  choice refused = 0;
  std::size_t going = 0;
  std::vector<way> all;
  for (const choice part : parts.parts) {
    way one = from;
    one.left[parts.read] = part;
    one.decided.push_back({parts.read, part});
    const std::size_t steps = history_.steps().size(), refusals = history_.refusals().size();
    std::vector<way> some;
    run_on(std::move(one), some);
    if (some.empty()) {
      history_.steps().resize(steps);
      history_.refusals().resize(refusals);
      refused |= part;
      continue;
    }
    ++going;
    std::move(some.begin(), some.end(), std::back_inserter(all));
  }
  // Only one path is left: the refusal of the others is recorded once rather than as a condition of each
  // event.
  if (going == 1) {
    const auto erase = [&](std::vector<decision>& from_list) {
      from_list.erase(from_list.begin() + static_cast<std::ptrdiff_t>(position));
    };
    for (way& one : all) erase(one.decided);
    for (std::size_t s = steps_before; s < history_.steps().size(); ++s) erase(history_.steps()[s].decided);
    for (std::size_t r = refusals_before; r < history_.refusals().size(); ++r)
      erase(history_.refusals()[r].under);
  }
  if (refused != 0 && going != 0) history_.refusals().push_back({parts.read, refused, from.decided});
  std::move(all.begin(), all.end(), std::back_inserter(reached));
}

bool block_run::meets(way& one, const way& other) const {
  if (one.phase != other.phase || one.decided.size() != other.decided.size()) return false;
  std::size_t differs = one.decided.size(), differences = 0;
  for (std::size_t i = 0; i < one.decided.size(); ++i) {
    if (one.decided[i] == other.decided[i]) continue;
    if (one.decided[i].read != other.decided[i].read) return false;
    differs = i;
    ++differences;
  }
  if (differences != 1) return false;
  for (std::size_t t = 0; t < one.lanes.size(); ++t) {
    const lane &a = one.lanes[t], &b = other.lanes[t];
    if (a.at != b.at || a.ended != b.ended || a.waiting != b.waiting) return false;
    for (int r = 0; r < facts_.code().registers; ++r)
      if (facts_.is_live(a.at, r) &&
          !a.registers[static_cast<std::size_t>(r)].same_number(b.registers[static_cast<std::size_t>(r)]))
        return false;
  }
  join_dependencies(one, other, differs);
  const decision both{one.decided[differs].read, one.decided[differs].got | other.decided[differs].got};
  const auto at = one.decided.begin() + static_cast<std::ptrdiff_t>(differs);
  if (history_.is_all(both)) one.decided.erase(at);
  else *at = both;
  for (auto left = one.left.begin(); left != one.left.end();) {
    const auto also = other.left.find(left->first);
    if (also == other.left.end()) {
      left = one.left.erase(left);
      continue;
    }
    left->second |= also->second;
    ++left;
  }
  for (const auto& [word, writes] : other.last_own) {
    const bool is_new = one.last_own.count(word) == 0;
    one.last_own[word].insert(writes.begin(), writes.end());
    if (is_new) one.last_own[word].insert(-1);
  }
  for (auto& [word, writes] : one.last_own)
    if (other.last_own.count(word) == 0) writes.insert(-1);
  return true;
}

// Whether the read leads to this way with some of its values alone, as a poll keeps waiting with the others.
bool block_run::ends_a_poll(const decision& of, const way& on) const {
  const auto& whenever_read = history_.steps()[static_cast<std::size_t>(of.read)].decided;
  const auto holds = [&](const decision& one) {
    return std::find(on.decided.begin(), on.decided.end(), one) != on.decided.end() ||
           std::find(whenever_read.begin(), whenever_read.end(), one) != whenever_read.end();
  };
  return std::any_of(history_.refusals().begin(), history_.refusals().end(), [&](const refusal& one) {
    return one.read == of.read && std::all_of(one.under.begin(), one.under.end(), holds);
  });
}

// Two ways that go on as one depend on what both depend on, and on what was read on one of them alone. The
// read that parted them decides nothing any more, unless it is a poll.
void block_run::join_dependencies(way& one, const way& other, std::size_t differs) const {
  const decision &mine = one.decided[differs], &theirs = other.decided[differs];
  const bool decides = !history_.is_all({mine.read, mine.got | theirs.got}), polls = ends_a_poll(mine, one);
  const auto read_alone_on = [&](int read, const decision& part) {
    const auto& decided = history_.steps()[static_cast<std::size_t>(read)].decided;
    return std::any_of(decided.begin(), decided.end(),
                       [&](const decision& d) { return d.read == part.read && (d.got & ~part.got) == 0; });
  };
  const auto join = [&](reads& a, const reads& b, bool keeps) {
    reads both;
    for (const int read : a)
      if (b.count(read) != 0 || read_alone_on(read, mine)) both.insert(read);
    for (const int read : b)
      if (read_alone_on(read, theirs)) both.insert(read);
    if (!keeps) both.erase(mine.read);
    a = std::move(both);
  };
  for (std::size_t t = 0; t < one.lanes.size(); ++t) {
    lane& to = one.lanes[t];
    const lane& from = other.lanes[t];
    join(to.led_by, from.led_by, decides || polls);
    for (std::size_t r = 0; r < to.registers.size(); ++r)
      join(to.registers[r].from, from.registers[r].from, decides);
  }
}

std::vector<way> block_run::met(std::vector<way> ways) const {
  for (bool changed = !launch_.whole; changed;) {
    changed = false;
    for (std::size_t a = 0; a < ways.size() && !changed; ++a) {
      for (std::size_t b = a + 1; b < ways.size() && !changed; ++b) {
        if (!meets(ways[a], ways[b])) continue;
        ways.erase(ways.begin() + static_cast<std::ptrdiff_t>(b));
        changed = true;
      }
    }
  }
  return ways;
}

choice block_run::left(const way& on, int read) const {
  const auto found = on.left.find(read);
  return found == on.left.end() ? ~choice{0} : found->second;
}

value block_run::settled(const way& on, value of) const {
  if (!of.open()) return of;
  const choice may = left(on, of.read);
  std::optional<std::uint64_t> only;
  for (std::size_t i = 0; i < of.by_candidate.size(); ++i) {
    if ((may >> i & 1) == 0) continue;
    if (only && *only != of.by_candidate[i]) return of;
    only = of.by_candidate[i];
  }
  return {only.value_or(0), -1, {}, of.from};
}

std::optional<block_run::split> block_run::decide(const way& on, const value& of) const {
  const value now = settled(on, of);
  if (!now.open()) return std::nullopt;
  std::map<std::uint64_t, choice> by_number;
  for (std::size_t i = 0; i < now.by_candidate.size(); ++i)
    if ((left(on, now.read) >> i & 1) != 0) by_number[now.by_candidate[i]] |= choice{1} << i;
  split made{now.read, {}};
  for (const auto& [number, part] : by_number) made.parts.push_back(part);
  return made;
}

std::optional<block_run::split> block_run::move(way& on, unsigned thread, moved& how) {
  lane& l = on.lanes[thread];
  if (l.at >= facts_.code().code.size()) {
    l.ended = true;
    return std::nullopt;
  }
  if (facts_.is_label(l.at)) l.visits[l.at] = {history_.steps().size(), l.loads, l.effects};
  const instruction& one = facts_.code().code[l.at];
  l.under.clear();
  if (one.condition >= 0) {
    const value holds = settled(on, l.registers[static_cast<std::size_t>(one.condition)]);
    if (const auto parts = decide(on, holds)) return parts;
    if (one.is("bra")) l.led_by.insert(holds.from.begin(), holds.from.end());
    else l.under = holds.from;
    if ((holds.bits != 0) == one.if_not) {
      ++l.at;
      return std::nullopt;
    }
  }
  if (one.is("bra")) {
    const std::size_t to = facts_.behind(one.operands.at(0).name, one);
    const auto before = l.visits.find(to);
    if (to <= l.at && before != l.visits.end() && l.loads > before->second.loads &&
        l.effects == before->second.effects)
      l.turned = lane::turn{l.at, to, before->second.steps};
    l.at = to;
    return std::nullopt;
  }
  const auto parts = execute(on, thread, one);
  if (std::exchange(lost_, false)) how = moved::lost;
  return parts;
}

// Whether the lane is about to read once more in a loop that has only read so far, and must not.
bool block_run::polls_in_vain(const way& on, lane& l, const instruction& one) {
  const auto turned = std::exchange(l.turned, std::nullopt);
  if (!turned || l.at > turned->from || l.at < turned->to || may_turn(on, l, turned->steps)) return false;
  if (on.decided.empty())
    history_.waits_in_vain(
        fmt::format("PTX, line {}: '{}' waits for what nobody writes", one.line, one.text));
  return true;
}

// Whether a lane may iterate once more in a loop that only reads. A loop that depends on no undecided read
// may end by counting, up to a bound of iterations.
bool block_run::may_turn(const way& on, lane& l, std::size_t steps_before) const {
  constexpr unsigned most_turns = 64;
  const bool decided = std::any_of(on.decided.begin(), on.decided.end(), [&](const decision& d) {
    return d.read >= static_cast<int>(steps_before);
  });
  return decided ? ++l.failed <= launch_.failed_polls : ++l.turns <= most_turns;
}

std::optional<block_run::split> block_run::execute(way& on, unsigned thread, const instruction& one) {
  lane& l = on.lanes[thread];
  const bool of_block = one.is("bar") || one.is("barrier");
  if (one.is("vote") || one.is("shfl") || one.is("redux") || (of_block && one.has("warp"))) {
    l.waiting = lane::waits::for_warp;
    return std::nullopt;
  }
  if (of_block) {
    l.waiting = lane::waits::for_block;
    return std::nullopt;
  }
  if (one.is("ret") || one.is("exit")) {
    l.ended = true;
    return std::nullopt;
  }
  std::optional<split> parts;
  if (one.is("ld")) parts = load(on, thread, one);
  else if (one.is("st")) parts = store(on, thread, one);
  else if (one.is("atom") || one.is("red")) parts = atomic(on, thread, one);
  else if (one.is("fence") || one.is("membar")) fence(on, thread, one);
  else if (one.is("activemask")) set(on, thread, one.operands.at(0), {0xffffffffU, -1, {}});
  else if (computes(one)) parts = compute(on, thread, one);
  else if (!one.is("nanosleep") && !one.is("prefetch")) refuse(one, "is no instruction that is known here");
  if (!parts) ++l.at;
  return parts;
}

std::optional<block_run::split> block_run::compute(way& on, unsigned thread, const instruction& one) {
  std::vector<value> inputs;
  reads from;
  int read = -1;
  for (std::size_t i = 1; i < one.operands.size(); ++i) {
    const operand& given = one.operands[i];
    if (given.what == operand::kind::special)
      inputs.push_back({special(on, thread, given.name, one), -1, {}});
    else inputs.push_back(settled(on, this->read(on, thread, given)));
    from.insert(inputs.back().from.begin(), inputs.back().from.end());
    if (!inputs.back().open()) continue;
    if (read >= 0 && read != inputs.back().read) return decide(on, inputs.back());
    read = inputs.back().read;
  }
  const auto at = [&](std::size_t candidate) {
    std::vector<std::uint64_t> numbers;
    for (const value& one_input : inputs)
      numbers.push_back(one_input.open() ? one_input.by_candidate[candidate] : one_input.bits);
    return computed(one, numbers);
  };
  value made{0, read, {}, std::move(from)};
  if (read < 0) made.bits = at(0);
  else
    for (std::size_t c = 0; c < history_.steps()[static_cast<std::size_t>(read)].candidates.size(); ++c)
      made.by_candidate.push_back(at(c));
  set(on, thread, one.operands.at(0), std::move(made));
  return std::nullopt;
}

value block_run::read(const way& on, unsigned thread, const operand& from) const {
  switch (from.what) {
  case operand::kind::reg: return on.lanes[thread].registers[static_cast<std::size_t>(from.reg)];
  case operand::kind::number: return {static_cast<std::uint64_t>(from.number), -1, {}};
  case operand::kind::symbol: return {history_.place_of(facts_.code(), from.name), -1, {}};
  default: break;
  }
  throw usage_error("PTX: an operand that is no number");
}

void block_run::set(way& on, unsigned thread, const operand& to, value made) const {
  const int reg = to.what == operand::kind::list ? to.regs.at(0) : to.reg;
  const reads& under = on.lanes[thread].under;
  made.from.insert(under.begin(), under.end());
  if (reg >= 0) on.lanes[thread].registers[static_cast<std::size_t>(reg)] = std::move(made);
}

std::uint64_t block_run::special(way& on, unsigned thread, const std::string& name,
                                 const instruction& one) const {
  lane& l = on.lanes[thread];
  constexpr unsigned lanes = 32;  // as the kernel counts them
  if (name == "%tid.x") return thread / launch_.warp * lanes + thread % launch_.warp;
  if (name == "%ntid.x") return (launch_.threads + launch_.warp - 1) / launch_.warp * lanes;
  if (name == "%ctaid.x") return block_;
  if (name == "%nctaid.x") return launch_.blocks;
  if (name == "%laneid") return thread % launch_.warp;
  if (name == "%warpid") return thread / launch_.warp;
  if (name == "%smid") return block_;
  if (name == "%clock" || name == "%clock64" || name == "%globaltimer") return l.clock += 1U << 12U;
  if (name == "%tid.y" || name == "%tid.z" || name == "%ctaid.y" || name == "%ctaid.z") return 0;
  if (name == "%ntid.y" || name == "%ntid.z" || name == "%nctaid.y" || name == "%nctaid.z") return 1;
  if (const auto said = launch_.registers.find(name); said != launch_.registers.end()) return said->second;
  refuse(one, "asks for a register that is not known here");
}

}  // namespace mgsync::ptx
