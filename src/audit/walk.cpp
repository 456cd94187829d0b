#include "src/audit/walk.hpp"

namespace mgsync::audit {

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
