#include "topology/gpu_binding.hpp"

#include <cstdlib>

namespace mgsync::topology {
namespace {

bool binds_each_task(std::string_view value) {
  return value.find("per_task") != std::string_view::npos || value.find("single") != std::string_view::npos;
}

}  // namespace

gpu_binding read_gpu_binding(const std::function<std::optional<std::string>(const char*)>& variable) {
  gpu_binding found;
  found.visible = variable("CUDA_VISIBLE_DEVICES");
  if (!variable("SLURM_STEP_ID") || variable("OMPI_COMM_WORLD_RANK")) return found;
  // What slurmd did takes precedence over what the job asked for; srun --gpus-per-task shows only there.
  for (const char* name : {"SLURMD_TRES_BIND", "SLURM_TRES_BIND", "SLURM_GPU_BIND"}) {
    const auto value = variable(name);
    if (!value || value->empty()) continue;
    if (binds_each_task(*value)) found.per_task = std::string(name) + "=" + *value;
    return found;
  }
  for (const char* name : {"SLURM_GPUS_PER_TASK", "SLURM_TRES_PER_TASK"}) {
    const auto value = variable(name);
    const bool gpus = std::string_view(name) == "SLURM_GPUS_PER_TASK";
    if (!value || value->empty() || (!gpus && value->find("gpu") == std::string::npos)) continue;
    found.per_task = std::string(name) + "=" + *value;
    break;
  }
  return found;
}

gpu_binding read_gpu_binding() {
  return read_gpu_binding([](const char* name) -> std::optional<std::string> {
    const char* value = std::getenv(name);
    return value == nullptr ? std::nullopt : std::optional<std::string>(value);
  });
}

// No value holds a line break; one that does is cut there.
std::string to_text(const gpu_binding& binding) {
  return binding.per_task.substr(0, binding.per_task.find('\n')) + "\n" +
         (binding.visible ? "=" + *binding.visible : "");
}

gpu_binding gpu_binding_from_text(std::string_view text) {
  gpu_binding binding;
  const auto cut = text.find('\n');
  binding.per_task = text.substr(0, cut);
  if (cut != std::string_view::npos && text.substr(cut + 1).starts_with('='))
    binding.visible = text.substr(cut + 2);
  return binding;
}

}  // namespace mgsync::topology
