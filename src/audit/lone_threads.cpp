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

bool is_barrier(const step& s) { return s.what == kind::block_barrier || s.what == kind::warp_barrier; }

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

bool goes_by_thread(const flow& code, const step& s) {
  return s.condition >= 0 && code.of_thread()[static_cast<std::size_t>(s.condition)];
}

// If `branch` leads some threads to the step `to`, by their number, and others past it: where it leads these.
std::optional<std::size_t> way_past(const flow& code, std::size_t branch, std::size_t to) {
  const step& s = code[branch];
  if (s.what != kind::branch || s.next.size() != 2 || !goes_by_thread(code, s)) return std::nullopt;
  // A step that the branch's other side comes to as well parts nobody.
  const auto leads = [&](std::size_t next) {
    const auto& before = code.before(next);
    return code.dominates(next, to) && std::all_of(before.begin(), before.end(), [&](std::size_t b) {
             return b == branch || code.dominates(next, b);
           });
  };
  const bool one = leads(s.next[0]), other = leads(s.next[1]);
  if (one == other) return std::nullopt;
  return s.next[one ? 1 : 0];
}

// Whether one thread alone comes here: the one whose number is equal to something.
bool is_of_one_thread(const flow& code, std::size_t at) {
  const auto by_equality = [&](const step& s) {
    if (!goes_by_thread(code, s) || !code.spend(code.size() / 64)) return false;
    const auto made_of = code.values(s.condition, nullptr);
    return std::any_of(made_of.begin(), made_of.end(), [&](std::size_t w) {
      const bool compares =
          code[w].compares == step::comparison::equal || code[w].compares == step::comparison::unequal;
      return compares && std::any_of(code[w].reads.begin(), code[w].reads.end(),
                                     [&](int r) { return code.of_thread()[static_cast<std::size_t>(r)]; });
    });
  };
  if (by_equality(code[at])) return true;
  for (std::size_t b = 0; b < code.size() && code.spend(1); ++b)
    if (code[b].what == kind::branch && by_equality(code[b]) && way_past(code, b, at)) return true;
  return false;
}

// The last ordinary stores of all threads from which a way without a barrier or call leads here.
std::vector<std::size_t> stores_ahead_of(const flow& code, std::size_t here) {
  constexpr std::size_t most = 4;  // that are looked at
  std::vector<std::size_t> found, open(code.before(here));
  std::vector<bool> seen(code.size());
  while (!open.empty() && found.size() < most && code.spend(1)) {
    const std::size_t at = open.back();
    open.pop_back();
    const step& s = code[at];
    if (seen[at] || at == here || s.what == kind::call || is_barrier(s)) continue;
    seen[at] = true;
    if (s.what == kind::store && s.global && !s.strong) {
      if (!is_of_one_thread(code, at)) found.push_back(at);
      continue;
    }
    open.insert(open.end(), code.before(at).begin(), code.before(at).end());
  }
  return found;
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

std::optional<unheld> who_is_not_spoken_for(const flow& code, std::size_t flag) {
  std::optional<std::size_t> branch;
  if (goes_by_thread(code, code[flag])) branch = flag;
  // The first one: ahead of it all threads are together.
  for (std::size_t b = 0; b < code.size() && !branch && code.spend(1); ++b)
    if (code.is_reached(b) && way_past(code, b, flag)) branch = b;
  if (!branch) return std::nullopt;
  const std::set<std::size_t> never(code[*branch].next.begin(), code[*branch].next.end());
  for (const std::size_t store : stores_ahead_of(code, *branch)) {
    std::vector<way_out> on;
    for (const std::size_t next : code[store].next) on.push_back({store, next});
    const auto seen = reached(code, on, never);
    if (seen[nothing][*branch] || seen[votes][*branch])
      return unheld{*branch, store, !seen[votes][*branch] && !seen[a_barrier][*branch]};
  }
  return std::nullopt;
}

}  // namespace mgsync::audit
