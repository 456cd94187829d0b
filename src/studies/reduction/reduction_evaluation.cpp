#include "src/studies/reduction/reduction_evaluation.hpp"

#include <compare>
#include <map>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "src/studies/reduction/reduction_acceptance.hpp"

namespace mgsync::reduction {
namespace {

// What is compared with each other: members, whether each is a rank, type, where the numbers lie.
struct family {
  bool gpu = false;
  int members = 1, ranks = 1;
  std::string type, memory;
  auto operator<=>(const family&) const = default;
};
using by_size = std::map<double, std::map<std::string, const result*>>;  // bytes, then way and variant

std::string size_text(double bytes) {
  for (const auto& [unit, name] :
       {std::pair{1073741824.0, "GiB"}, std::pair{1048576.0, "MiB"}, std::pair{1024.0, "KiB"}})
    if (bytes >= unit) return fmt::format("{:g} {}", bytes / unit, name);
  return fmt::format("{:g} B", bytes);
}

std::string members_of(const family& f) {
  const char* plural = f.members == 1 ? "" : "s";
  if (f.gpu) return fmt::format("{} GPU{}{}", f.members, plural, f.ranks > 1 ? ", a rank each" : "");
  return fmt::format("{} {}{}", f.members, f.ranks > 1 ? "rank" : "thread", plural);
}
std::string name_of(const family& f) { return fmt::format("{}, {}, {}", members_of(f), f.type, f.memory); }

const metric& time_of(const result& r) { return r.metrics.front(); }
double gbps(const result& r, double us) { return r.point.number("bytes").value_or(0) / us * 1e-3; }

// From which size on the threads' best way is never slower than one thread: intervals that overlap decide
// nothing.
void add_advice(const family& f, const by_size& sizes, evaluation& e) {
  double since = 0;
  bool asked = false;
  for (const auto& [bytes, here] : sizes) {
    const auto serial = here.find("serial");
    if (serial == here.end()) continue;
    const metric* best = nullptr;
    for (const auto& [way, r] : here)
      if (way != "serial" && way != "read" && r->point.variant.empty() &&
          (best == nullptr || r->metrics.front().median < best->median))
        best = &r->metrics.front();
    if (best == nullptr) continue;
    asked = true;
    const bool pays = best->ci95_high < serial->second->metrics.front().ci95_low;
    if (!pays) since = 0;
    else if (since == 0) since = bytes;
  }
  if (!asked) return;
  e.sentences.push_back(since == 0
                            ? fmt::format("{}: one {} is not slower at the largest size that was measured.",
                                          name_of(f), f.ranks > 1 ? "rank" : "thread")
                            : fmt::format("{}: below {} use one {}.", name_of(f), size_text(since),
                                          f.ranks > 1 ? "rank" : "thread"));
}

}  // namespace

evaluation evaluate(std::span<const result> all) {
  evaluation e;
  std::map<family, by_size> families;
  for (const auto& r : all)
    if (r.point.study == "reduction" && r.has_metrics() && is_a_time(r.metrics.front()))
      families[{r.point.device == topology::device::gpu, r.point.members, r.point.ranks, r.point.word("type"),
                r.point.word("memory")}][r.point.number("bytes").value_or(0)][subject_of(r.point)] = &r;
  table t{{"reductions", "Sums over memory (000, table VI and figures 15 and 16)",
           "Every sum of every run was compared with the one that must come out. Share: of what the same "
           "members read without putting anything together."},
          {"members", "type", "memory", "size", "way", "us", "ci95", "GB/s", "share"},
          {},
          {false, false, false, true, false, true, true, true, true}};
  for (const auto& [f, sizes] : families) {
    chart lines{{fmt::format("reduction-{}{}{}-{}-{}", f.gpu ? "gpu-" : "", f.members,
                             f.ranks > 1 ? "-ranks" : "", f.type, f.memory),
                 "Sums: " + name_of(f), "Bytes that were added up over the time of one sum."},
                {"bytes", true},
                {"GB/s", true},
                {}};
    std::map<std::string, curve> curves;
    for (const auto& [bytes, here] : sizes) {
      const auto read = here.find("read");
      for (const auto& [way, r] : here) {
        const auto& time = time_of(*r);
        t.sources.push_back(short_key(r->point));
        t.rows.push_back(
            {members_of(f), f.type, f.memory, size_text(bytes), way, fmt::format("{:.2f}", time.median),
             fmt::format("{:.2f} - {:.2f}", time.ci95_low, time.ci95_high),
             fmt::format("{:.4g}", gbps(*r, time.median)),
             read != here.end() ? fmt::format("{:.1f} %", 100 * time_of(*read->second).median / time.median)
                                : "-"});
        auto& c = curves[way];
        c.name = way;
        c.reference = way == "read";
        if (time.median <= 0) continue;     // a difference of two runs that noise has swallowed
        std::optional<double> least, most;  // of such a one's interval there is no rate
        if (time.ci95_low > 0) least = gbps(*r, time.ci95_high), most = gbps(*r, time.ci95_low);
        c.points.push_back({bytes, gbps(*r, time.median), least, most, {}, {}, short_key(r->point)});
      }
    }
    for (auto& [way, c] : curves) lines.curves.push_back(std::move(c));
    e.figures.push_back(std::move(lines));
    add_advice(f, sizes, e);
  }
  if (!t.rows.empty()) e.tables.push_back(std::move(t));
  add_costs(all, e);
  add_acceptance(all, e);
  return e;
}

}  // namespace mgsync::reduction
