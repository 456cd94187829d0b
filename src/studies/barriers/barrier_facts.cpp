#include "src/studies/barriers/barrier_facts.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "barriers/words.hpp"

namespace mgsync::barriers {
namespace {

// The most blocks and threads that one multiprocessor of any GPU holds at once.
constexpr double most_blocks = 32, most_threads = 2048;

// A group with as many members as the point, in as many ranks.
topology::group group_of(const point& p) {
  topology::group group{p.device, {}, p.placement, false};
  for (int m = 0; m < p.members; ++m) {
    topology::member one;
    one.id = m, one.gpu = m;
    one.rank = static_cast<int>(static_cast<long>(m) * p.ranks / p.members);
    group.members.push_back(std::move(one));
  }
  return group;
}

configuration configuration_of(const point& p) {
  configuration c;
  const auto count = [&](std::string_view axis) {
    return p.number(axis) ? std::optional(static_cast<unsigned>(*p.number(axis))) : std::nullopt;
  };
  c.blocks_per_sm = count(axes::blocks_per_sm);
  c.blocks = count(axes::blocks);
  c.threads_per_block = count(axes::threads_per_block);
  return c;
}

std::string why_never(const backend& b, const barrier_variant& v, const point& p,
                      const topology::group& group) {
  const auto can = can_run(b, v, {}, group, configuration_of(p));
  if (!can.ok && !can.elsewhere) return can.reason;
  // Blocks that meet inside a kernel must all be resident at once.
  const double blocks = p.number(axes::blocks_per_sm).value_or(0),
               threads = p.number(axes::threads_per_block).value_or(0);
  if (v.facts_for(p.device).driver == fact::driver::device &&
      (blocks > most_blocks || blocks * threads > most_threads))
    return fmt::format("no GPU holds more than {:.0f} blocks or {:.0f} threads on a multiprocessor at once",
                       most_blocks, most_threads);
  return "";
}

}  // namespace

namespace {

struct found_variant {
  const backend* of = nullptr;
  const barrier_variant* variant = nullptr;  // nullptr: this build has none of that name
};

found_variant variant_of(const point& p, std::span<const backend* const> table) {
  const auto found = std::ranges::find_if(table, [&](const backend* b) { return b->name == p.subject; });
  if (found == table.end()) return {};
  return {*found, p.variant.empty() ? &(*found)->variants.front() : (*found)->find(p.variant)};
}

}  // namespace

std::optional<known_facts> known_facts_of(const point& p) {
  const auto* const v = variant_of(p, backends_and_files()).variant;
  if (v == nullptr) return std::nullopt;
  const auto& call = v->call_for(p.device);
  const auto facts = v->facts_for(p.device);
  return known_facts{p.number("nodes").value_or(1) > 1 ? facts.over_nodes() : facts, std::string(call.maker),
                     std::string(call.call), std::string(call.needs)};
}

subject_facts facts_of(const point& p, std::span<const backend* const> table) {
  const auto [of, v] = variant_of(p, table);
  if (v == nullptr) return {};
  const backend& b = *of;
  const auto group = group_of(p);
  const auto& call = v->call_for(p.device);
  subject_facts all{.known = true,
                    .by_host = p.device == topology::device::gpu && v->facts.driver != fact::driver::device,
                    .maker = std::string(call.maker),
                    .call = std::string(call.call),
                    .needs = std::string(call.needs),
                    .carries = std::string(v->carries),
                    .meets_nobody = p.members < call.least_members,
                    .never = why_never(b, *v, p, group)};
  std::set<std::string_view> makers;  // of each the first variant: the others are forms of it
  for (const auto& other : b.variants)
    if (&other != v && !other.facts.orders_less() && !other.call_for(p.device).call.empty() &&
        why_never(b, other, p, group).empty() && makers.insert(other.call_for(p.device).maker).second)
      all.beside.push_back(to_string({&b, &other}));
  return all;
}

subject_facts facts_of(const point& p) { return facts_of(p, backends_and_files()); }

}  // namespace mgsync::barriers
