#include "src/studies/reduction/reduction_evaluation.hpp"

#include <map>
#include <tuple>

#include <fmt/format.h>

namespace mgsync::reduction {
namespace {

// What is compared with each other: threads, type, where the numbers lie.
using family = std::tuple<int, std::string, std::string>;
using by_size = std::map<double, std::map<std::string, const result*>>;  // bytes, then way

std::string size_text(double bytes) {
  for (const auto& [unit, name] : {std::pair{1073741824.0, "GiB"}, std::pair{1048576.0, "MiB"}, std::pair{1024.0, "KiB"}})
    if (bytes >= unit) return fmt::format("{:g} {}", bytes / unit, name);
  return fmt::format("{:g} B", bytes);
}

std::string name_of(const family& f) {
  const auto& [threads, type, where] = f;
  return fmt::format("{} thread{}, {}, {}", threads, threads == 1 ? "" : "s", type, where);
}

double bandwidth(const result* r) {
  const auto* m = r != nullptr ? r->find("bandwidth") : nullptr;
  return m != nullptr ? m->median : 0;
}

// From which size on the threads' best way is never slower than one thread: intervals that overlap decide nothing.
void add_advice(const family& f, const by_size& sizes, evaluation& e) {
  double since = 0;
  bool asked = false;
  for (const auto& [bytes, here] : sizes) {
    const auto serial = here.find("serial");
    if (serial == here.end()) continue;
    const metric* best = nullptr;
    for (const auto& [way, r] : here)
      if (way != "serial" && way != "read" && (best == nullptr || r->metrics.front().median < best->median)) best = &r->metrics.front();
    if (best == nullptr) continue;
    asked = true;
    const bool pays = best->ci95_high < serial->second->metrics.front().ci95_low;
    if (!pays) since = 0;
    else if (since == 0) since = bytes;
  }
  if (!asked) return;
  e.sentences.push_back(since == 0 ? fmt::format("{}: one thread is not slower at the largest size that was measured.", name_of(f))
                                   : fmt::format("{}: below {} use one thread.", name_of(f), size_text(since)));
}

}  // namespace

evaluation evaluate(std::span<const result> all) {
  evaluation e;
  std::map<family, by_size> families;
  for (const auto& r : all)
    if (r.point.study == "reduction" && r.has_metrics() && r.find("bandwidth") != nullptr)
      families[{r.point.members, r.point.word("type"), r.point.word("memory")}][r.point.number("bytes").value_or(0)][r.point.subject] = &r;
  table t{{"reductions", "Sums over memory (000, table VI and figure 15, on host threads)",
           "Every sum of every run was compared with the one that must come out. Share: of what the same threads read without putting anything together."},
          {"threads", "type", "memory", "size", "way", "us", "ci95", "GB/s", "share"}, {}, {true, false, false, true, false, true, true, true, true}};
  for (const auto& [f, sizes] : families) {
    const auto& [threads, type, where] = f;
    chart lines{{fmt::format("reduction-{}-{}-{}", threads, type, where), "Sums: " + name_of(f), "Bytes that were added up over the time of one sum."},
                {"bytes", true}, {"GB/s", true}, {}};
    std::map<std::string, curve> curves;
    for (const auto& [bytes, here] : sizes) {
      const auto read = here.find("read");
      for (const auto& [way, r] : here) {
        const auto& time = r->metrics.front();
        const auto* rate = r->find("bandwidth");
        const double bound = read != here.end() ? bandwidth(read->second) : 0;
        t.sources.push_back(short_key(r->point));
        t.rows.push_back({fmt::format("{}", threads), type, where, size_text(bytes), way, fmt::format("{:.2f}", time.median),
                          fmt::format("{:.2f} - {:.2f}", time.ci95_low, time.ci95_high), fmt::format("{:.2f}", rate->median),
                          bound > 0 ? fmt::format("{:.1f} %", 100 * rate->median / bound) : "-"});
        auto& c = curves[way];
        c.name = way;
        c.reference = way == "read";
        c.points.push_back({bytes, rate->median, rate->ci95_low, rate->ci95_high, {}, {}, short_key(r->point)});
      }
    }
    for (auto& [way, c] : curves) lines.curves.push_back(std::move(c));
    e.figures.push_back(std::move(lines));
    add_advice(f, sizes, e);
  }
  if (!t.rows.empty()) e.tables.push_back(std::move(t));
  return e;
}

}  // namespace mgsync::reduction
