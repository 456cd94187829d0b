#include "src/audit/walk.hpp"

#include <algorithm>

namespace mgsync::audit {

constants::constants(const flow& code, std::size_t at) {
  constexpr std::size_t most_ahead = 1'000;
  std::vector<std::size_t> ahead;
  for (std::size_t from = at; from != 0 && code.before(from).size() == 1 && ahead.size() < most_ahead;) {
    if (!code.spend(1)) break;
    from = code.before(from).front();
    ahead.push_back(from);
  }
  std::for_each(ahead.rbegin(), ahead.rend(), [&](std::size_t one) { pass(code[one]); });
}

void constants::pass(const step& s) {
  for (const int r : s.writes) {
    const auto copied =
        s.copies && !s.is_constant && s.reads.size() == 1 ? known_.find(s.reads.front()) : known_.end();
    const bool is_known = s.puts_predicate && s.condition < 0 && s.writes.size() == 1 &&
                          (s.is_constant || copied != known_.end());
    if (is_known) known_[r] = s.is_constant ? !s.puts_zero : copied->second;
    else known_.erase(r);
  }
}

std::vector<std::size_t> constants::next(const step& s) const {
  if (s.what != step::kind::branch || s.condition < 0 || s.next.size() != 2) return s.next;
  const auto found = known_.find(s.condition);
  if (found == known_.end()) return s.next;
  return {s.next[found->second != s.if_not ? 1 : 0]};
}

bool constants::is_in(const constants& other) const {
  return std::includes(other.known_.begin(), other.known_.end(), known_.begin(), known_.end());
}

walk walk_along(const flow& code, std::vector<std::size_t> first,
                const std::function<std::vector<std::size_t>(std::size_t)>& onward, order_half half,
                reach far, const std::function<bool(std::size_t)>& stops) {
  walk found;
  if (!code.spend(code.size() / 64)) return found;
  std::vector<bool> seen(code.size());
  while (!first.empty() && code.spend(1)) {
    const std::size_t at = first.back();
    first.pop_back();
    if (seen[at]) continue;
    seen[at] = true;
    const step& s = code[at];
    const bool releases = half == order_half::release;
    if (s.what == step::kind::fence && (releases ? s.releases : s.acquires)) {
      if (s.scope >= far) {
        found.fences.insert(at);
        continue;
      }
      found.narrow.insert(at);
    }
    if (stops(at)) {
      found.ends.insert(at);
      continue;
    }
    const auto next = onward(at);
    if (releases && at == 0) found.came_to_its_beginning = true;
    first.insert(first.end(), next.begin(), next.end());
  }
  return found;
}

}  // namespace mgsync::audit
