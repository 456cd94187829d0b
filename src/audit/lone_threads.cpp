#include "src/audit/lone_threads.hpp"

#include <algorithm>
#include <array>
#include <map>

#include "src/audit/walk.hpp"

namespace mgsync::audit {
namespace {

using kind = step::kind;

// What was met on the way: nothing, a shuffle or vote, which holds lanes and orders nothing, or a barrier of
// the block or the warp.
enum met : std::uint8_t { nothing, votes, a_barrier };
using steps_by_met = std::array<std::vector<bool>, 3>;

struct way_out {
  std::size_t branch, next;
};

// One of the block or the warp. Who looks at a word in shared memory that others change may wait for these.
bool is_barrier(const step& s) {
  return s.what == kind::block_barrier || s.what == kind::warp_barrier ||
         (s.what == kind::load && s.shared && s.strong);
}

// What is reached from these steps, of which each is one that a branch leads to, without coming to one of
// `never`.
steps_by_met reached(const flow& code, const std::vector<way_out>& from, const std::set<std::size_t>& never) {
  constexpr std::size_t most_kept = 8;  // of one step: beyond that nothing is taken to be known there
  struct spot {
    std::size_t at;
    met how;
    constants known;
  };
  steps_by_met seen;
  seen.fill(std::vector<bool>(code.size()));
  std::map<std::pair<std::size_t, met>, std::vector<constants>> been;
  std::vector<spot> open;
  for (const way_out& one : from) open.push_back({one.next, nothing, constants(code, one.branch)});
  while (!open.empty() && code.spend(1)) {
    auto [at, how, known] = std::move(open.back());
    open.pop_back();
    if (never.count(at) != 0) continue;
    const step& s = code[at];
    if (is_barrier(s)) how = a_barrier;
    else if (s.meets_lanes) how = std::max(how, votes);
    auto& before = been[{at, how}];
    if (before.size() >= most_kept) known = {};
    if (std::any_of(before.begin(), before.end(), [&now = known](const auto& one) { return one.is_in(now); }))
      continue;
    before.push_back(known);
    seen[how][at] = true;
    known.pass(s);
    for (const std::size_t next : known.next(s)) open.push_back({next, how, known});
  }
  return seen;
}

// The guard of the first step by which threads come to the second that do not come to the first; none:
// whoever comes to the second comes to the first.
std::optional<std::size_t> who_alone(const std::vector<guard>& of_flag, const std::vector<guard>& of_store) {
  for (const guard& one : of_flag) {
    const bool is_asked =
        std::all_of(one.conditions.begin(), one.conditions.end(), [&](const std::string& condition) {
          return std::any_of(of_store.begin(), of_store.end(),
                             [&](const guard& other) { return other.conditions.count(condition) != 0; });
        });
    if (!is_asked) return one.at;
  }
  return std::nullopt;
}

}  // namespace

std::optional<unheld> who_passes_by(const flow& code, const waiting_loop& w) {
  std::vector<way_out> ways_out;
  for (const std::size_t branch : w.deciding)
    for (const std::size_t next : code[branch].next)
      if (!w.of->has(next)) ways_out.push_back({branch, next});
  for (std::size_t at = 0; at < code.size() && code.spend(1); ++at) {
    const auto past = w.of->has(at) ? std::nullopt : way_past(code, at, w.of->head);
    if (!past) continue;
    const auto behind = reached(code, ways_out, {at});
    // Who comes to the loop by another way polls, too.
    const auto around = reached(code, {{at, *past}}, {at, w.of->head});
    std::optional<std::size_t> sure, doubtful;
    for (std::size_t use = 0; use < code.size(); ++use) {
      if (code[use].what != kind::load || !code[use].global || code[use].strong) continue;
      if (!behind[nothing][use] && !behind[votes][use]) continue;
      const bool free = around[nothing][use], voted = around[votes][use];
      if (free && !voted && !around[a_barrier][use] && !sure) sure = use;
      if ((free || voted) && !doubtful) doubtful = use;
    }
    if (doubtful) return unheld{at, sure ? *sure : *doubtful, sure.has_value()};
  }
  return std::nullopt;
}

std::optional<unheld> who_is_not_spoken_for(const flow& code, const guards& by_number, std::size_t flag) {
  constexpr std::size_t most = 8;  // stores that are looked at
  const auto of_flag = by_number.of(flag);
  if (of_flag.empty()) return std::nullopt;
  std::optional<unheld> doubtful;
  std::size_t looked_at = 0;
  std::vector<std::size_t> open(code.before(flag));
  std::vector<bool> seen(code.size());
  while (!open.empty() && looked_at < most && code.spend(1)) {
    const std::size_t at = open.back();
    open.pop_back();
    const step& s = code[at];
    if (seen[at] || at == flag || s.what == kind::call || is_barrier(s)) continue;
    seen[at] = true;
    open.insert(open.end(), code.before(at).begin(), code.before(at).end());
    if (s.what != kind::store || !s.global || s.strong || by_number.are_apart(at, flag)) continue;
    const auto branch = who_alone(of_flag, by_number.of(at));
    if (!branch) continue;
    ++looked_at;
    // Up to the flag; who stores anew, in the next turn of a loop, begins anew.
    std::set<std::size_t> never(code[flag].next.begin(), code[flag].next.end());
    never.insert(at);
    std::vector<way_out> on;
    for (const std::size_t next : s.next) on.push_back({at, next});
    const auto there = reached(code, on, never);
    if (!there[nothing][flag] && !there[votes][flag]) continue;
    const bool is_sure = !there[votes][flag] && !there[a_barrier][flag];
    if (is_sure) return unheld{*branch, at, true};
    if (!doubtful) doubtful = unheld{*branch, at, false};
  }
  return doubtful;
}

}  // namespace mgsync::audit
