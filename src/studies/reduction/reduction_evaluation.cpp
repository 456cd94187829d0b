#include "src/studies/reduction/reduction_evaluation.hpp"

#include <algorithm>
#include <compare>
#include <map>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "src/base/units.hpp"
#include "src/results/frame/conditions.hpp"
#include "src/results/frame/frame.hpp"

namespace mgsync::reduction {
namespace {

// Results that are compared with each other have these in common: members, whether each is a rank, type, and
// where the numbers are.
struct family {
  bool gpu = false;
  int members = 1, ranks = 1;
  std::string type, memory;
  auto operator<=>(const family&) const = default;
};
using by_size = std::map<double, std::map<std::string, const result*>>;  // bytes, then way and variant

std::string members_of(const family& f) {
  if (f.gpu) return counted(f.members, "GPU") + (f.ranks > 1 ? ", a rank each" : "");
  return counted(f.members, f.ranks > 1 ? "rank" : "thread");
}
std::string name_of(const family& f) { return fmt::format("{}, {}, {}", members_of(f), f.type, f.memory); }

family family_of(const result& r) {
  return {r.point.device == topology::device::gpu, r.point.members, r.point.ranks, r.point.word("type"),
          r.point.word("memory")};
}

std::string words_of_way(const result& r) { return subject_of(r.point); }
double gbps(const result& r, double us) { return r.point.number("bytes").value_or(0) / us * 1e-3; }

// Adds a sentence: from which size on the best way with several threads is never slower than one thread.
// Sizes where the intervals overlap decide nothing.
void add_advice(const family& f, const by_size& sizes, evaluation& e) {
  if (f.members < 2) return;
  double since = 0;
  bool asked = false;
  for (const auto& [bytes, here] : sizes) {
    const auto* serial = at(here, "serial");
    frame<result> ways;
    for (const auto& [way, r] : here)
      if (way != "serial" && way != "read" && r->point.variant.empty()) ways.push_back(r);
    const auto* best = least(ways, median_of);
    if (serial == nullptr || best == nullptr) continue;
    asked = true;
    const bool pays = is_shown_less(*best, *serial);
    if (!pays) since = 0;
    else if (since == 0) since = bytes;
  }
  if (!asked) return;
  e.sentences.push_back(
      since == 0 ? fmt::format("Sums by {}: one {} is not slower at the largest size that was measured.",
                               name_of(f), f.ranks > 1 ? "rank" : "thread")
                 : fmt::format("Sums by {}: below {} use one {}.", name_of(f), size_in_words(since),
                               f.ranks > 1 ? "rank" : "thread"));
}

// Adds a sentence: how the fastest way at the largest size compares with reading alone, and another.
void add_largest(const family& f, const by_size& sizes, evaluation& e) {
  if (!f.gpu || f.memory != "cold" || sizes.empty()) return;
  const auto& [bytes, here] = *sizes.rbegin();
  frame<result> ways;
  for (const auto& [way, r] : here)
    if (!way.starts_with("read") && way != "serial" && r->point.variant.empty() && median_of(*r) > 0)
      ways.push_back(r);
  std::ranges::sort(ways, {}, [](const auto* r) { return median_of(*r); });
  const auto* read = at(here, "read");
  if (ways.empty() || read == nullptr) return;
  const auto told = [&](const result& r) {
    const double us = median_of(r);
    return fmt::format("{} {:.4g} us ({:.4g} GB/s, {:.1f} % of reading alone)", words_of_way(r), us,
                       gbps(r, us), 100 * median_of(*read) / us);
  };
  // Beside a way that everybody has, if it was measured.
  const auto* cub = at(here, "cub");
  const auto* other = cub != nullptr && cub != ways[0] ? cub : ways.size() > 1 ? ways[1] : nullptr;
  e.sentences.push_back(fmt::format(
      "Sums of {} of {}{}, {}: {} is fastest of the ways that choose by themselves how to read{}.",
      size_in_words(bytes), f.type, f.members == 1 ? "" : " on each of " + members_of(f),
      read_in_words(f.memory), told(*ways[0]), other == nullptr ? "" : ", beside " + told(*other)));
}

// Every sum, with its rate, and its share of a read of the same numbers (table VI of 000).
table table_of(const frame<result>& sums) {
  table t{
      {"reductions", "Sums over memory (000, table VI and figures 15 and 16)",
       "Every sum of every run was compared with the one that must come out. Of several GPUs the size and "
       "the rate are those of each. Share: of what the same "
       "members read without putting anything together. Waits for the host: the launch calls themselves "
       "take that long, so a program that launches in another way has another value."},
      {"members", "type", "memory", "size | >", "way", "us | .2f", "ci95 | .2f", "GB/s | .4g",
       "share | .1f %", "waits for"}};
  for (const auto& [f, some] : by(sums, family_of))
    for (const auto& [bytes, here] : pivot(some, number("bytes"), words_of_way)) {
      const auto* read = at(here, "read");
      for (const auto& [way, r] : here) {
        const double us = median_of(*r);
        t.add({members_of(f), f.type, f.memory, size_in_words(bytes), way, us, ci95_of(first_metric(*r)),
               gbps(*r, us), read == nullptr ? std::nullopt : ratio(median_of(*read), us),
               is_host_bound(*r) ? "the host" : ""},
              short_key(r->point));
      }
    }
  return t;
}

// The rate of each way over the size (000, figures 15 and 16).
chart rates_of(const family& f, const frame<result>& sums) {
  chart rates{{fmt::format("reduction-{}{}{}-{}-{}", f.gpu ? "gpu-" : "", f.members,
                           f.ranks > 1 ? "-ranks" : "", f.type, f.memory),
               "Sums: " + name_of(f), "Bytes that were added up over the time of one sum."},
              {"data (bytes)", true},
              {"throughput (GB/s)", true},
              {}};
  for (const auto& [way, some] : by(sums, words_of_way)) {
    curve one{.name = way, .reference = way == "read"};
    for (const auto& [bytes, r] : one_by(some, number("bytes"))) {
      const auto& time = first_metric(*r);
      if (time.median <= 0) continue;     // a difference of two runs that noise has swallowed
      std::optional<double> least, most;  // of such a one's interval there is no rate
      if (time.ci95_low > 0) least = gbps(*r, time.ci95_high), most = gbps(*r, time.ci95_low);
      one.points.push_back({bytes, gbps(*r, time.median), least, most, {}, {}, short_key(r->point)});
    }
    rates.curves.push_back(std::move(one));
  }
  return rates;
}

}  // namespace

evaluation evaluate(std::span<const result> all) {
  evaluation e;
  const auto sums =
      where(all, is_measured_of("reduction"), [](const auto& r) { return is_a_time(first_metric(r)); });
  for (const auto& [f, some] : by(sums, family_of)) {
    e.figures.push_back(rates_of(f, some));
    const auto sizes = pivot(some, number("bytes"), words_of_way);
    add_largest(f, sizes, e);
    add_advice(f, sizes, e);
  }
  e.add(table_of(sums));
  add_costs(all, e);
  add_acceptance(all, e);
  return e;
}

}  // namespace mgsync::reduction
