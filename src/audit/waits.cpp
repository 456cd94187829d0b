#include "src/audit/waits.hpp"

#include <algorithm>
#include <optional>

namespace mgsync::audit {
namespace {

using kind = step::kind;

bool touches_memory(const step& s) {
  return s.global && (s.what == kind::load || s.what == kind::store || s.what == kind::update);
}

// Whether an iteration of the loop does more than polling.
bool works(const flow& code, const loop& l) {
  return std::any_of(l.body.begin(), l.body.end(), [&](std::size_t at) {
    return code[at].what == kind::store && code[at].global && !code[at].strong;
  });
}
bool writes_anything(const flow& code, const loop& l) {
  return std::any_of(l.body.begin(), l.body.end(), [&](std::size_t at) {
    const kind what = code[at].what;
    return (touches_memory(code[at]) && what != kind::load) || what == kind::call;
  });
}

bool may_poll(const step& s) {
  if (!s.global || s.read_only) return false;
  if (s.what == kind::load) return true;
  return s.what == kind::update && s.changes != step::change::other && s.changes != step::change::extreme &&
         !s.writes.empty();
}

bool holds_still(const std::vector<int>& registers, const std::vector<bool>& stable) {
  return std::all_of(registers.begin(), registers.end(),
                     [&](int r) { return stable[static_cast<std::size_t>(r)]; });
}

// The steps whose values decide whether the branch is taken. In machine code it may go by two predicates.
std::set<std::size_t> deciding_values(const flow& code, std::size_t branch, const loop* within) {
  std::set<std::size_t> found;
  for (const int r : code[branch].reads) found.merge(code.values(r, within));
  return found;
}

class search {
 public:
  explicit search(const flow& code) : code_(code) {}

  std::vector<waiting_loop> all() {
    std::vector<bool> done(code_.size());
    for (const loop& l : code_.loops()) {
      if (!code_.spend(l.body.size())) break;
      polls_.clear();
      for (const std::size_t at : l.body)
        if (!done[at] && may_poll(code_[at])) polls_.push_back(at);
      if (polls_.empty() || works(code_, l)) continue;
      const auto stable = code_.stable(l), in_place = code_.stable(l, flow::loads::may_stay);
      for (const std::size_t poll : polls_)
        if (const auto found = as_wait(l, poll, stable, in_place); !found.deciding.empty()) {
          done[poll] = true;
          found_.push_back(found);
        }
    }
    if (!code_.spend(found_.size() * found_.size())) return {};
    for (waiting_loop& outer : found_)
      outer.looks_beside = std::any_of(found_.begin(), found_.end(), [&](const auto& inner) {
        return inner.of != outer.of && outer.of->has(inner.of->head);
      });
    std::sort(found_.begin(), found_.end(), [](const auto& a, const auto& b) { return a.poll < b.poll; });
    return std::move(found_);
  }

 private:
  // `in_place`: the registers whose values as addresses stay the same.
  waiting_loop as_wait(const loop& l, std::size_t poll, const std::vector<bool>& stable,
                       const std::vector<bool>& in_place) const {
    waiting_loop made{.of = &l, .poll = poll, .deciding = {}};
    const step& p = code_[poll];
    if (!holds_still(p.address, in_place)) return made;
    // The new value depends on the old one: a CAS loop that retries an update, which waits for nobody.
    if (p.what == kind::update && !holds_still(p.data, stable)) return made;
    if (!p.strong && writes_anything(code_, l)) return made;
    for (const std::size_t at : l.body) {
      const step& s = code_[at];
      if (s.condition < 0 || s.what != kind::branch) continue;
      if (std::all_of(s.next.begin(), s.next.end(), [&](std::size_t n) { return l.has(n); })) continue;
      const auto from = deciding_values(code_, at, &l);
      if (from.count(poll) == 0 || is_counted(l, from, poll)) continue;
      if (!p.strong && (counts(from) || has_time(from) || is_bound(l, from, poll, in_place))) continue;
      made.deciding.push_back(at);
      made.by_equality = made.by_equality || ends_at_one_value(l, s, from, poll);
    }
    made.has_bound = has_bound(made);
    return made;
  }
  bool has_bound(const waiting_loop& w) const {
    const auto bounds = [&](std::size_t at) {
      const step& s = code_[at];
      if (s.what == kind::clock || (at != w.poll && s.strong && may_poll(s))) return true;
      return s.computes && std::any_of(s.reads.begin(), s.reads.end(), [&](int r) {
               return code_.values(r, w.of).count(at) != 0;  // it goes on from its own result
             });
    };
    return std::any_of(w.of->body.begin(), w.of->body.end(), [&](std::size_t at) {
      const step& s = code_[at];
      if (s.what == kind::call || s.what == kind::end) return true;
      if (std::all_of(s.next.begin(), s.next.end(), [&](std::size_t n) { return w.of->has(n); }))
        return false;
      const auto from = deciding_values(code_, at, w.of);
      return std::find(w.deciding.begin(), w.deciding.end(), at) == w.deciding.end() ||
             std::any_of(from.begin(), from.end(), bounds);
    });
  }
  // Whether one of the steps is a counter, which changes by itself in each iteration.
  bool counts(const std::set<std::size_t>& from) const {
    return std::any_of(from.begin(), from.end(), [&](std::size_t at) {
      const step& s = code_[at];
      return s.computes && std::any_of(s.writes.begin(), s.writes.end(), [&](int r) {
               return r != s.condition && std::find(s.reads.begin(), s.reads.end(), r) != s.reads.end();
             });
    });
  }
  // Whether one of the steps reads a clock: what is compared with it is a deadline.
  bool has_time(const std::set<std::size_t>& from) const {
    return std::any_of(from.begin(), from.end(),
                       [&](std::size_t at) { return code_[at].what == kind::clock; });
  }
  // Whether it is a loop like "i < n", whose number of iterations is the word that it reads, and which does
  // not wait for it to change.
  bool is_counted(const loop& l, const std::set<std::size_t>& from, std::size_t poll) const {
    return std::any_of(from.begin(), from.end(), [&](std::size_t at) {
      bool of_poll = false, of_counter = false;
      if (code_[at].compares == step::comparison::none) return false;
      for (const int r : code_[at].reads) {
        const auto made_of = code_.values(r, &l);
        if (made_of.count(poll) != 0) of_poll = true;
        else if (counts(made_of)) of_counter = true;
      }
      return of_poll && of_counter;
    });
  }
  // Whether what an ordinary load reads is only compared with what a strong one polls.
  bool is_bound(const loop& l, const std::set<std::size_t>& from, std::size_t load,
                const std::vector<bool>& in_place) const {
    const auto polls = [&](std::size_t at) {
      return code_[at].strong && may_poll(code_[at]) && holds_still(code_[at].address, in_place);
    };
    return std::any_of(from.begin(), from.end(), [&](std::size_t at) {
      if (code_[at].compares == step::comparison::none) return false;
      std::set<std::size_t> made_of;
      for (const int r : code_[at].reads)
        if (!is_compared(r)) made_of.merge(code_.values(r, &l));
      return made_of.count(load) != 0 && std::any_of(made_of.begin(), made_of.end(), polls);
    });
  }
  // Whether the register is what came of a comparison.
  bool is_compared(int reg) const {
    return std::any_of(code_.writers(reg).begin(), code_.writers(reg).end(),
                       [&](std::size_t at) { return code_[at].compares != step::comparison::none; });
  }
  bool ends_at_one_value(const loop& l, const step& branch, const std::set<std::size_t>& from,
                         std::size_t poll) const {
    if (code_[poll].what == kind::update && code_[poll].changes != step::change::nothing) return false;
    const bool leaves_if = !l.has(branch.next.back()) ? !branch.if_not : branch.if_not;
    for (const std::size_t at : from) {
      const step& s = code_[at];
      if (s.writes.empty() || s.writes.front() != branch.condition) continue;
      const bool of_poll = std::any_of(s.reads.begin(), s.reads.end(), [&](int r) {
        return std::find(code_[poll].writes.begin(), code_[poll].writes.end(), r) != code_[poll].writes.end();
      });
      if (of_poll && s.compares == (leaves_if ? step::comparison::equal : step::comparison::unequal))
        return true;
    }
    return false;
  }

  const flow& code_;
  std::vector<std::size_t> polls_;
  std::vector<waiting_loop> found_;
};

}  // namespace

namespace {

// What decides at this branch is made anew in each turn, before it: a register that comes from the turn
// before may hold something else in the first.
bool same_in_the_first_turn(const flow& code, const loop& l, std::size_t branch) {
  std::set<std::size_t> from{branch};
  for (const int r : code[branch].reads) from.merge(code.sources(r, &l));
  for (const std::size_t reader : from)
    for (const int r : code[reader].reads)
      if (!code.spend(code.writers(r).size())) return false;
      else
        for (const std::size_t writer : code.writers(r))
          if (l.has(writer) &&
              (writer == reader || code[writer].condition >= 0 || !code.dominates(writer, reader)))
            return false;
  return true;
}

bool are_stable(const flow& code, const loop& l, const std::vector<std::size_t>& branches) {
  const auto stable = code.stable(l);
  return std::all_of(branches.begin(), branches.end(), [&](std::size_t at) {
    return code[at].condition >= 0 && holds_still(code[at].reads, stable) &&
           same_in_the_first_turn(code, l, at);
  });
}

// Where it is decided whether this loop, out of which no way leads, is come to: from there one way surely
// leads into it, and another does not. Who calls or writes on the way, as to say what went wrong, stops on
// purpose.
std::vector<std::size_t> ways_into(const flow& code, const loop& l) {
  std::set<std::size_t> lost(l.body.begin(), l.body.end()), deciding;
  std::vector<std::size_t> open = l.body;
  while (!open.empty() && code.spend(1)) {
    const std::size_t at = open.back();
    open.pop_back();
    for (const std::size_t before : code.before(at)) {
      const step& s = code[before];
      if (!code.is_reached(before) || s.what == kind::call || s.what == kind::store || s.what == kind::update)
        continue;
      const bool all_lost = s.what != kind::end && std::all_of(s.next.begin(), s.next.end(),
                                                               [&](std::size_t n) { return lost.count(n); });
      if (!all_lost) deciding.insert(before);
      else if (lost.insert(before).second) open.push_back(before);
    }
  }
  std::erase_if(deciding, [&](std::size_t at) { return code[at].condition < 0 || lost.count(at) != 0; });
  return {deciding.begin(), deciding.end()};
}

// The last access to memory, outside of the loop, whose value decides at this branch. A register that holds
// something else there than elsewhere is followed to where it was written for this.
std::optional<std::size_t> read_for(const flow& code, std::size_t branch, const loop& l) {
  std::optional<std::size_t> read;
  std::set<std::size_t> seen{branch};
  std::vector<std::size_t> open{branch};
  while (!open.empty() && !code.is_tired()) {
    const step& s = code[open.back()];
    const std::size_t reader = open.back();
    open.pop_back();
    if (reader != branch && touches_memory(s)) {
      if (!l.has(reader) && (!read || reader < branch)) read = std::max(read.value_or(0), reader);
      continue;
    }
    for (const int r : s.reads)
      if (std::find(s.address.begin(), s.address.end(), r) == s.address.end())
        for (const std::size_t writer : code.written_for(reader, r))
          if (seen.insert(writer).second) open.push_back(writer);
  }
  return read;
}

}  // namespace

std::vector<waiting_loop> waiting_loops(const flow& code) { return search(code).all(); }

std::string why_none_waits(const flow& code) {
  if (code.loops().empty()) return "no loop (calls are not followed)";
  bool any_reads = false, all_work = true;
  for (const loop& l : code.loops()) {
    if (!code.spend(2 * l.body.size())) break;
    if (!std::any_of(l.body.begin(), l.body.end(), [&](std::size_t at) { return may_poll(code[at]); }))
      continue;
    any_reads = true;
    all_work = all_work && works(code, l);
  }
  if (!any_reads) return "no loop that reads global memory";
  if (all_work) return "each loop that reads global memory stores data, too";
  return "no loop that is left by what one address in global memory holds";
}

std::vector<endless_branch> endless_branches(const flow& code) {
  std::vector<endless_branch> found;
  for (const loop& l : code.loops()) {
    std::vector<std::size_t> ways_out;
    bool can_end = false, does_nothing = true;
    if (!code.spend(l.body.size())) break;
    for (const std::size_t at : l.body) {
      const step& s = code[at];
      if (s.what == kind::call || (s.what == kind::end && s.condition >= 0)) can_end = true;
      does_nothing = does_nothing && (s.what == kind::other || s.what == kind::branch);
      if (std::all_of(s.next.begin(), s.next.end(), [&](std::size_t n) { return l.has(n); })) continue;
      ways_out.push_back(at);
    }
    if (can_end || (ways_out.empty() && !does_nothing)) continue;
    if (ways_out.empty()) ways_out = ways_into(code, l);
    else if (!are_stable(code, l, ways_out)) continue;
    for (const std::size_t at : ways_out)
      if (const auto read = read_for(code, at, l)) found.push_back({at, *read});
  }
  return found;
}

}  // namespace mgsync::audit
