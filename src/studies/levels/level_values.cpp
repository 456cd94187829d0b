#include "src/studies/levels/level_values.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "src/harness/methods/slope.hpp"
#include "src/results/statistics.hpp"

namespace mgsync::levels {

namespace {

using shape = std::tuple<std::string, unsigned, unsigned, unsigned, unsigned, std::string>;

shape shape_of(const raw_samples& r) { return {r.family, r.threads, r.blocks_per_sm, r.cluster, r.lanes, r.where}; }

bool of_host_clock(const raw_samples& r) { return r.where.starts_with("host"); }
bool of_throughput(const raw_samples& r) { return r.where == "throughput"; }

double typical(const histogram& h, bool median_instead) {
  if (!median_instead)
    return static_cast<double>(
        std::max_element(h.begin(), h.end(), [](const auto& a, const auto& b) { return a.second < b.second; })->first);
  std::uint64_t all = 0, seen = 0;
  for (const auto& [cycles, count] : h) all += count;
  for (const auto& [cycles, count] : h)
    if ((seen += count) * 2 >= all) return static_cast<double>(cycles);
  return 0;
}

using by_length = std::map<unsigned, histogram>;

// Nothing where there are not two lengths.
std::optional<line_fit> line_through(const by_length& lengths, bool medians) {
  if (lengths.size() < 2) return std::nullopt;
  std::vector<double> x, y;
  for (const auto& [links, cycles] : lengths) {
    x.push_back(links);
    y.push_back(typical(cycles, medians));
  }
  return fit_line(x, y);
}

std::optional<level_value> latency_of(std::span<const raw_samples* const> samples) {
  const auto& first = *samples.front();
  const bool medians = first.where == "L2" || first.where == "DRAM";
  std::map<std::uint32_t, by_length> by_sm;
  std::map<unsigned, by_length> by_launch;
  level_value v;
  for (const auto* const r : samples) {
    for (const auto& [cycles, count] : r->latency_cycles) {
      by_sm[r->sm][r->links][cycles] += count;
      by_launch[r->launch][r->links][cycles] += count;
      v.samples += count;
    }
  }
  // One SM and no other is what most probes run on; a launch may find itself on another one, which is the same hardware.
  const bool many = medians && by_sm.size() > 1;
  by_length all;
  for (const auto& [launch, lengths] : by_launch)
    for (const auto& [links, cycles] : lengths)
      for (const auto& [value, count] : cycles) all[links][value] += count;
  std::vector<double> slopes;
  if (many) {
    for (const auto& [sm, lengths] : by_sm)
      if (const auto line = line_through(lengths, medians); line) slopes.push_back(line->slope);
  } else {
    for (const auto& [launch, lengths] : by_launch)
      if (const auto line = line_through(lengths, medians); line) slopes.push_back(line->slope);
  }
  const auto line = line_through(all, medians);
  if (!line || slopes.empty()) return std::nullopt;
  v.value = many ? median(slopes) : line->slope;
  v.low = std::min(v.value, *std::ranges::min_element(slopes));
  v.high = std::max(v.value, *std::ranges::max_element(slopes));
  v.offset = line->offset;
  v.residual = line->residual;
  v.sms = many ? by_sm.size() : 1;
  return v;
}

std::optional<level_value> throughput_of(std::span<const raw_samples* const> samples) {
  std::map<std::uint32_t, double> best;  // by SM
  level_value v;
  for (const auto* const r : samples) {
    if (r->span_cycles == 0) continue;
    auto& one = best[r->sm];
    one = std::max(one, static_cast<double>(r->links) * r->warps / static_cast<double>(r->span_cycles));
    ++v.samples;
  }
  if (best.empty()) return std::nullopt;
  std::vector<double> rates;
  for (const auto& [sm, rate] : best) rates.push_back(rate);
  v.quantity = quantity::throughput;
  v.value = median(rates);
  v.low = *std::ranges::min_element(rates);
  v.high = *std::ranges::max_element(rates);
  v.sms = best.size();
  return v;
}

}  // namespace

std::vector<level_value> values_of(std::span<const raw_samples> samples) {
  std::vector<std::pair<shape, std::vector<const raw_samples*>>> groups;
  std::map<shape, std::size_t> place;
  for (const auto& r : samples) {
    if (of_host_clock(r)) continue;
    const auto [it, added] = place.try_emplace(shape_of(r), groups.size());
    if (added) groups.push_back({it->first, {}});
    groups[it->second].second.push_back(&r);
  }
  std::vector<level_value> values;
  for (const auto& [key, members] : groups) {
    const auto& first = *members.front();
    auto v = of_throughput(first) ? throughput_of(members) : latency_of(members);
    if (!v) continue;
    v->family = first.family;
    v->threads = first.threads;
    v->blocks_per_sm = first.blocks_per_sm;
    v->cluster = first.cluster;
    v->lanes = first.lanes;
    v->where = of_throughput(first) ? "" : first.where;
    values.push_back(std::move(*v));
  }
  return values;
}

const level_value* find(std::span<const level_value> values, std::string_view family, quantity what, unsigned threads,
                        unsigned lanes, std::string_view where) {
  for (const auto& v : values)
    if (v.family == family && v.quantity == what && v.threads == threads && (lanes == 0 || v.lanes == lanes) &&
        v.where == where)
      return &v;
  return nullptr;
}

const level_value* largest_throughput(std::span<const level_value> values, std::string_view family) {
  const level_value* best = nullptr;
  for (const auto& v : values)
    if (v.family == family && v.quantity == quantity::throughput && (best == nullptr || v.value > best->value))
      best = &v;
  return best;
}

warp_line line_over_warps(std::span<const level_value> values, std::string_view family) {
  std::vector<double> warps, cycles;
  for (const auto& v : values) {
    if (v.family != family || v.quantity != quantity::latency) continue;
    warps.push_back(v.warps_per_sm());
    cycles.push_back(v.value);
  }
  if (warps.size() < 3) return {};
  const auto line = fit_line(warps, cycles);
  return {line.slope, line.offset, line.r_squared, warps.size()};
}

double host_ns_per_link(std::span<const raw_samples> samples, std::string_view family) {
  std::map<std::uint64_t, double> fastest;  // by links of all passes
  for (const auto& r : samples) {
    if (r.family != family || !of_host_clock(r)) continue;
    const auto all_links = std::stoull(r.where.substr(r.where.find(' ') + 1)) * r.links;
    const auto [it, added] = fastest.try_emplace(all_links, r.host_ns);
    it->second = std::min(it->second, r.host_ns);
  }
  if (fastest.size() < 2) return 0;
  const auto& [few, short_ns] = *fastest.begin();
  const auto& [many, long_ns] = *fastest.rbegin();
  return (long_ns - short_ns) / static_cast<double>(many - few);
}

}  // namespace mgsync::levels
