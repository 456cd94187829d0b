#include "src/studies/barriers/plan.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/base/errors.hpp"
#include "topology/placement.hpp"

namespace mgsync {

namespace {

configuration configure(const sweep_request& request, const shape& s) {
  configuration c;
  c.blocks_per_sm = s.blocks_per_sm;
  c.blocks = s.blocks;
  c.peer_memory = request.peer_memory;
  if (request.device == topology::device::gpu) c.threads_per_block = s.threads_per_block;
  // A host member has no SMs: its blocks are its threads.
  if (request.device == topology::device::host) {
    c.blocks_per_sm = s.blocks_per_sm ? s.blocks_per_sm : s.blocks;
    c.blocks.reset();
  }
  return c;
}

// Sets the axes of a point: always those of the shape and the load, others only where they were asked for.
void set_axes(point& p, const sweep_request& request, const cell& where, const configuration& c) {
  for (const auto& [name, value] :
       {std::pair{axes::blocks_per_sm, c.blocks_per_sm}, std::pair{axes::blocks, c.blocks},
        std::pair{axes::threads_per_block, c.threads_per_block}})
    if (value) p.set(name, static_cast<double>(*value));
  p.set(axes::load, to_string(where.load));
  if (where.work_units > 0) p.set(axes::work, static_cast<double>(where.work_units), "us");
  if (where.late_units > 0) p.set(axes::late, static_cast<double>(where.late_units), "us");
  if (const auto nodes = topology::hosts_of(where.group).size(); nodes > 1)
    p.set("nodes", static_cast<double>(nodes));
  if (!request.pin) p.set(axes::pinned, "no");
  if (where.group.oversubscribed) p.set(axes::oversubscribed, "yes");
  if (!request.peer_memory.empty() && request.device == topology::device::gpu)
    p.set(axes::peer_memory_asked, request.peer_memory);
  if (!request.mpi_threads.empty() && request.mpi_threads != "single")
    p.set(axes::mpi_threads, request.mpi_threads);
}

point describe(const sweep_request& request, const cell& where, const planned_point& planned, int members,
               bool by_name) {
  point p;
  p.subject = planned.choice.backend->name;
  p.variant = planned.choice.variant->name;
  p.device = request.device;
  p.members = members;
  if (by_name && (request.oversubscribe || !where.group.oversubscribed))
    for (const auto& m : where.group.members) p.group.push_back(m.id);
  p.ranks = static_cast<int>(topology::owners_of(where.group).size());
  if (request.per_node) p.node = where.host;
  p.placement = where.group.placement;
  set_axes(p, request, where, planned.configuration);
  return p;
}

std::string why_waived(const sweep_request& request, const cell& where, const planned_point& planned,
                       std::span<const topology::rank_view> ranks) {
  if (!where.impossible.empty()) return where.impossible;
  const bool on_host = request.device == topology::device::host;
  if (!on_host && !request.with_cuda) return "this mgsync was built without CUDA";
  // What a backend is for comes first: too many threads are no reason for one that has none.
  auto asked = planned.configuration;
  if (on_host) asked.load = {};
  if (auto can =
          can_run(*planned.choice.backend, *planned.choice.variant, ranks.front().seen, where.group, asked);
      !can.ok)
    return can.reason;
  if (on_host && !where.load.idle()) return "load is measured on GPUs only";
  if (where.over_quota && !request.oversubscribe)
    return "more host threads than a cgroup quota gives CPU time to: take fewer members, or --oversubscribe "
           "measures it all "
           "the same, with yielding waits";
  if (where.group.oversubscribed && !request.oversubscribe)
    return "more host threads than hardware threads here: let the ranks have more (mpirun --bind-to none, "
           "srun "
           "--cpus-per-task), or --oversubscribe measures it all the same, with yielding waits";
  return {};
}

using rank_views = std::vector<topology::rank_view>;

std::vector<rank_views> by_node(std::span<const topology::rank_view> ranks) {
  std::vector<rank_views> nodes;
  for (const auto& view : ranks) {
    const auto same = std::ranges::find_if(
        nodes, [&](const auto& node) { return node.front().seen.host == view.seen.host; });
    if (same == nodes.end()) nodes.push_back({view});
    else same->push_back(view);
  }
  return nodes;
}

// The ranks whose members form groups: all of them together, those of each node by themselves, or those of
// the first so many nodes.
std::vector<rank_views> parts_of(const sweep_request& request, std::span<const topology::rank_view> ranks) {
  if (!request.per_node && request.nodes.empty()) return {{ranks.begin(), ranks.end()}};
  const auto nodes = by_node(ranks);
  if (request.nodes.empty()) return nodes;
  if (request.per_node)
    throw usage_error(
        "--nodes says how many nodes meet, and --per-node has each measured by itself: one of them");
  std::vector<rank_views> parts;
  for (const int count : request.nodes) {
    if (count > std::ssize(nodes))
      throw usage_error(fmt::format("--nodes {}: the ranks are on {} node{}; accepted: {}", count,
                                    nodes.size(), nodes.size() == 1 ? "" : "s",
                                    nodes.size() == 1 ? "1" : fmt::format("1-{}", nodes.size())));
    std::set<int> taken;
    for (int n = 0; n < count; ++n)
      for (const auto& view : nodes[static_cast<std::size_t>(n)]) taken.insert(view.rank);
    auto& part = parts.emplace_back();
    for (const auto& view : ranks)
      if (taken.contains(view.rank)) part.push_back(view);
  }
  return parts;
}

std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs(const std::vector<std::uint32_t>& some,
                                                           const std::vector<std::uint32_t>& others) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> all;
  for (const auto a : some)
    for (const auto b : others) all.emplace_back(a, b);
  return all;
}

// The group, or an empty group with the reason why there can be none.
std::pair<topology::grouping, std::string> group_or_why_not(std::span<const topology::rank_view> ranks,
                                                            const topology::grouping_request& wanted) {
  try {
    return {topology::make_group(ranks, wanted), {}};
  } catch (const usage_error& error) {
    topology::grouping none;
    none.chosen.device = wanted.kind;
    none.chosen.placement = wanted.placement;
    return {none, error.what()};
  }
}

// The numbers of members to measure: those asked for, else what the nodes have. A node with fewer members
// than another shows the larger groups as waived.
std::vector<int> member_counts(const sweep_request& request, const std::vector<rank_views>& nodes) {
  if (!request.members.empty()) return request.members;
  std::set<int> counts;
  for (const auto& node : nodes) {
    const int largest = topology::largest_group(node, request.device, request.members_per_rank);
    for (const int n : default_members(request.device, largest)) counts.insert(n);
  }
  return {counts.begin(), counts.end()};
}

// Those of one part: of several numbers of nodes each is measured with all members that it has.
std::vector<int> counts_of(const sweep_request& request, const rank_views& part,
                           const std::vector<int>& members) {
  if (request.nodes.empty() || !request.members.empty()) return members;
  return {topology::largest_group(part, request.device, request.members_per_rank)};
}

// Adds the cells of groups with `members` members of these ranks, at every shape, load and work.
void add_cells(plan& result, const sweep_request& request, std::span<const topology::rank_view> ranks,
               int members, const std::string& placement) {
  const auto shapes = !request.shapes.empty() ? request.shapes : std::vector<shape>{{1u, std::nullopt, 32}};
  const bool on_host = request.device == topology::device::host;
  std::vector<shape> seen;
  for (const auto& s : shapes) {
    const unsigned blocks = s.blocks_per_sm.value_or(s.blocks.value_or(1));
    shape counted = s;
    if (on_host) counted = {blocks, std::nullopt, 32};
    if (std::find(seen.begin(), seen.end(), counted) != seen.end()) continue;
    seen.push_back(counted);
    const topology::grouping_request wanted{.kind = request.device,
                                            .members = members,
                                            .members_per_rank = request.members_per_rank,
                                            .threads_per_member = on_host ? static_cast<int>(blocks) : 1,
                                            .placement = placement,
                                            .pin = request.pin,
                                            .oversubscribe = request.oversubscribe,
                                            .share_gpus = request.oversubscribe,
                                            .with_places =
                                                result.members_described < request.members_described};
    auto [grouped, impossible] = group_or_why_not(ranks, wanted);
    for (const auto& load : request.loads)
      for (const auto& [work, late] : pairs(request.work, request.late)) {
        cell c{grouped.chosen,    load, work, late, {}, grouped.notes, ranks.front().seen.host, impossible,
               grouped.over_quota};
        for (const auto& choice : request.backends) {
          planned_point p{choice, configure(request, counted), {}, {}};
          p.configuration.load = load;
          p.point = describe(request, c, p, members, wanted.with_places);
          p.waived = why_waived(request, c, p, ranks);
          c.points.push_back(std::move(p));
        }
        // The members of a cell that is not measured are dropped, since a sweep may ask for thousands of
        // them.
        if (!wanted.with_places || (c.group.oversubscribed && !request.oversubscribe))
          c.group.members = std::vector<topology::member>();
        result.members_described += c.group.members.size();
        result.cells.push_back(std::move(c));
      }
  }
}

std::string group_name(const cell& where) {
  point p;
  p.device = where.group.device;
  for (const auto& m : where.group.members) p.group.push_back(m.id);
  p.members = where.points.empty() ? static_cast<int>(p.group.size()) : where.points.front().point.members;
  return count_of_members(p) +
         (p.group.empty() ? " on " + where.host : fmt::format(" {{{}}}", fmt::join(p.group, ",")));
}

}  // namespace

std::vector<int> default_members(topology::device kind, int largest) {
  std::vector<int> counts;
  if (kind == topology::device::gpu) {
    for (int n = 1; n <= largest; ++n) counts.push_back(n);
    return counts;
  }
  if (largest < 2) return {1};
  for (int n = 2; n <= largest; n *= 2) counts.push_back(n);
  if (counts.back() != largest) counts.push_back(largest);
  return counts;
}

plan make_plan(const sweep_request& request, std::span<const topology::rank_view> ranks) {
  plan result;
  for (const auto& word : request.placements) topology::parse_placement(word);
  const auto parts = parts_of(request, ranks);
  const auto members = member_counts(request, parts);
  for (const auto& part : parts)
    for (const int n : counts_of(request, part, members))
      for (const auto& placement : request.placements) add_cells(result, request, part, n, placement);
  const auto none =
      std::find_if(result.cells.begin(), result.cells.end(), [](auto& c) { return c.impossible.empty(); });
  if (!result.cells.empty() && none == result.cells.end())
    throw usage_error(
        (request.members.empty() ? "" : fmt::format("--members {}: ", fmt::join(members, ","))) +
        result.cells.front().impossible);
  return result;
}

std::string description_of(const cell& c, detail wanted) {
  constexpr std::size_t most_named = 64;
  auto text =
      fmt::format("{}, {}, placement {}, load {}{}{}\n", group_name(c),
                  c.points.empty() ? "-" : "shape " + format_shape(c.points.front().point), c.group.placement,
                  to_string(c.load), c.work_units == 0 ? "" : fmt::format(", work {} us", c.work_units),
                  c.late_units == 0 ? "" : fmt::format(", late {} us", c.late_units));
  const auto count = c.group.members.size();
  const auto shown = wanted == detail::every ? count : std::min(count, most_named);
  for (const auto& m : std::span(c.group.members).first(shown))
    text += fmt::format("  member {:<3} rank {:<3} on {}{}{}\n", m.id, m.rank, m.host,
                        m.gpu >= 0 ? fmt::format("  GPU {}", m.gpu) : "",
                        m.cpus.empty() ? "  not pinned" : fmt::format("  CPU {}", fmt::join(m.cpus, ",")));
  if (shown < count) text += fmt::format("  and {} more members (--verbose lists each)\n", count - shown);
  for (const auto& note : c.notes) text += fmt::format("  note: {}\n", note);
  return text;
}

}  // namespace mgsync
