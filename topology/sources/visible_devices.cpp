#include "topology/sources/visible_devices.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "topology/cpu_list.hpp"

namespace mgsync::topology {
namespace {

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

// The GPUs and slices that an entry means, by UUID or index.
std::vector<std::string> meant(std::string_view entry, const nvml_answer& nvml) {
  std::vector<std::string> found;
  // CUDA may number GPUs otherwise than NVML (CUDA_DEVICE_ORDER): an index is comparable to indices only.
  if (const auto index = parse_number(entry)) {
    if (*index < static_cast<int>(nvml.gpus.size())) found.push_back(fmt::format("index {}", *index));
    return found;
  }
  // The form of drivers before 470: the GPU's UUID, then the two instances.
  if (entry.starts_with("MIG-GPU-")) {
    for (const auto& g : nvml.gpus)
      if (entry.substr(4).starts_with(g.gpu.uuid + "/")) found.emplace_back(entry);
    return found;
  }
  if (!entry.starts_with("GPU-") && !entry.starts_with("MIG-")) return found;
  for (const auto& g : nvml.gpus) {
    if (g.gpu.uuid.starts_with(entry)) found.push_back(g.gpu.uuid);
    for (const auto& slice : g.mig_uuids)
      if (slice.starts_with(entry)) found.push_back(slice);
  }
  return found;
}

}  // namespace

std::string visible_devices_problem(std::string_view value, const nvml_answer& nvml) {
  const auto shown = value.substr(0, 200);
  if (trimmed(value).empty()) return "CUDA_VISIBLE_DEVICES is empty: CUDA shows no GPU.";
  std::set<std::string> seen;
  for (std::string_view rest = value; !rest.empty();) {
    const auto comma = rest.find(',');
    const auto entry = trimmed(rest.substr(0, comma));
    rest.remove_prefix(comma == std::string_view::npos ? rest.size() : comma + 1);
    const auto gpus = meant(entry, nvml);
    if (gpus.empty())
      return fmt::format(
          "CUDA_VISIBLE_DEVICES='{}': '{}' names no GPU here; CUDA hides it and every entry after it.", shown,
          entry.substr(0, 60));
    if (gpus.size() > 1)
      return fmt::format("CUDA_VISIBLE_DEVICES='{}': '{}' begins the UUIDs of {} GPUs; write more of it.",
                         shown, entry.substr(0, 60), gpus.size());
    if (!seen.insert(gpus.front()).second)
      return fmt::format("CUDA_VISIBLE_DEVICES='{}' names one GPU twice; CUDA then shows none.", shown);
  }
  return {};
}

}  // namespace mgsync::topology
