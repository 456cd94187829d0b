#include "src/studies/reduction/reduction_evaluation.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "src/base/units.hpp"
#include "src/results/frame/conditions.hpp"
#include "src/results/frame/frame.hpp"
#include "src/results/frame/lines.hpp"
#include "src/results/frame/paper_numbers.hpp"
#include "src/results/values/statistics.hpp"

namespace mgsync::reduction {
namespace {

constexpr double kib = 1024, mib = kib * kib, gib = kib * mib;

// The GPUs' results without a reading of their own, by where they are.
struct place {
  int gpus = 1, ranks = 1;
  std::string type, memory;
  double bytes = 0;
  auto operator<=>(const place&) const = default;
};
using by_way = std::map<std::string, const result*>;
using by_place = std::map<place, by_way>;

// Sums on GPUs without a reading of their own.
bool is_on_gpus(const result& r) {
  return r.point.study == "reduction" && r.point.device == topology::device::gpu && r.point.variant.empty();
}
place place_of(const result& r) {
  return {r.point.members, r.point.ranks, r.point.word("type"), r.point.word("memory"), number("bytes")(r)};
}
std::string way_of(const result& r) { return r.point.subject; }

by_place places_of(std::span<const result> all) {
  return pivot(where(all, is_on_gpus, &result::has_metrics,
                     [](const result& r) { return is_a_time(first_metric(r)); }),
               place_of, way_of);
}

const metric* time_of(const by_way& here, const std::string& way) {
  const auto* found = at(here, way);
  return found == nullptr ? nullptr : &found->metrics.front();
}

std::string name_of(const place& p) {
  return fmt::format("{} {} {}{}", p.type, p.memory, size_in_words(p.bytes),
                     p.ranks > 1 ? ", a rank each" : "");
}

// Expects that `mine` is nowhere slower than `other` with disjoint intervals; tells at how many places it is,
// and the worst.
void add_never_slower(const by_place& all, int gpus, const std::string& mine, const std::string& other,
                      expectations& c) {
  unsigned compared = 0, slower = 0;
  double worst = 0;
  std::string where;
  for (const auto& [p, here] : all) {
    const auto *a = time_of(here, mine), *b = time_of(here, other);
    if ((gpus == 1) != (p.gpus == 1) || a == nullptr || b == nullptr) continue;
    ++compared;
    if (a->ci95_low <= b->ci95_high) continue;
    ++slower;
    if (const double ratio = a->median / b->median; ratio > worst) worst = ratio, where = name_of(p);
  }
  if (compared == 0) return;
  c.push_back({fmt::format("{} nowhere slower than {} beyond intervals", mine, other), "0",
               slower == 0
                   ? fmt::format("0 of {}", compared)
                   : fmt::format("{} of {}, at most {:.2f} times, {}", slower, compared, worst, where),
               slower == 0});
}

// The ratio of the medians of two ways, at each place that has both.
struct ratio_at {
  double ratio = 0;
  std::string where;
};
std::vector<ratio_at> ratios(const by_place& all, const std::string& over, const std::string& under,
                             const std::function<bool(const place&)>& counts) {
  std::vector<ratio_at> found;
  for (const auto& [p, here] : all)
    if (const auto* a = time_of(here, over), *b = time_of(here, under);
        a != nullptr && b != nullptr && counts(p))
      found.push_back({a->median / b->median, name_of(p)});
  return found;
}

bool alone(const place& p) { return p.gpus == 1; }

const metric* call_of(const by_way& here, const std::string& way) {
  const auto* found = at(here, way);
  return found == nullptr ? nullptr : found->find("call");
}

// By how much longer the host's launch call is for a kernel that may start early, relative to an ordinary
// one: a pair of both, less the ordinary one, which is that of `read`. 1 where nothing was measured.
double early_over_ordinary(const by_place& all) {
  std::vector<double> ratios;
  for (const auto& [p, here] : all) {
    const auto *both = call_of(here, "programmatic"), *ordinary = call_of(here, "read");
    if (alone(p) && p.bytes <= 64 * kib && both != nullptr && ordinary != nullptr)
      ratios.push_back(both->median / ordinary->median - 1);
  }
  return ratios.empty() ? 1 : median(ratios);
}

// Expects at small sizes that a sum takes the longer of the host's launch calls and the device's time. The
// device's time is that of the same way in a graph, a launch call's that of `read`, measured at about the
// same time. Tells how far the sum's median is from that prediction.
void add_small_sizes(const by_place& all, expectations& c) {
  double worst = 0;
  std::string where;
  const double early = early_over_ordinary(all);
  for (const auto& [p, here] : all) {
    const auto* call = call_of(here, "read");
    if (!alone(p) || p.bytes > 64 * kib || call == nullptr) continue;
    for (const auto& [way, kernels] : {std::pair{"auto", early}, std::pair{"implicit", 2.0}}) {
      const auto *took = time_of(here, way), *device = time_of(here, std::string(way) + "-graph");
      if (took == nullptr || device == nullptr) continue;
      const double foretold = std::max(kernels * call->median, device->median);
      const double apart = std::abs(took->median / foretold - 1);
      if (where.empty() || apart >= worst) worst = apart, where = fmt::format("{} {}", way, name_of(p));
    }
  }
  if (!where.empty())
    c.push_back({"up to 64 KiB: the longer of the host's calls and the device's time in a graph",
                 "within 15 %", fmt::format("{:.1f} % apart, {}", 100 * worst, where), worst <= 0.15});
}

void add_several(std::span<const result> results, const by_place& all, expectations& c) {
  const auto tried = pivot(where(results, is_on_gpus), place_of, way_of);
  const auto time_at = [&](const place& p, const std::string& way, const std::string& where) {
    const auto* ways = at(tried, p);
    return input_of(ways == nullptr ? nullptr : at(*ways, way), fmt::format("{} on {}", way, where));
  };
  for (const auto& [p, here] : all) {
    if (alone(p) || p.bytes != 4 * gib) continue;
    const auto gpus = counted(p.gpus, "GPU") + (p.ranks > 1 ? ", a rank each," : "");
    const double least = 0.975 * p.gpus;
    // The stricter bound: `read` combines nothing.
    expect(
        c,
        fmt::format("{} at {} each, {}: so many times what one reads", gpus, size_in_words(p.bytes), p.type),
        fmt::format("{:.3g}", least),
        {time_at({1, 1, p.type, p.memory, p.bytes}, "read", "1 GPU"), time_at(p, "single-kernel", gpus)},
        [&, gpus = p.gpus](std::span<const double> us) {
          const double times = gpus * us[0] / us[1];
          return judgement{fmt::format("{:.3f}", times), times >= least};
        });
  }
  add_never_slower(all, 2, "single-kernel", "host-barrier", c);
  add_never_slower(all, 2, "single-kernel", "vendor", c);
}

// Finds from how many bytes in all several GPUs, each with its share, are never slower than one.
void add_switch_to_several(const by_place& all, evaluation& e) {
  std::set<std::pair<int, std::pair<std::string, std::string>>> groups;
  for (const auto& [p, here] : all)
    if (!alone(p) && p.ranks == 1) groups.insert({p.gpus, {p.type, p.memory}});
  for (const auto& [gpus, where] : groups) {
    std::map<double, double> one, several;
    for (const auto& [p, here] : all) {
      if (p.type != where.first || p.memory != where.second) continue;
      if (const auto* t = time_of(here, "auto"); alone(p) && t != nullptr) one[p.bytes] = t->median;
      if (const auto* t = time_of(here, "single-kernel"); p.gpus == gpus && p.ranks == 1 && t != nullptr)
        several[p.bytes] = t->median;
    }
    if (one.size() < 2 || several.size() < 2) continue;
    std::optional<double> since;
    bool compared = false, some_slower = false;
    for (double bytes = 4096; bytes <= one.rbegin()->first; bytes *= 1.02) {
      const auto a = between_points(one, bytes), b = between_points(several, bytes / gpus);
      if (!a || !b) continue;
      compared = true;
      if (*b >= *a) since.reset(), some_slower = true;
      else if (!since) since = bytes;
    }
    if (!compared) continue;
    const auto read_from = read_in_words(where.second);
    e.sentences.push_back(
        since ? fmt::format(
                    "Sums of {}, {}: from {} in all {} GPUs with a barrier inside the kernel are faster "
                    "than one GPU, and {} below.",
                    where.first, read_from, size_in_words(*since), gpus,
                    some_slower ? "slower" : "nothing was measured")
              : fmt::format(
                    "Sums of {}, {}: {} GPUs are not faster than one at the largest size that was measured.",
                    where.first, read_from, gpus));
  }
}

}  // namespace

void add_acceptance(std::span<const result> results, evaluation& e) {
  const auto all = places_of(results);
  expectations c;
  if (const auto* here = at(all, {1, 1, "int32", "cold", gib}); here != nullptr)
    if (const auto* cub = at(*here, "cub");
        cub != nullptr && cub->found("gpu").find("H200") != std::string::npos) {
      const double published_us = number_of("CUB", "published", "2^28 int32", "H200", "time");
      const double us = median_of(*cub);
      c.push_back({fmt::format("CUB, 2^28 int32 on an H200: published {:.1f} us", published_us), "5 %",
                   fmt::format("{:.1f} us, {:+.1f} %", us, 100 * (us / published_us - 1)),
                   is_within(us, published_us, 0.05)});
    }
  add_never_slower(all, 1, "auto", "cub", c);
  add_never_slower(all, 1, "auto-graph", "cub-graph", c);
  const auto size = &ratio_at::ratio;
  const auto middle = ratios(all, "cub", "auto", [](const place& p) {
    return alone(p) && p.bytes >= 64 * kib && p.bytes <= 4 * mib;
  });
  if (const auto* r = least(middle, size))
    c.push_back({"auto faster than cub, 64 KiB to 4 MiB", "1.3",
                 fmt::format("{:.2f} at least, {}", r->ratio, r->where), r->ratio >= 1.3});
  const auto largest =
      ratios(all, "auto", "read", [](const place& p) { return alone(p) && p.bytes == 4 * gib; });
  if (const auto* r = most(largest, size))
    c.push_back({"auto beside the best plain read at 4 GiB", "1.02",
                 fmt::format("{:.3f} at most, {}", r->ratio, r->where), r->ratio <= 1.02});
  const auto one_gib =
      ratios(all, "implicit", "grid-sync", [](const place& p) { return alone(p) && p.bytes == gib; });
  if (const auto* low = least(one_gib, size), *high = most(one_gib, size); low != nullptr)
    c.push_back({"implicit over grid-sync at 1 GiB", "0.97 to 1.03",
                 fmt::format("{:.3f} to {:.3f}", low->ratio, high->ratio),
                 low->ratio >= 0.97 && high->ratio <= 1.03});
  add_small_sizes(all, c);
  add_several(results, all, c);
  e.add({"reduction-claims", "What sums on GPUs must hold"}, std::move(c));
}

bool is_host_bound(const result& r) {
  const auto* call = r.find("call");
  return call != nullptr && call->median >= 0.95 * median_of(r);
}

namespace {

// What a way takes longer than reading by the same loop.
table_entry cost_of(const by_way& here, const std::string& way) {
  const auto* took = at(here, way);
  const auto* read = at(here, way.ends_with("-graph") ? "read-graph" : "read");
  if (took == nullptr || read == nullptr) return std::nullopt;
  const bool other = took->found("reading") != read->found("reading"),
             host = is_host_bound(*took) || is_host_bound(*read);
  return noted{median_of(*took) - median_of(*read), other && host ? "(other loop, host)"
                                                    : other       ? "(other loop)"
                                                    : host        ? "(host)"
                                                                  : ""};
}

}  // namespace

void add_costs(std::span<const result> results, evaluation& e) {
  const auto all = places_of(results);
  std::map<std::pair<int, int>, std::vector<std::string>> ways_of;  // by GPUs and ranks
  for (const auto& [p, here] : all)
    for (const auto& [way, r] : here)
      if (auto& known = ways_of[{p.gpus, p.ranks}]; way != "read" && way != "read-graph" &&
                                                    way != "word-read" &&
                                                    std::find(known.begin(), known.end(), way) == known.end())
        known.push_back(way);
  for (const auto& [members, columns] : ways_of) {
    const auto [gpus, ranks] = members;
    table t{
        {fmt::format("barrier-costs-{}{}", gpus, ranks > 1 ? "-ranks" : ""),
         fmt::format("What putting the parts together costs an application, {}{}", counted(gpus, "GPU"),
                     ranks > 1 ? ", a rank each" : ""),
         "How many us longer a sum takes than reading the same numbers by the same loop; a sum in graphs, "
         "than "
         "reading in graphs. Below 0: the next sum begins before the last has ended, as reading does not. "
         "Other loop: not the barrier's cost alone. Host: the launch calls are what takes so long."},
        {"type", "memory", "size | >", "read, us | .2f"}};
    for (const auto& way : columns) t.columns.push_back({way, ".2f"});
    for (const auto& [p, here] : all) {
      const auto* read = time_of(here, "read");
      if (p.gpus != gpus || p.ranks != ranks || read == nullptr) continue;
      std::vector<table_entry> row{p.type, p.memory, size_in_words(p.bytes), read};
      for (const auto& way : columns) row.push_back(cost_of(here, way));
      t.add(row);
    }
    e.add(std::move(t));
  }
  add_switch_to_several(all, e);
}

}  // namespace mgsync::reduction
