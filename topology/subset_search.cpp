#include "topology/subset_search.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <set>

namespace mgsync::topology {
namespace {

constexpr std::size_t most_enumerated = 20;
constexpr std::size_t most_costs =
    32;  // the most different costs for which a split is tried: real machines have about ten kinds of pairs

struct choice {
  pair_cost cost;
  std::vector<int> chosen;  // rising
  bool exact = true;
};

// Among equal costs the set whose numbers come first: joining disjoint sets keeps this order, so parts can be
// solved separately.
bool better(const choice& a, const choice& b) {
  if (a.cost != b.cost) return a.cost < b.cost;
  return a.chosen < b.chosen;
}

using choices = std::vector<std::optional<choice>>;  // by size

pair_cost times(pair_cost cost, int factor) {
  for (auto& part : cost.parts) part *= factor;
  return cost;
}

std::vector<int> merged(const std::vector<int>& a, const std::vector<int>& b) {
  std::vector<int> result(a.size() + b.size());
  std::merge(a.begin(), a.end(), b.begin(), b.end(), result.begin());
  return result;
}

class search {
 public:
  search(int count, const std::function<pair_cost(int, int)>& cost)
      : count_(static_cast<std::size_t>(count)), costs_(count_ * count_) {
    for (int a = 0; a < count; ++a)
      for (int b = a + 1; b < count; ++b) at(a, b) = at(b, a) = cost(a, b);
  }

  // The best choice of every size 0..things.size().
  choices solve(const std::vector<int>& things) {
    if (things.size() == 1) return solve_one(things);
    for (const auto& between : costs_among(things)) {
      const auto parts = split(things, between);
      if (parts.size() < 2) continue;
      choices sum = solve(parts.front());
      for (std::size_t i = 1; i < parts.size(); ++i) sum = join(sum, solve(parts[i]), between);
      return sum;
    }
    return things.size() <= most_enumerated ? enumerate(things) : improve(things);
  }

 private:
  pair_cost& at(int a, int b) {
    return costs_[static_cast<std::size_t>(a) * count_ + static_cast<std::size_t>(b)];
  }

  static choices solve_one(const std::vector<int>& things) {
    choices both(2);
    both[0].emplace();
    both[1].emplace().chosen = things;
    return both;
  }

  std::set<pair_cost> costs_among(const std::vector<int>& things) {
    std::set<pair_cost> result;
    for (const int a : things)
      for (const int b : things)
        if (a < b) result.insert(at(a, b));
    if (result.size() > most_costs) result.clear();
    return result;
  }

  // Parts that cost `between` to each other, pair by pair: the connected parts of "does not cost `between`".
  std::vector<std::vector<int>> split(const std::vector<int>& things, const pair_cost& between) {
    std::vector<std::vector<int>> parts;
    std::set<int> left(things.begin(), things.end());
    while (!left.empty()) {
      std::vector<int> part{*left.begin()};
      left.erase(left.begin());
      for (std::size_t i = 0; i < part.size(); ++i)
        for (auto other = left.begin(); other != left.end();) {
          if (at(part[i], *other) == between) {
            ++other;
          } else {
            part.push_back(*other);
            other = left.erase(other);
          }
        }
      std::sort(part.begin(), part.end());
      parts.push_back(std::move(part));
    }
    return parts;
  }

  static choices join(const choices& a, const choices& b, const pair_cost& between) {
    choices result(a.size() + b.size() - 1);
    for (std::size_t i = 0; i < a.size(); ++i)
      for (std::size_t j = 0; j < b.size(); ++j) {
        choice sum{a[i]->cost, {}, a[i]->exact && b[j]->exact};
        sum.cost += b[j]->cost;
        sum.cost += times(between, static_cast<int>(i * j));
        auto& best = result[i + j];
        if (best && best->cost < sum.cost) continue;
        sum.chosen = merged(a[i]->chosen, b[j]->chosen);
        if (!best || better(sum, *best)) best = std::move(sum);
      }
    return result;
  }

  choices enumerate(const std::vector<int>& things) {
    choices best(things.size() + 1);
    best[0] = choice{};
    std::vector<int> chosen;
    extend(things, 0, {}, chosen, best);
    return best;
  }

  // Subsets come in the order of their numbers, so only a strictly cheaper one replaces the best.
  void extend(const std::vector<int>& things, std::size_t next, const pair_cost& cost,
              std::vector<int>& chosen, choices& best) {
    for (std::size_t i = next; i < things.size(); ++i) {
      pair_cost with = cost;
      for (const int other : chosen) with += at(other, things[i]);
      chosen.push_back(things[i]);
      auto& record = best[chosen.size()];
      if (!record || with < record->cost) record = choice{with, chosen, true};
      extend(things, i + 1, with, chosen, best);
      chosen.pop_back();
    }
  }

  // Grows a subset by the cheapest next thing, from several starts. Not proven to be the best.
  choices improve(const std::vector<int>& things) {
    constexpr std::size_t most_starts = 16;
    choices best(things.size() + 1);
    best[0] = choice{};
    for (std::size_t start = 0; start < std::min(things.size(), most_starts); ++start) {
      choice grown;
      std::vector<std::pair<pair_cost, int>> left;  // the cost that each remaining thing would add
      for (const int thing : things) left.emplace_back(pair_cost{}, thing);
      for (auto next = left.begin() + static_cast<std::ptrdiff_t>(start);;
           next = std::min_element(left.begin(), left.end())) {
        const auto [cost, thing] = *next;
        left.erase(next);
        grown.cost += cost;
        grown.chosen.insert(std::upper_bound(grown.chosen.begin(), grown.chosen.end(), thing), thing);
        grown.exact = grown.chosen.size() == 1 || left.empty();
        auto& record = best[grown.chosen.size()];
        if (!record || better(grown, *record)) record = grown;
        if (left.empty()) break;
        for (auto& [added, other] : left) added += at(thing, other);
      }
    }
    return best;
  }

  std::size_t count_;
  std::vector<pair_cost> costs_;
};

}  // namespace

subset cheapest_subset(int count, int wanted, const std::function<pair_cost(int, int)>& cost) {
  if (count <= 0 || wanted <= 0) return {};
  std::vector<int> things(static_cast<std::size_t>(count));
  std::iota(things.begin(), things.end(), 0);
  auto all = search(count, cost).solve(things);
  auto& best = all[static_cast<std::size_t>(std::min(wanted, count))];
  return {std::move(best->chosen), best->exact};
}

}  // namespace mgsync::topology
