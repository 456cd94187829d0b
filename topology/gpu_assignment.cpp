#include "topology/gpu_assignment.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "topology/matching.hpp"

namespace mgsync::topology {
namespace {

bool by_rank(const rank_view* a, const rank_view* b) { return a->rank < b->rank; }

// The GPUs of a host as all its ranks together see them, numbered by the view that sees most.
struct host_gpus {
  machine reference;
  std::map<std::string, int> ids;

  explicit host_gpus(std::span<const rank_view* const> slots) {
    const auto most = *std::max_element(
        slots.begin(), slots.end(), [](auto a, auto b) { return a->seen.gpus.size() < b->seen.gpus.size(); });
    reference = most->seen;
    for (const auto& g : reference.gpus) ids.emplace(identity_of(g), g.id);
    for (const auto* view : std::set(slots.begin(), slots.end(), by_rank))
      for (const auto& g : view->seen.gpus)
        if (ids.emplace(identity_of(g), static_cast<int>(reference.gpus.size())).second) {
          reference.gpus.push_back(g);
          reference.gpus.back().id = static_cast<int>(reference.gpus.size()) - 1;
        }
  }

  // What this rank's CUDA shows, as ids of the host, in the order of its ordinals.
  std::vector<int> visible(const rank_view& view) const {
    std::vector<std::pair<int, int>> found;
    for (const auto& g : view.seen.gpus)
      if (g.cuda_ordinal) found.emplace_back(*g.cuda_ordinal, ids.at(identity_of(g)));
    std::sort(found.begin(), found.end());
    std::vector<int> result;
    for (const auto& [ordinal, id] : found) result.push_back(id);
    return result;
  }

  // What one view knows about each pair; the reference does not know GPUs that only others see.
  connection_table connections(std::span<const rank_view* const> slots) const {
    machine all = reference;
    std::map<std::pair<int, int>, std::size_t> known;
    for (std::size_t i = 0; i < all.peers.size(); ++i)
      known.emplace(std::pair(all.peers[i].from, all.peers[i].to), i);
    for (const auto* view : std::set(slots.begin(), slots.end(), by_rank)) {
      if (view->seen.peers == reference.peers && view->seen.gpus == reference.gpus) continue;
      for (auto p : view->seen.peers) {
        p.from = ids.at(identity_of(view->seen.gpus[static_cast<std::size_t>(p.from)]));
        p.to = ids.at(identity_of(view->seen.gpus[static_cast<std::size_t>(p.to)]));
        const auto [entry, fresh] = known.emplace(std::pair(p.from, p.to), all.peers.size());
        if (fresh) {
          all.peers.push_back(p);
        } else if (auto& old = all.peers[entry->second]; p.access && !old.access) {
          old = p;
        }
      }
    }
    return connection_table(all);
  }
};

// One GPU per slot out of each slot's list, earlier slots and earlier GPUs first; the first slot without one
// otherwise.
struct slot_matching {
  matching gpus;
  std::optional<std::size_t> failed;

  slot_matching(const std::vector<std::vector<int>>& lists, std::size_t count)
      : gpus(lists, static_cast<int>(count)) {
    for (std::size_t slot = 0; slot < lists.size() && !failed; ++slot)
      if (!gpus.place(static_cast<int>(slot))) failed = slot;
  }
};

// Names both ranks that would hold one GPU, or the rank that sees too few.
std::string why_not(std::span<const rank_view* const> slots, const host_gpus& host,
                    const std::vector<std::vector<int>>& lists, const slot_matching& match) {
  const auto failed = *match.failed;
  const auto& view = *slots[failed];
  const auto& list = lists[failed];
  if (list.empty())
    return fmt::format(
        "rank {} on {} sees no GPU that it could take (its CUDA shows {}); check CUDA_VISIBLE_DEVICES "
        "and the launcher's GPU binding",
        view.rank, view.seen.host, host.visible(view).size());
  const auto other = slots[static_cast<std::size_t>(match.gpus.taker_of(list.front()))];
  if (other->rank == view.rank)
    return fmt::format(
        "rank {} on {} sees {} GPU(s), fewer than its members; accepted: fewer, or show it more "
        "GPUs",
        view.rank, view.seen.host, list.size());
  const auto& g = host.reference.gpus[static_cast<std::size_t>(list.front())];
  if (other->seen.host != view.seen.host)
    return fmt::format(
        "ranks {} and {}, on {} and {} of one machine, would share GPU {} ({}): start no more ranks than "
        "GPUs, or --oversubscribe, under MPS, for virtual nodes that share it",
        other->rank, view.rank, other->seen.host, view.seen.host, g.id, identity_of(g));
  return fmt::format(
      "ranks {} and {} on {} would share GPU {} ({}): start no more ranks than GPUs, and let each see "
      "all GPUs of the node (Slurm: --gpus-per-node=N --gpu-bind=none) or a different one",
      other->rank, view.rank, view.seen.host, g.id, identity_of(g));
}

gpu_choice choice_of(std::size_t slot, const rank_view& view, const host_gpus& host, int id) {
  for (const auto& g : view.seen.gpus)
    if (g.cuda_ordinal && host.ids.at(identity_of(g)) == id)
      return {slot, id, *g.cuda_ordinal, g.uuid, g.near_cpus};
  return {};
}

using gpu_lists = std::vector<std::vector<int>>;  // ids by slot

// Leaves each slot what the placement picked among the GPUs that it sees; a list's order is the slots' order.
gpu_lists narrowed(const gpu_lists& lists, const std::vector<int>& picked, placement_kind kind) {
  gpu_lists result = lists;
  for (std::size_t slot = 0; slot < result.size(); ++slot)
    std::erase_if(result[slot], [&](int id) {
      if (kind == placement_kind::list) return id != picked[slot];
      return std::find(picked.begin(), picked.end(), id) == picked.end();
    });
  return result;
}

}  // namespace

gpu_assignment assign_gpus(std::span<const rank_view* const> slots, int members, const placement& wanted) {
  gpu_assignment result;
  if (slots.empty()) return result;
  const host_gpus host(slots);
  const bool all = members == static_cast<int>(slots.size());
  // A list names the members, who may be fewer than the owners.
  const placement owned = !all && wanted.kind == placement_kind::list ? placement{} : wanted;
  gpu_lists lists;
  std::set<int> visible;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    lists.push_back(i > 0 && slots[i] == slots[i - 1] ? lists.back() : host.visible(*slots[i]));
    visible.insert(lists.back().begin(), lists.back().end());
  }
  const auto connections = host.connections(slots);
  const auto choose = [&](const std::set<int>& among, int count, const placement& p) {
    const std::vector<int> candidates(among.begin(), among.end());
    const auto picked = choose_gpus(connections, candidates, count, p);
    if (!picked.exact)
      result.notes.push_back(
          "The GPUs' links have no structure that can be searched in full: the group is a good one, "
          "not proven to be the best.");
    return picked.chosen;
  };
  if (slots.size() <= visible.size()) {
    const auto own = narrowed(lists, choose(visible, static_cast<int>(slots.size()), owned), owned.kind);
    if (owned.kind == placement_kind::list || !slot_matching(own, host.reference.gpus.size()).failed) {
      lists = own;
    } else {
      result.notes.push_back(
          "The ranks see different GPUs: each takes what it sees, --placement cannot choose.");
    }
  }
  const slot_matching match(lists, host.reference.gpus.size());
  if (match.failed) {
    result.failure = why_not(slots, host, lists, match);
    return result;
  }
  const auto add = [&](std::size_t slot) {
    result.chosen.push_back(choice_of(slot, *slots[slot], host, match.gpus[static_cast<int>(slot)]));
  };
  if (all) {
    for (std::size_t i = 0; i < slots.size(); ++i) add(i);
    return result;
  }
  const std::set<int> candidates(match.gpus.places().begin(), match.gpus.places().end());
  std::vector<std::size_t> taking_part;
  for (const int id : choose(candidates, members, wanted))
    taking_part.push_back(static_cast<std::size_t>(match.gpus.taker_of(id)));
  if (wanted.kind != placement_kind::list) std::sort(taking_part.begin(), taking_part.end());
  for (const auto slot : taking_part) add(slot);
  return result;
}

}  // namespace mgsync::topology
