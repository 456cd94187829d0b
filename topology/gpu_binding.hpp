// How the launcher restricted this process's GPUs, from its environment variables. CUDA and NVML show only
// the outcome: a rank that was given one GPU cannot see that there are others.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace mgsync::topology {

struct gpu_binding {
  // The variable that says that Slurm gave each task GPUs of its own, as "SLURMD_TRES_BIND=gpu:per_task:1";
  // else empty.
  std::string per_task;
  std::optional<std::string> visible;  // CUDA_VISIBLE_DEVICES
  bool operator==(const gpu_binding&) const = default;
};

// `variable` gives the value of an environment variable. Ranks that mpirun started inside a job are not
// Slurm's tasks.
gpu_binding read_gpu_binding(const std::function<std::optional<std::string>(const char*)>& variable);
gpu_binding read_gpu_binding();

// As one text for the other ranks, and back.
std::string to_text(const gpu_binding&);
gpu_binding gpu_binding_from_text(std::string_view text);

}  // namespace mgsync::topology
