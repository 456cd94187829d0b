#include "src/audit/arrivals.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "src/audit/walk.hpp"

namespace mgsync::audit {

using kind = step::kind;

bool arrivals::is_poll(std::size_t at, bool of_loads_alone) const {
  code_.spend(waits_.size());
  return std::any_of(waits_.begin(), waits_.end(), [&](const auto& w) { return w.poll == at; }) &&
         (!of_loads_alone || code_[at].what == kind::load);
}

// Whether what this step reads in the register was read in the block's shared memory, and converted at most.
bool arrivals::is_of_block(std::size_t at, int reg, unsigned steps_left) const {
  const auto from = code_.written_for(at, reg);
  return steps_left != 0 && !from.empty() && std::all_of(from.begin(), from.end(), [&](std::size_t writer) {
           const step& s = code_[writer];
           return s.shared ||
                  (s.computes && s.reads.size() == 1 && is_of_block(writer, s.reads[0], steps_left - 1));
         });
}

// An addition whose result nobody reads is of data where it adds what the block has added up in its shared
// memory, or where the thread releases it before it waits, or meets anybody.
bool arrivals::is_data(std::size_t at) const {
  const step& s = code_[at];
  if (std::any_of(s.writes.begin(), s.writes.end(), [&](int r) { return !code_.read_from(at, r).empty(); }))
    return false;
  if (s.data.size() == 1 && is_of_block(at, s.data[0])) return true;
  const auto on = [&](std::size_t b) { return code_[b].next; };
  const auto stops = [&](std::size_t b) {
    const step& o = code_[b];
    return o.releases || is_poll(b, false) || o.what == kind::block_barrier || o.what == kind::call ||
           o.what == kind::end;
  };
  const walk found = walk_along(code_, code_[at].next, on, order_half::release, code_[at].scope, stops);
  return !found.ends.empty() && std::all_of(found.ends.begin(), found.ends.end(), [&](std::size_t b) {
    return code_[b].releases && code_[b].what == kind::update;
  });
}

bool arrivals::is_arrival(std::size_t at) const {
  const step& s = code_[at];
  if (s.what == kind::update && s.changes == step::change::other) return !is_data(at);
  if (s.what == kind::update)
    return std::any_of(waits_.begin(), waits_.end(),
                       [&](const waiting_loop& w) { return !w.looks_beside && same_address(at, w.poll); });
  for (const waiting_loop& w : waits_) {
    if (w.looks_beside) continue;
    for (const std::size_t branch : w.deciding)
      for (const std::size_t source : code_.sources(code_[branch].condition, w.of))
        for (const int r : code_[source].reads)
          if (std::find(s.data.begin(), s.data.end(), r) != s.data.end() && same_value(at, source, r))
            return true;
  }
  return false;
}

// An offset that an instruction adds is not looked at.
bool arrivals::same_address(std::size_t at, std::size_t other) const {
  const auto origin = [&](std::size_t of) {
    int reg = code_[of].address.empty() ? -1 : code_[of].address.front();
    for (int steps = 0; reg >= 0 && steps < 8 && code_.writers(reg).size() == 1; ++steps) {
      const step& s = code_[code_.writers(reg).front()];
      if (!s.copies || s.reads.size() != 1) break;
      reg = s.reads.front();
    }
    return reg;
  };
  const int reg = origin(at);
  if (reg < 0 || reg != origin(other)) return false;
  const auto& direct = code_[at].address;
  return direct != code_[other].address || same_value(at, other, direct.front());
}

// Machine code uses a register again for something else.
bool arrivals::same_value(std::size_t at, std::size_t other, int reg) const {
  const auto here = code_.written_for(at, reg), there = code_.written_for(other, reg);
  return (here.empty() && there.empty()) ||
         std::any_of(here.begin(), here.end(), [&](std::size_t writer) { return there.count(writer) != 0; });
}

bool arrivals::is_ticket(std::size_t at) const {
  const step& drawn = code_[at];
  if (drawn.what != kind::update || drawn.changes != step::change::other) return false;
  const auto has = [](const std::vector<int>& some, int r) {
    return std::find(some.begin(), some.end(), r) != some.end();
  };
  std::set<std::size_t> seen{at};
  std::vector<std::size_t> open{at};
  while (!open.empty() && !code_.is_tired()) {
    const std::size_t writer = open.back();
    open.pop_back();
    for (const int r : code_[writer].writes)
      for (const std::size_t reader : code_.read_from(writer, r)) {
        const step& s = code_[reader];
        if (has(s.address, r)) return true;
        if (has(s.data, r) && s.global && (s.what == kind::store || s.what == kind::update)) return true;
        if (s.what == kind::other && s.compares == step::comparison::none && seen.insert(reader).second)
          open.push_back(reader);
      }
  }
  return false;
}

bool arrivals::is_published(std::size_t at, reach far) const {
  const auto waits = [&](std::size_t b) {
    const kind what = code_[b].what;
    return is_poll(b, true) || what == kind::block_barrier || what == kind::call || what == kind::end;
  };
  std::vector<bool> seen(2 * code_.size());
  std::vector<std::pair<std::size_t, bool>> open;  // where a way has come to, and whether it was released
  const auto go_on = [&](std::size_t from, bool released) {
    for (const std::size_t next : code_[from].next) open.emplace_back(next, released);
  };
  go_on(at, false);
  while (!open.empty() && code_.spend(1)) {
    auto [b, released] = open.back();
    open.pop_back();
    const step& o = code_[b];
    released = released || (o.releases && o.scope >= far);
    if (released && o.global && o.strong && (o.what == kind::store || o.what == kind::update)) return true;
    const std::size_t way = 2 * b + (released ? 1 : 0);
    if (seen[way] || waits(b)) continue;
    seen[way] = true;
    go_on(b, released);
  }
  return false;
}

}  // namespace mgsync::audit
