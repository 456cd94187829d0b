#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "topology/placement.hpp"

namespace mgsync::topology {
namespace {

// Gives each of `wishes.size()` takers one place of its own (Kuhn's algorithm): an earlier taker moves to another place
// of its list when that gives a later one a place at all, and otherwise keeps what it has.
class matching {
 public:
  matching(std::vector<std::vector<int>> wishes, int places)
      : wishes_(std::move(wishes)), place_of_(wishes_.size(), -1), taker_of_(static_cast<std::size_t>(places), -1) {}

  bool place(int taker) {
    for (const int p : wishes_[static_cast<std::size_t>(taker)])
      if (taker_of_[static_cast<std::size_t>(p)] < 0) return give(taker, p), true;
    std::vector<char> tried(taker_of_.size(), 0);
    return move(taker, tried);
  }
  void give(int taker, int p) {
    place_of_[static_cast<std::size_t>(taker)] = p;
    taker_of_[static_cast<std::size_t>(p)] = taker;
  }
  int operator[](int taker) const { return place_of_[static_cast<std::size_t>(taker)]; }

 private:
  bool move(int taker, std::vector<char>& tried) {
    for (const int p : wishes_[static_cast<std::size_t>(taker)]) {
      if (tried[static_cast<std::size_t>(p)] != 0) continue;
      tried[static_cast<std::size_t>(p)] = 1;
      const int holder = taker_of_[static_cast<std::size_t>(p)];
      if (holder >= 0 && !move(holder, tried)) continue;
      give(taker, p);
      return true;
    }
    return false;
  }

  std::vector<std::vector<int>> wishes_;
  std::vector<int> place_of_;
  std::vector<int> taker_of_;
};

// The hardware threads of a core that a mask allows.
std::vector<int> allowed_in(const core& c, const std::vector<int>& mask) {
  std::vector<int> cpus;
  for (const int cpu : c.cpus)
    if (std::binary_search(mask.begin(), mask.end(), cpu)) cpus.push_back(cpu);
  return cpus;
}

struct host_cpus {
  std::vector<int> numbers;        // OS index by place
  std::map<int, int> place;        // and back
};

host_cpus all_cpus(std::span<const core> cores) {
  host_cpus result;
  for (const auto& c : cores)
    for (const int cpu : c.cpus)
      if (result.place.emplace(cpu, static_cast<int>(result.numbers.size())).second) result.numbers.push_back(cpu);
  return result;
}

// Places (in `cores`) that a request may use, in the order of its wishes.
std::vector<int> core_wishes(std::span<const core> cores, const std::vector<int>& mask, const thread_request& r) {
  std::vector<int> wishes;
  std::set<int> seen;
  const auto add = [&](int place) {
    if (seen.insert(place).second && !allowed_in(cores[static_cast<std::size_t>(place)], mask).empty())
      wishes.push_back(place);
  };
  for (const int id : r.preferred)
    for (std::size_t place = 0; place < cores.size(); ++place)
      if (cores[place].id == id) add(static_cast<int>(place));
  for (std::size_t place = 0; place < cores.size(); ++place) add(static_cast<int>(place));
  return wishes;
}

using domain_key = std::tuple<int, int, int>;  // package, NUMA node, cache; -1: any

domain_key key_of(const core& c, int level) {
  return {c.package, level >= 1 ? c.numa : -1, level >= 2 ? c.cache : -1};
}

std::vector<int> near_order(std::span<const core> cores, int wanted) {
  std::optional<domain_key> home;
  for (int level = 2; level >= 0 && !home; --level) {
    std::map<domain_key, int> sizes;
    for (const auto& c : cores) ++sizes[key_of(c, level)];
    for (const auto& [key, size] : sizes)
      if (size >= wanted && !home) home = key;
  }
  std::vector<std::tuple<bool, bool, bool, int>> order;
  for (const auto& c : cores) {
    const auto [package, numa, cache] = home.value_or(domain_key{-1, -1, -1});
    order.emplace_back(home && c.package != package, numa >= 0 && c.numa != numa, cache >= 0 && c.cache != cache, c.id);
  }
  std::sort(order.begin(), order.end());
  std::vector<int> ids;
  for (const auto& entry : order) ids.push_back(std::get<3>(entry));
  return ids;
}

// NUMA nodes with usable cores, so that neighbours in the list are in different packages as far as possible.
std::vector<domain_key> interleaved_nodes(std::span<const core> cores) {
  std::map<int, std::set<domain_key>> by_package;
  for (const auto& c : cores) by_package[c.package].insert(key_of(c, 1));
  std::vector<domain_key> nodes;
  for (std::size_t turn = 0, added = 1; added > 0; ++turn) {
    added = 0;
    for (const auto& [package, set] : by_package)
      if (turn < set.size()) {
        nodes.push_back(*std::next(set.begin(), static_cast<std::ptrdiff_t>(turn)));
        ++added;
      }
  }
  return nodes;
}

// The cores of one node first, then its package, then the rest.
std::vector<int> from_node(std::span<const core> cores, const domain_key& node) {
  std::vector<std::tuple<bool, bool, int>> order;
  for (const auto& c : cores) order.emplace_back(c.package != std::get<0>(node), key_of(c, 1) != node, c.id);
  std::sort(order.begin(), order.end());
  std::vector<int> ids;
  for (const auto& entry : order) ids.push_back(std::get<2>(entry));
  return ids;
}

}  // namespace

std::vector<int> preferred_cores(std::span<const core> cores, placement_kind kind, int index, int members,
                                 int threads) {
  if (cores.empty()) return {};
  if (kind == placement_kind::near || kind == placement_kind::list) return near_order(cores, members * threads);
  auto nodes = interleaved_nodes(cores);
  const int count = std::min(members, static_cast<int>(nodes.size()));
  if (kind == placement_kind::far) {
    const auto turn = static_cast<std::size_t>(index) % nodes.size();
    return from_node(cores, nodes[turn]);
  }
  nodes.resize(static_cast<std::size_t>(count));
  std::sort(nodes.begin(), nodes.end());
  return from_node(cores, nodes[static_cast<std::size_t>(index) * static_cast<std::size_t>(count) /
                                static_cast<std::size_t>(members)]);
}

thread_placement place_threads(std::span<const core> cores, std::span<const std::vector<int>> masks,
                               std::span<const thread_request> requests) {
  const int count = static_cast<int>(requests.size());
  const auto mask_of = [&](int i) -> const std::vector<int>& {
    return masks[static_cast<std::size_t>(requests[static_cast<std::size_t>(i)].mask)];
  };
  const auto cpus = all_cpus(cores);
  std::vector<std::vector<int>> core_lists, cpu_lists;
  for (int i = 0; i < count; ++i) {
    core_lists.push_back(core_wishes(cores, mask_of(i), requests[static_cast<std::size_t>(i)]));
    std::vector<int> places;
    for (const int place : core_lists.back())
      for (const int cpu : allowed_in(cores[static_cast<std::size_t>(place)], mask_of(i)))
        places.push_back(cpus.place.at(cpu));
    cpu_lists.push_back(std::move(places));
  }

  matching by_core(core_lists, static_cast<int>(cores.size()));
  matching by_cpu(cpu_lists, static_cast<int>(cpus.numbers.size()));
  std::vector<int> homeless;
  for (int i = 0; i < count; ++i) by_core.place(i);
  for (int i = 0; i < count; ++i) {
    if (by_core[i] < 0) {
      homeless.push_back(i);
    } else {
      const auto own = allowed_in(cores[static_cast<std::size_t>(by_core[i])], mask_of(i));
      by_cpu.give(i, cpus.place.at(own.front()));
    }
  }
  thread_placement result;
  result.cpus.resize(requests.size());
  std::vector<int> load(cpus.numbers.size(), 0);
  for (const int i : homeless) result.sharing_core += by_cpu.place(i) ? 1 : 0;
  for (int i = 0; i < count; ++i)
    if (by_cpu[i] >= 0) ++load[static_cast<std::size_t>(by_cpu[i])];
  for (int i = 0; i < count; ++i) {
    int place = by_cpu[i];
    const auto& choices = cpu_lists[static_cast<std::size_t>(i)];
    if (place < 0 && !choices.empty()) {
      place = *std::min_element(choices.begin(), choices.end(), [&](int a, int b) {
        return load[static_cast<std::size_t>(a)] < load[static_cast<std::size_t>(b)];
      });
      ++load[static_cast<std::size_t>(place)];
      ++result.sharing_cpu;
    }
    if (place >= 0) result.cpus[static_cast<std::size_t>(i)] = cpus.numbers[static_cast<std::size_t>(place)];
  }
  return result;
}

}  // namespace mgsync::topology
