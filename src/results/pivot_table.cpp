#include "src/results/pivot_table.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/results/table.hpp"

namespace mgsync {
namespace {

std::string value_of(const result& one) {
  if (one.status == result_status::failed) return "FAIL";
  return one.latency_us ? format_us(one.latency_us->median) : "-";
}

// What tables are apart by besides group and shape, in words; empty: nothing out of the ordinary.
std::string conditions(const point& p) {
  std::vector<std::string> words;
  if (!p.node.empty()) words.push_back("on " + p.node);
  if (p.ranks > 1) words.push_back(p.ranks == p.members ? "one rank per member" : fmt::format("{} ranks", p.ranks));
  if (p.placement != "near") words.push_back("placement " + p.placement);
  if (p.load != "idle") words.push_back("load " + p.load);
  if (p.work_units > 0) words.push_back(fmt::format("{} us of work before each round", p.work_units));
  if (p.payload_words > 1) words.push_back(fmt::format("{} words", p.payload_words));
  if (!p.pinned) words.push_back("not pinned");
  if (p.oversubscribed) words.push_back("oversubscribed");
  if (!p.peer_memory_asked.empty()) words.push_back("peer memory " + p.peer_memory_asked);
  return fmt::format("{}", fmt::join(words, ", "));
}

std::string heading(std::string_view what, const std::string& under) {
  return fmt::format("{}{}{}\n\n", what, under.empty() ? "" : ", ", under);
}

std::string table(const std::string& corner, const std::vector<std::string>& columns,
                  const std::vector<std::vector<std::string>>& rows) {
  std::string text = fmt::format("| {} | {} |\n|---|", corner, fmt::join(columns, " | "));
  for (std::size_t i = 0; i < columns.size(); ++i) text += "---|";
  text += '\n';
  for (const auto& row : rows) text += fmt::format("| {} |\n", fmt::join(row, " | "));
  return text + '\n';
}

// Groups in the order of their first result.
template <class Key, class F>
std::vector<std::pair<Key, std::vector<const result*>>> grouped(std::span<const result> results, F key_of) {
  std::vector<std::pair<Key, std::vector<const result*>>> groups;
  for (const auto& one : results) {
    const Key key = key_of(one.point);
    auto found = std::find_if(groups.begin(), groups.end(), [&](const auto& g) { return g.first == key; });
    if (found == groups.end()) found = groups.insert(groups.end(), {key, {}});
    found->second.push_back(&one);
  }
  return groups;
}

bool is_measured(const std::vector<const result*>& group) {
  return std::any_of(group.begin(), group.end(), [](const result* r) { return r->status != result_status::waived; });
}

struct method {
  std::map<int, const result*> by_members;
  double order() const {  // by the largest count that was measured, then by its latency
    for (auto at = by_members.rbegin(); at != by_members.rend(); ++at)
      if (at->second->latency_us) return at->second->latency_us->median - 1e9 * at->first;
    return std::numeric_limits<double>::max();
  }
};

using shape_key = std::tuple<unsigned, unsigned, unsigned>;  // blocks in all (0: per SM), blocks per SM, threads
shape_key shape_of(const point& p) {
  return {p.blocks.value_or(0), p.blocks ? 0 : p.blocks_per_sm.value_or(1), p.threads_per_block.value_or(0)};
}

}  // namespace

std::string table_by_members(std::span<const result> results) {
  std::string text;
  using key = std::pair<std::string, std::string>;
  const auto key_of = [](const point& p) {
    point without = p;  // whether all members are in one rank, not in how many they are
    without.ranks = p.ranks > 1 ? without.members : 1;
    return key{format_shape(p), conditions(without)};
  };
  for (const auto& [where, group] : grouped<key>(results, key_of)) {
    if (!is_measured(group)) continue;
    std::map<std::string, method> methods;
    std::map<int, bool> counts;
    for (const result* r : group) {
      if (r->status == result_status::waived) continue;
      methods[fmt::format("{}:{}", r->point.backend, r->point.variant)].by_members[r->point.members] = r;
      counts[r->point.members] = true;
    }
    std::vector<std::pair<std::string, method>> order(methods.begin(), methods.end());
    std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.second.order() < b.second.order(); });
    std::vector<std::string> columns;
    for (const auto& [count, seen] : counts) columns.push_back(fmt::format("{}", count));
    std::vector<std::vector<std::string>> rows;
    for (const auto& [name, m] : order) {
      rows.push_back({name});
      for (const auto& [count, seen] : counts) {
        const auto found = m.by_members.find(count);
        rows.back().push_back(found == m.by_members.end() ? "-" : value_of(*found->second));
      }
    }
    const bool gpus = group.front()->point.device == topology::device::gpu;
    text += heading(fmt::format("{}, {} (medians in us)", where.first, gpus ? "GPUs" : "host members"), where.second);
    text += table("method", columns, rows);
  }
  return text;
}

std::string table_by_shape(std::span<const result> results) {
  std::string text;
  using key = std::tuple<std::string, std::string, int, std::vector<int>, std::string>;
  const auto key_of = [](const point& p) { return key{p.backend, p.variant, p.members, p.group, conditions(p)}; };
  for (const auto& [what, group] : grouped<key>(results, key_of)) {
    if (!is_measured(group)) continue;
    std::map<shape_key, const result*> by_shape;
    std::map<unsigned, bool> threads;
    std::map<std::pair<unsigned, unsigned>, bool> blocks;
    for (const result* r : group) {
      const auto shape = shape_of(r->point);
      by_shape[shape] = r;
      blocks[{std::get<0>(shape), std::get<1>(shape)}] = true;
      threads[std::get<2>(shape)] = true;
    }
    std::vector<std::string> columns;
    for (const auto& [count, seen] : threads) columns.push_back(fmt::format("{}", count));
    std::vector<std::vector<std::string>> rows;
    for (const auto& [b, seen] : blocks) {
      rows.push_back({b.first > 0 ? fmt::format("{} in all", b.first) : fmt::format("{}", b.second)});
      for (const auto& [t, also] : threads) {
        const auto found = by_shape.find({b.first, b.second, t});
        rows.back().push_back(found == by_shape.end() ? "-" : value_of(*found->second));
      }
    }
    const point& p = group.front()->point;
    text += heading(fmt::format("{}:{} on {} {}{} (medians in us)", p.backend, p.variant, p.members,
                                p.device == topology::device::gpu ? "GPU" : "host member", p.members == 1 ? "" : "s"),
                    std::get<4>(what));
    text += table("blocks per SM \\ threads", columns, rows);
  }
  return text;
}

}  // namespace mgsync
