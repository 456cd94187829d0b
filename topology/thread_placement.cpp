#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <tuple>
#include <utility>

#include "topology/matching.hpp"
#include "topology/placement.hpp"

namespace mgsync::topology {
namespace {

// The hardware threads of a core that a mask allows.
std::vector<int> allowed_in(const core& c, const std::vector<int>& mask) {
  std::vector<int> cpus;
  for (const int cpu : c.cpus)
    if (std::binary_search(mask.begin(), mask.end(), cpu)) cpus.push_back(cpu);
  return cpus;
}

// What each mask allows on each core: the hardware threads by mask, then by place in `cores`.
class allowance {
 public:
  allowance(std::span<const core> cores, std::span<const std::vector<int>> masks) {
    for (const auto& mask : masks) {
      auto& by_core = by_mask_.emplace_back();
      for (const auto& c : cores) by_core.push_back(allowed_in(c, mask));
    }
  }
  const std::vector<int>& operator()(int mask, int place) const {
    return by_mask_[static_cast<std::size_t>(mask)][static_cast<std::size_t>(place)];
  }

 private:
  std::vector<std::vector<std::vector<int>>> by_mask_;
};

// Places (in `cores`) that a request may use, in the order of its wishes.
std::vector<int> core_wishes(const std::map<int, int>& place_of_id, const allowance& allowed,
                             const thread_request& r) {
  std::vector<int> wishes;
  std::vector<char> seen(place_of_id.size(), 0);
  const auto add = [&](int place) {
    if (std::exchange(seen[static_cast<std::size_t>(place)], 1) == 0 && !allowed(r.mask, place).empty())
      wishes.push_back(place);
  };
  for (const int id : *r.preferred)
    if (const auto found = place_of_id.find(id); found != place_of_id.end()) add(found->second);
  for (std::size_t place = 0; place < seen.size(); ++place) add(static_cast<int>(place));
  return wishes;
}

using domain_key = std::tuple<int, int, int>;  // package, NUMA node, cache; -1: any

domain_key key_of(const core& c, int level) {
  return {c.package, level >= 1 ? c.numa : -1, level >= 2 ? c.cache : -1};
}

using wish_lists = std::vector<matching::wish_list>;  // by request

// Gives those without a core a hardware thread of their own, as far as there are any, then the least loaded
// one.
void share_cores(thread_placement& result, const wish_lists& core_lists, const allowance& allowed,
                 std::span<const thread_request> requests) {
  std::map<int, int> place_of_cpu;
  std::vector<int> cpu_of_place;
  wish_lists cpu_lists(requests.size());
  std::map<matching::wish_list, matching::wish_list> made;  // by the list of cores, which knows its mask
  for (std::size_t i = 0; i < requests.size(); ++i) {
    auto& list = made[core_lists[i]];
    if (!list) {
      std::vector<int> cpus;
      for (const int core_place : *core_lists[i])
        for (const int cpu : allowed(requests[i].mask, core_place)) {
          const auto [entry, fresh] = place_of_cpu.emplace(cpu, static_cast<int>(cpu_of_place.size()));
          if (fresh) cpu_of_place.push_back(cpu);
          cpus.push_back(entry->second);
        }
      list = std::make_shared<const std::vector<int>>(std::move(cpus));
    }
    cpu_lists[i] = list;
  }
  matching by_cpu(cpu_lists, static_cast<int>(cpu_of_place.size()));
  for (std::size_t i = 0; i < requests.size(); ++i)
    if (result.cpus[i]) by_cpu.give(static_cast<int>(i), place_of_cpu.at(*result.cpus[i]));
  for (std::size_t i = 0; i < requests.size(); ++i)
    if (!result.cpus[i] && by_cpu.place(static_cast<int>(i))) ++result.sharing_core;

  std::vector<int> load(cpu_of_place.size(), 0);
  for (std::size_t i = 0; i < requests.size(); ++i)
    if (const int place = by_cpu[static_cast<int>(i)]; place >= 0) ++load[static_cast<std::size_t>(place)];
  for (std::size_t i = 0; i < requests.size(); ++i) {
    int place = by_cpu[static_cast<int>(i)];
    if (place < 0 && !cpu_lists[i]->empty()) {
      place = *std::min_element(cpu_lists[i]->begin(), cpu_lists[i]->end(), [&](int a, int b) {
        return load[static_cast<std::size_t>(a)] < load[static_cast<std::size_t>(b)];
      });
      ++load[static_cast<std::size_t>(place)];
      ++result.sharing_cpu;
    }
    if (place >= 0) result.cpus[i] = cpu_of_place[static_cast<std::size_t>(place)];
  }
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
    order.emplace_back(home && c.package != package, numa >= 0 && c.numa != numa,
                       cache >= 0 && c.cache != cache, c.id);
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

preferred_cores::preferred_cores(std::span<const core> cores, placement_kind kind, int members, int threads)
    : cores_(cores), kind_(kind), members_(members), threads_(threads) {
  if (kind == placement_kind::near || kind == placement_kind::list) return;
  nodes_ = interleaved_nodes(cores);
  if (kind == placement_kind::far) return;
  nodes_.resize(std::min(static_cast<std::size_t>(members), nodes_.size()));
  std::sort(nodes_.begin(), nodes_.end());
}

std::shared_ptr<const std::vector<int>> preferred_cores::of(int index) {
  domain begins_at{-1, -1, -1};
  if (!nodes_.empty()) {
    const auto i = static_cast<std::size_t>(index);
    begins_at = nodes_[kind_ == placement_kind::far ? i % nodes_.size()
                                                    : i * nodes_.size() / static_cast<std::size_t>(members_)];
  }
  auto& made = made_[begins_at];
  if (!made)
    made = std::make_shared<const std::vector<int>>(nodes_.empty() ? near_order(cores_, members_ * threads_)
                                                                   : from_node(cores_, begins_at));
  return made;
}

thread_placement place_threads(std::span<const core> cores, std::span<const std::vector<int>> masks,
                               std::span<const thread_request> requests) {
  const allowance allowed(cores, masks);
  std::map<int, int> place_of_id;
  for (const auto& c : cores) place_of_id.emplace(c.id, static_cast<int>(place_of_id.size()));
  wish_lists core_lists;
  std::map<std::pair<int, const void*>, matching::wish_list> made;  // by mask and preference
  for (const auto& r : requests) {
    auto& list = made[{r.mask, r.preferred.get()}];
    if (!list) list = std::make_shared<const std::vector<int>>(core_wishes(place_of_id, allowed, r));
    core_lists.push_back(list);
  }

  matching by_core(core_lists, static_cast<int>(cores.size()));
  thread_placement result;
  result.cpus.resize(requests.size());
  bool all_placed = true;
  for (std::size_t i = 0; i < requests.size(); ++i)
    all_placed = by_core.place(static_cast<int>(i)) && all_placed;
  for (std::size_t i = 0; i < requests.size(); ++i)
    if (const int place = by_core[static_cast<int>(i)]; place >= 0)
      result.cpus[i] = allowed(requests[i].mask, place).front();
  if (!all_placed) share_cores(result, core_lists, allowed, requests);
  return result;
}

}  // namespace mgsync::topology
