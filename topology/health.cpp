#include "topology/health.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/base/units.hpp"
#include "topology/sources/gpu_state.hpp"

namespace mgsync::topology {
namespace {

using value_of_gpu = std::function<std::optional<double>(const machine&, const gpu&)>;

// A property in which GPUs of one model are alike.
struct alike {
  const char* finding_name;
  const char* what;  // "{} NVLinks"
  const char* change;
  value_of_gpu value;
};

std::optional<double> nvlinks_of(const machine& m, const gpu& g) {
  if (m.links.empty()) return std::nullopt;
  int width = 0;
  const auto is_it = [&](const link_end& e) { return e.kind == end_kind::gpu && e.id == g.id; };
  for (const auto& one : m.links)
    if (is_it(one.a) || is_it(one.b)) width += one.width;
  return width;
}

const std::vector<alike>& properties() {
  static const std::vector<alike> all{
      {"fewer-links", "{:.0f} active NVLinks",
       "nvidia-smi nvlink -s, and dmesg (Xid 74); then its seat or board", nvlinks_of},
      {"fewer-lanes", "{:.3g} GB/s of PCIe",
       "nvidia-smi -q -d PCI, lspci -vv (LnkSta); then its seat or riser",
       [](const machine&, const gpu& g) { return g.pcie_gbps; }},
      {"lower-clock", "{:.0f} MHz as its largest clock", "nvidia-smi -rgc, and nvidia-smi -q -d CLOCK",
       [](const machine&, const gpu& g) {
         return g.sm_clock_mhz ? std::optional<double>(*g.sm_clock_mhz) : std::nullopt;
       }}};
  return all;
}

// The value that most GPUs of a model have here and in the references; of two equally frequent ones the
// larger.
std::map<std::string, double> usual_values(const machine& seen, std::span<const machine> references,
                                           const value_of_gpu& value) {
  std::map<std::string, std::map<double, std::size_t>> counts;
  const auto add = [&](const machine& m) {
    for (const auto& g : m.gpus)
      if (const auto one = value(m, g)) ++counts[g.name][*one];
  };
  add(seen);
  std::ranges::for_each(references, add);
  std::map<std::string, double> usual;
  for (const auto& [model, values] : counts)
    usual[model] = std::max_element(values.begin(), values.end(), [](const auto& a, const auto& b) {
                     return a.second != b.second ? a.second < b.second : a.first < b.first;
                   })->first;
  return usual;
}

void fewer_than_usual(std::vector<finding>& out, const machine& seen, std::span<const machine> references) {
  for (const auto& one : properties()) {
    const auto usual = usual_values(seen, references, one.value);
    for (const auto& g : seen.gpus) {
      const auto here = one.value(seen, g);
      const auto known = usual.find(g.name);
      if (!here || known == usual.end() || *here >= known->second * 0.99) continue;
      out.push_back({one.finding_name,
                     fmt::format("GPU {} has {}; others of its kind have {:.4g}.", g.id,
                                 fmt::format(fmt::runtime(one.what), *here), known->second),
                     one.change});
    }
  }
}

bool is_of_model(const machine& a, const machine& b) {
  return !a.gpus.empty() && !b.gpus.empty() && a.gpus.front().name == b.gpus.front().name;
}

// Where a reference has as many GPUs, a machine of so many is a kind of its own.
void missing(std::vector<finding>& out, const machine& seen, std::span<const machine> references) {
  std::size_t most = 0;
  for (const auto& other : references) {
    if (!is_of_model(seen, other) || seen.cores.size() != other.cores.size()) continue;
    if (other.gpus.size() == seen.gpus.size()) return;
    most = std::max(most, other.gpus.size());
  }
  if (most > seen.gpus.size()) out.push_back(missing_gpus(seen, most));
}

void state(std::vector<finding>& out, const gpu& g, const gpu_health& now) {
  const auto add = [&](const char* name, std::string what, const char* change) {
    out.push_back({name, fmt::format("GPU {} {}.", g.id, what), change});
  };
  if (now.uncorrected.value_or(0) > 0)
    add("memory-errors",
        fmt::format("has had {} memory errors that could not be corrected", *now.uncorrected),
        "nvidia-smi -q -d ECC; reset or replace it");
  if (now.remap_failed.value_or(false))
    add("memory-errors", "has no rows of memory left to replace broken ones", "replace it");
  else if (now.remap_pending.value_or(false))
    add("memory-errors", "waits for a reset to replace broken rows of its memory", "a reset: nvidia-smi -r");
  if (now.pcie_lanes && now.pcie_lanes_most && *now.pcie_lanes < *now.pcie_lanes_most)
    add("fewer-lanes", fmt::format("runs {} of its {} PCIe lanes", *now.pcie_lanes, *now.pcie_lanes_most),
        "lspci -vv (LnkSta); then its seat or riser");
  if (now.slowed_by != 0)
    add("slowed", fmt::format("is {}", slowed_by(now.slowed_by)),
        "nvidia-smi -q -d PERFORMANCE; its cooling and power");
  if (!now.processes.empty())
    add("in-use",
        fmt::format("is used by {} (process {})",
                    now.processes.size() == 1 ? "another process" : "other processes",
                    fmt::join(now.processes, ", ")),
        "end them, or take the node alone (sbatch --exclusive)");
}

}  // namespace

finding missing_gpus(const machine& seen, std::size_t usual) {
  return {"missing-gpus",
          fmt::format("{} shows {}; a node of its kind has {}.", seen.host,
                      seen.gpus.empty() ? "no GPU" : counted(seen.gpus.size(), "GPU"), usual),
          "dmesg (Xid 79), nvidia-smi -L, and the GPUs that the job asked for"};
}

std::vector<finding> find_faults(const machine& seen, std::span<const gpu_health> healths,
                                 std::span<const machine> references) {
  std::vector<finding> found;
  missing(found, seen, references);
  std::vector<machine> as_many;  // links and lanes are shared out in another way among other numbers of GPUs
  for (const auto& other : references)
    if (is_of_model(seen, other) && other.gpus.size() == seen.gpus.size()) as_many.push_back(other);
  fewer_than_usual(found, seen, as_many);
  const bool some_correct = std::ranges::any_of(healths, [](const auto& h) { return h.ecc == true; });
  for (const auto& now : healths) {
    const auto g = std::ranges::find(seen.gpus, now.uuid, &gpu::uuid);
    if (g == seen.gpus.end()) continue;
    state(found, *g, now);
    if (some_correct && now.ecc == false)
      found.push_back({"ecc-off",
                       fmt::format("GPU {} does not correct memory errors; others here do.", g->id),
                       "nvidia-smi -e 1, and a reset"});
  }
  return found;
}

}  // namespace mgsync::topology
